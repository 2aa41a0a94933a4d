//// variables, parameters and returns
const a: number = 1, b: string | undefined = "b";
let c!: number;
function f(x: number, y?: string, ...z: Array<[string, number]>): asserts x is number { log(x, y, z); }
f(1); f(2, "y", ["k", 3]);
log(a, b, c);
//// a return type that spans lines in an arrow function
const f = (x: number):
  number
  | string => x + 1;
const g = async (
  x: number
): Promise<{
  x: number
}> => ({ x });
log(f(1), await g(2));
//// generics that span lines before an arrow function's parameters
const f = async <
  T,
  U extends T = T
>(x: T, y?: U) => [x, y];
function g() {
  return <
    T
  >(x: T) => x;
}
log(await f(1), g()(2));
//// generic calls, news and tags
class Box<T> { constructor(public value: T) {} map<U>(f: (value: T) => U): Box<U> { return new Box<U>(f(this.value)); } }
const tag = <T,>(strings: TemplateStringsArray, ...values: T[]) => strings.raw.join("|") + values.join("");
log(new Box<number>(1).map<string>(String).value, tag<number>`a${1}b${2}`, new Map<string, Array<Array<number>>>([["a", [[1]]]]).get("a"));
//// instantiation expressions
const make = <T,>(x: T) => [x];
const numbers = make<number>;
const other = make<string>
log(numbers(1), other("a"));
const boxes = Map<string, number>;
log(new boxes([["a", 1]]).size);
//// optional calls with type arguments
const f = { g: <T,>(x: T) => x, h: undefined as any };
log(f.g?.<number>(1), f.h?.<string>("a"), f?.g<number>(2));
//// destructured parameters with types
function f({ a, b: [c, d] = [1, 2] }: { a: number; b?: number[] }, [e]: [number] = [5]): number { return a + c + d + e; }
const g = ({ x }: { x: number } = { x: 3 }): number => x;
log(f({ a: 1 }), g(), g({ x: 4 }));
//// this parameters
function f(this: { n: number }, x: number) { return this.n + x; }
function g(this: void) { return arguments.length; }
const o = { n: 1, m(this: any, a?: number) { return [this.n, a]; } };
log(f.call({ n: 1 }, 2), g.length, f.length, g(), o.m(3), o.m.length);
//// type predicates and assertion functions
const isString = (x: unknown): x is string => typeof x === "string";
function check(x: unknown): asserts x { if (!x) throw new Error("no"); }
class A { is(): this is A { return true; } ok(): asserts this { } }
check(1); new A().ok();
log(isString("a"), isString(1), new A().is());
//// annotated catch, for and loops
for (const x of [1, 2] as number[]) log(x);
for (let i: number = 0; i < 2 as boolean; i++) log(i);
for (const k in { a: 1 } as Record<string, number>) log(k);
try { throw 1; } catch (e: unknown) { log(e); }
try { throw 2; } catch ({ message }: any) { log(message); }
//// function types in every position
let f: (a: number, b?: string) => void = () => {};
let g: new (...args: any[]) => object = class {};
let h: abstract new () => object;
let i: <T>(x: T) => T = x => x;
let j: { (x: number): string; new (x: number): Date; readonly [k: string]: any; m?(): void; get p(): number; set p(v: number) };
let k: typeof f, l: keyof typeof Math, m: (typeof f)[], n: `a${string}b`, o: [a: number, b?: string, ...rest: any[]];
log(typeof f, typeof g, typeof h, i(1), j, k, l, m, n, o);
//// conditional, mapped and inferred types
type A<T> = T extends (infer U extends string)[] ? U : T extends { a: infer V } ? V : never;
type B = { readonly [K in keyof Math as `get${string & K}`]?: Math[K] };
type C = { -readonly [K in "a"]-?: 1 }; type D = { [K in "a"] };
type E = import("fs").PathLike; type F = typeof import("fs"); type G = import("x").Y<string, number>;
let x: A<string[]> = "a", y: B = {}, z: C | D = { a: 1 };
log(x, y, z);
//// variance marks and const type parameters
interface Producer<out T> { get(): T }
interface Consumer<in T> { set(x: T): void }
class Both<in out T, const U extends readonly unknown[] = []> { value?: T; list?: U }
const f = <const T extends readonly unknown[]>(x: T): T => x;
log(new Both<number>(), f([1, 2]));
//// names that are also words of the language of types
const type = 1, as = 2, satisfies = 3, declare = 4, module = 5, namespace = 6, abstract = 7, readonly = 8;
const any = 9, string = 10, number = 11, is = 12, keyof = 13, of = 14, infer = 15, unique = 16, global = 17;
log(type, as, satisfies, declare, module, namespace, abstract, readonly, any, string, number, is, keyof, of, infer, unique, global);
const o = { type, as, satisfies, declare, module, namespace, abstract, readonly, any, string };
log(o.type + o.as, o.namespace, o["readonly"], { ...o });
//// words of types as functions and objects
const type = (x: number) => x, namespace = { a: 1 }, declare = [1], abstract = (x: number) => x;
log(type(1), namespace.a, declare[0], abstract(2));
//// a line break after a word of types makes it a name
let type: number, declare: number, abstract: number, namespace: number;
type
= 1;
declare
= 2;
abstract
= 3
namespace
= 4;
log(type, declare, abstract, namespace);
//// comments inside types
const a: /* one */ number /* two */ = /* three */ 1; // four
function f(x /* a */ ? /* b */ : /* c */ number /* d */): /* e
*/ void /* f */ { log(x); }
f(1);
log(a as /* comment
*/ number);
//// unicode names and strings beneath types
const größe: Record<"größe", "𝒳"> = { größe: "𝒳" };
function 名<Т>(параметр: Т): Т { return параметр }
log(größe.größe, 名<"é">("é"), "𝒳" as "𝒳", `é${größe.größe as string}𝒳`);
//// type arguments that look like comparisons
const o = { f: (...xs: any[]) => xs.length }, id = <V,>(x: V) => x, b = 3, c = 4
log(o.f<Record<string, () => any>, Record<string, () => any>>((b), c), id<Map<string, Array<() => void>>>(b as any))
log(b < id<{ [K in keyof typeof o]?: any }>(c as any), id<import("x").Y<string>>(1 as any), b > (c), o.f(b < c, c > b));
