//// modifiers, marks and signatures
abstract class A<T> {
  public a: number = 1; private readonly b?: string; protected static c: T[] | number = 2;
  declare d: number; readonly e!: string; static readonly f = 3; #g?: number = 4;
  abstract h: number; abstract i(): void; abstract get j(): number; abstract set j(v: number);
  [key: string]: any; static [key: string]: any; readonly [key: number]: any;
  k(): void; k(x?: number): void { log("k", x); }
  constructor(); constructor(x?: T) { log("new", x); }
  l?(): void; m?: () => void; override toString(): string { return "A" + this.#g; }
}
class B extends A<number> implements Iterable<number>, Object { h = 5; i() {} get j() { return 6; } set j(v) {} *[Symbol.iterator](): any { yield 7; } override k(x?: number) { super.k(x); } }
const b = new B();
b.k(1);
log(Object.getOwnPropertyNames(b), Object.getOwnPropertyNames(B.prototype), Object.getOwnPropertyNames(A), String(b), [...b], b.j);
//// parameter properties
class A { constructor(public a: number, private b = 2, protected readonly c?: string, readonly d: number[] = [], e = 5) { log(a, b, c, d, e); } sum() { return this.a + this.b; } }
const a = new A(1);
log(a, a.sum(), Object.keys(a), A.length);
//// parameter properties after super
class P { p = "p"; constructor(x: any) { log("P", x); } }
class A extends P { f = 1; constructor(public a: number, b: number) { log("before"); super(b); log("after", this.a, this.p, this.f); } g = 2; }
class B extends P { constructor(readonly a: string) { super(a) } }
class C extends P { constructor(private a: string) { super(a); log(this.a)
  }
}
log(new A(1, 2), new B("b"), new C("c"), Object.keys(new A(3, 4)));
//// parameter properties where super is in a try, or behind directives and comments
class P { constructor(readonly x = 1) {} }
class A extends P { constructor(public a: number) { try { super(a); log(this.a); } finally { log("finally"); } } }
class B { constructor(public a: number) { "use strict"; 'other'; log(this.a); } }
class C { constructor(public a: number) { /* comment */ // another
    log(this.a); } }
class D { constructor(public a: number) {} }
class E extends P { constructor(public a: number) { const f = () => 1; super(f()); (() => log(this.a))(); } }
log(new A(1), new B(2), new C(3), new D(4), new E(5));
//// parameter properties in class expressions and nested classes
const A = class { constructor(public a: number) {} inner() { return new (class { constructor(readonly b: string, public c = 1) {} })("b"); } };
log(new A(1), new A(1).inner(), new (class extends A { constructor(public d: number) { super(d * 2) } })(4));
//// fields named like modifiers
class A { get: number; set: string
  static: any
  x() { return 1; }
  async: number
  y() { return 2; }
  readonly: number; declare: string; abstract; public; private = 1; protected?: number; override!: number; accessor: any
  type; of; as; is; in; instanceof; }
log(Object.keys(new A()), new A().x(), new A().y());
//// methods named like modifiers
class A { get() { return 1; } set() { return 2; } static() { return 3; } async() { return 4; } readonly() { return 5; } declare() { return 6; } abstract() { return 7; } public() { return 8; } override() { return 9; } type() { return 10; } constructor2() {} }
log(Object.getOwnPropertyNames(A.prototype), new A().get(), new A().static(), new A().readonly());
//// static and private things with names of modifiers
class A { static static: number = 1; static async: number = 2; static get: number = 3; static readonly readonly = 4; private static set = 5; static async *of<T>(x: T) { yield x; } static get x(): number { return 6; } public static async y(): Promise<number> { return 7; } }
log(A.static, A.async, A.get, A.readonly, await A.y(), A.x);
//// members without semicolons next to erased ones
class A {
  a = 1
  declare b: number
  ["c"] = 2
  d = 3
  private ["e"] = 4
  f = 5;
  [k: string]: any
  *g() { yield 6 }
  h = 7
  static *i() { yield 8 }
  j = 9
  declare k;
  in = 10
  l: number
  ["m"] = 11
  n = 12 as number
  ["o"] = 13
}
const a: any = new A();
log(Object.keys(a), a.c, a.e, a.o, a.m, [...a.g()]);
//// modifiers on lines of their own are names
class A {
  public
  x = 1
  readonly
  y = 2
  declare
  z = 3
  abstract
  static
  w = 4
}
log(Object.keys(new A()), Object.keys(A));
//// getters, setters, async and generators with modifiers
class A { private _x = 1; public get x(): number { return this._x; } protected set x(v: number) { this._x = v; } private async f(): Promise<number> { return 2; } public *g(): Generator<number> { yield 3; } private static async *h(): AsyncGenerator<number> { yield 4; } run() { this.x = 5; return this.f(); } static run() { return A.h().next(); } }
const a = new A();
log(await a.run(), a.x, [...a.g()], await A.run());
//// static blocks and private names with types
class A { static #count: number = 0; #id?: number = 1; static { const n: number = 2; A.#count = n as any; } get id(): number | undefined { return this.#id!; } static get count(): number { return this.#count; } has(o: object): o is A { return #id in o; } }
log(A.count, new A().id, new A().has({}), new A().has(new A()));
//// abstract classes in every position
export default abstract class A { abstract x: number; static y = 1; }
export abstract class B { abstract m(): void; n() { return 2; } }
abstract class C extends B { protected abstract readonly z: string }
class D extends C { z = "z"; m() {} }
log(new D().n(), new D());
//// computed members with types
const k = "key", s = Symbol("s");
class A { [k]: number = 1; [s]?: string; ["a" + "b"](x: number): number { return x; } static [Symbol.hasInstance](x: any): boolean { return true; } get ["c"](): number { return 2; } declare ["d"]: number; abstract; }
log(new A(), new A().ab(3), 1 instanceof (A as any), new A().c);
//// class heritage with types
const mix = <T extends new (...a: any[]) => object>(Base: T) => class extends Base { mixed = true; };
class A<T> extends Map<string, T> implements Iterable<[string, T]> {}
class B extends mix<typeof Object>(Object) {}
class C extends (A as new () => A<number>) {}
class D<T> extends Array<Array<T>> {}
log(new A<number>().size, new B().mixed, new C().size, new D<number>().length);
//// constructor overloads and generics
class A { constructor(x: string); constructor(x: number); constructor(private x: any) {} static of<T>(x: T): A { return new A(x as any); } get(): any { return this.x; } }
log(A.of<number>(1).get(), new A("s").get());
//// fields without initializers are defined
class A { a: number; b?: string; c!: boolean; static d: number; "e": 1; 2: string }
class B { x = 1; }
class C extends B { x: any; }
class D extends B { declare x: any; }
log(Object.keys(new A()), Object.keys(A), "x" in new C(), new C().x, new D().x);
//// comments behind statements do not swallow what is added
class P { constructor(x?: any) {} }
class A extends P { constructor(public a: number) { super(a) // comment
    log(this.a) /* another */ } }
class B extends P { constructor(public a: number) { super(a) /* one */ // two
  } }
class C { constructor(public a: number) { "use strict" // directive
    log(this.a) } }
log(new A(1), new B(2), new C(3))
