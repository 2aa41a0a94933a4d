//// exported things of every kind
namespace N {
  export const a = 1, b = a + 1;
  export let c: number, d = 4;
  export var e = "e";
  export function f(x: number): number { return x + a; }
  export async function g() { return a; }
  export function* h() { yield b; }
  export class C { x = a; }
  export abstract class D extends C { }
  export enum E { A, B = 5 }
  export const enum F { A = 7 }
  export namespace M { export const m = a; export function n() { return m; } }
  export interface I { } export type T = number; export declare const z: number;
  const hidden = 9; function inner() { return hidden; }
  c = 3; d++;
  log(a, b, c, d, e, f(1), new C().x, E.B, F.A, M.m, M.n(), inner());
}
log(N, N.f(2), Object.keys(N));
//// exported variables that change
namespace N {
  export let count = 0, list: number[] = [];
  export function next() { return ++count; }
  export const reset = () => { count = 0; list = []; };
  export function swap(a: number, b: number) { [count, list] = [a, [b]]; ({ count } = { count: a + 1 }); ({ x: count = 5 } = {} as any); return count; }
}
N.next(); N.next(); log(N.count); N.count = 10; log(N.next(), N.count); N.reset(); log(N.count, N.swap(1, 2), N.list);
//// destructured exports
const o = { a: 1, b: [2, 3, { c: 4 }], d: undefined as any, f: 6, g: 7 };
namespace N {
  export const { a, b: [x, , { c }], d = 5 } = o as any, y = a + x;
  export let [p, q = p, ...r] = [1] as any[];
  export const { f, ...rest } = o;
  log(a, x, c, d, y, p, q, r, f, Object.keys(rest));
}
log(N);
//// declarations without values
namespace N { export let a: number, b = 1, c: string, d = 2, e; export var f; export let g: any; a = 5; log(a, b, c, d, e, f); }
log(N, Object.keys(N));
//// shorthand, nested and shadowed uses
namespace N {
  export const x = 1, y = 2;
  export const o = { x, y, z: x, [x]: y, m(x: number) { return x; }, get w() { return x; } };
  export function f(x: number) { return x + y; }
  export const g = ({ x }: { x: number }, [y] = [x]) => x + y;
  export function h() { const y = 10; { let x = 20; return x + y; } }
  export function i() { return typeof x + (() => x)() + `${x}`; }
  export function j() { for (const x of [5]) return x; }
  export function k() { try { throw 6; } catch (x) { return x; } }
  export function l() { var y = x; function x() { return 1; } return typeof y; }
  export class C { x = x; static y = y; [x] = 3; m() { return x; } x2 = class x { static n = x.name; }.n; }
  label: for (let y = 0; y < 1; y++) { continue label; }
}
log(N.o, N.f(5), N.g({ x: 1 }), N.h(), N.i(), N.j(), N.k(), N.l(), new N.C(), N.C.y);
//// merged with each other
namespace N { export const a = 1; export function f() { return a; } export class C { } const own = "first"; log(own); }
namespace N { export const b = a + 1; log(f(), new C() instanceof N.C); const own = "second"; log(own); export namespace M { export const c = a + b; } }
namespace N { export namespace M { export const d = c + a; } log(M.d, M.c, b); }
log(N);
//// merged with classes, functions and enums
class C { static s = 1; }
namespace C { export const x = C.s + 1; export class Inner { } export interface I { } }
function f() { return f.y; }
namespace f { export let y = 2; export function g() { return y; } }
enum E { A, B }
namespace E { export function parse(s: string) { return E[s as any]; } export const first = E.A; }
log(C, C.x, f(), f.g(), E.parse("B"), E.first, E);
//// dotted
namespace A.B.C { export const x = 1; export namespace D { export const y = x; } }
namespace A { export const z = B.C.x + 1; }
namespace A.B { export const w = C.D.y + z; }
log(A);
//// nested and not exported
namespace A { namespace B { export const x = 1; } export namespace C { export const y = B.x; } const B2 = B; export const z = B2.x; }
log(A, Object.keys(A));
//// only types: no object
namespace A { export interface I { } export type T = I; } namespace B { namespace C { type X = 1; } } declare namespace D { const x: number; }
namespace E { export declare const q: number; }
try { log(typeof (A as any)); } catch (e) { log((e as Error).name); }
log(typeof E);
//// exported from the module
export namespace N { export const a = 1; } export namespace N { export const b = a; }
export function f() { } export namespace f { export const x = 2; }
export class C { } export namespace C { export const y = 3; }
export default N;
log(N, f.x, C.y);
//// module instead of namespace
module M { export const a = 1; }
log(M);
//// aliases
namespace N { export namespace M { export const x = 1; export class C { } export interface I { } export type T = number; } }
import M = N.M; import x = N.M.x; import C = N.M.C; import I = N.M.I; import T = N.M.T; import unused = N.M;
let i: I = {}, t: T = 1;
log(M.x, x, new C());
namespace O { import M2 = N.M; export import M3 = N.M; export import y = N.M.x; log(M2.x, M3.x, y); export const z = y + 1; }
log(O);
export import E = N.M;
//// a body on the next line
namespace A
{
  export const x = 1;
}
namespace B.C
{
  export const y = A.x;
}
log(A, B);
//// names that clash with the parameter
namespace A { export class A { static x = 1; } export const y = A.x; export function f() { const A = 5; return [A, y]; } }
namespace B { const B = 1; export const x = B; }
namespace C_1 { export const C = 1; } namespace C { export const C_1 = 2; log(C_1); }
log(A.A.x, A.y, A.f(), B.x, C_1.C, C.C_1);
//// statements, this, async and generators inside
namespace N {
  export let log2: any[] = [];
  if (true) { log2.push("if"); }
  for (const i of [1, 2]) log2.push(i);
  export const run = async () => { await null; log2.push("async"); };
  export const gen = function* () { yield* log2; };
  class Hidden { m() { return log2; } }
  export const h = new Hidden().m();
  export const self = () => N;
}
await N.run(); log(N.log2, [...N.gen()].length, N.h === N.log2, N.self() === N);
//// calls keep their receiver as the compiler writes it
namespace N { export const f = function (this: any) { return this === N; }; export let t = (s: any, ...v: any[]) => s[0] + v; log(f(), t`a${1}`, (0, f)() === false); }
//// exported before and after use in functions
namespace N { export function a() { return b() + c; } export function b() { return 1; } export let c = 5; c += 1; log(a()); }
log(N.a());
//// automatic semicolons around exports
namespace N {
  let a = 1
  export const b = 2
  export const [c] = [3]
  export const { d } = { d: 4 }
  export let e
  export function f() { return 5 }
  export class G { }
  (log)("statement", a)
  export const h = 6 as number
  ;[1].forEach(x => log(x))
}
log(N);
//// enums inside that refer to exports
namespace N { export const base = 10; export enum E { A = base, B = base + 1, C = A + 2 } export namespace M { export enum E { X = N.E.A, Y = base } log(E.X, E.Y); } const { A } = E; log(A); }
log(N);
//// a namespace inside a function's merged name
export default function f() { return f.x; }
namespace f { export const x = 1; }
log(f());
//// parameter properties and fields inside
namespace N { export const x = 1; export class A { y = x; constructor(public x: number, readonly z = x) { } static of(x: number) { return new A(x); } } }
log(N.A.of(5));
//// comments behind exports do not swallow what is added
namespace N {
  export function f() { return 1 } // comment
  export class C { } /* another */ // third
  export const { a } = { a: 1 } as any // fourth
  export let b = 2 // fifth
  export enum E { X = 1 /* one */, /* two */ Y // three
  } // four
  export namespace M { export const z = 3 } // five
} // six
log(N)
