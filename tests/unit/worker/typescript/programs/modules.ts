//// names used only as types are dropped
import { A, B, type C, D as E } from "x";
import F, { G } from "y";
import H, * as I from "z";
import type J from "j";
import type { K } from "k";
import * as L from "l";
let a: A, e: E, f: F, h: H, l: L.M, k: K, j: J, c: C;
log(B, G, I);
//// an import left with no names is dropped whole, one that had none stays
import { A } from "a"; import "c"; import { type B } from "d"; import type {} from "e";
let a: A, b: B;
//// by scope: the same name is a local value elsewhere
import { A, B, C, D, E, F, G } from "x";
let a: A, b: B, c: C, d: D, e: E, f: F, g: G;
function one(A: number) { return A; }
{ const B = 1; log(B); }
const two = (C: number) => C, three = ({ D }: any) => D, four = ([E]: any) => E;
try { throw 1; } catch (F) { log(F); }
for (const G of [1]) log(G);
log(one(1), two(2), three({ D: 3 }), four([4]));
//// by scope: a local of the same name, and a use of the import beside it
import { A, B, C } from "x";
function one(A: number) { return A; }
function two() { return A; }
{ const B = 1; log(B); } log(B);
let c: C; const f = (x = C) => { var C = 1; return [x, C]; };
log(one(1), two(), f());
//// values used in every position
import { a, b, c, d, e, f, g, h, i, j, k, l } from "x";
class X extends (Object as any) { [a] = b; static { log(c); } }
log({ d }, [...e], `${f}`, typeof g, (h as any), <any>i, j!, (x = k) => x);
export { l };
//// exports of types vanish
interface A { } type B = 1; class C { } const D = 1; namespace E { export type T = 1; } enum F { X }
export { A, C, type B, D as G, E, F };
export type { A as H }; export type I = A; export interface J { } export declare const K: number;
//// a default export of a type vanishes
interface A { }
export default A;
//// a default export of an interface
export default interface A { }
log("ran");
//// a default export of something that is both
interface A { } const A = 1;
export default A;
//// passed on from other modules
export { a, type B, c as d } from "x"; export * from "y"; export * as ns from "z";
export type { E } from "t"; export type * from "u"; export type * as F from "v"; export { type G } from "w";
//// imported and exported again
import { A, B } from "x"; import type { C } from "y"; import { type D } from "z";
export { A, C, D }; let b: B;
//// names that look like keywords of imports
import { type as as1, type T, as, as as as2, from, of, default as def } from "x";
import type from "y";
log(as1, as, as2, from, of, def, type);
//// used only within types of every form
import { A, B, C, D, E, F } from "x";
const a = null as any as typeof A, b = <B>null, c = null satisfies C | null, d: typeof D.x = 1 as any;
class X implements E { } function f<T extends F>(x: T): asserts x is T & F { }
log(a, b, c, d);
//// used in a decorator-like comment, a string or a property only
import { A, B, C } from "x";
// A
log("B", { C: 1 }.C, /A/.source);
let x: A | B | C;
//// types and values of one name
import { A } from "x";
let a: A = 1 as any; { type A = number; let b: A = 2; log(b); }
const f = () => A; log(f());
//// side effects, json and dynamic imports
import "a"; import b from "b" with { type: "json" };
let c: b;
log(typeof import.meta);
//// export assignments to declared names
export const a: number = 1, b = 2 as number; export let c: string; export function d(): void; export function d(x?: any) { }
export async function* e<T>(): any { } export class F<T> { } export default (x: number): number => x;
//// a default function with overloads
export default function f(x: number): number;
export default function f(x: any) { return x; }
log(f(1));
//// a nameless default function with one overload
export default function (x: number): number; export default function (x: any) { return [x]; }
//// a nameless default function with several overloads on lines without semicolons
const before = 1
export default function (x: number): number
export default function <T extends { a: 1 }>(this: void, x: T, y?: string): x is T
export default function (x: unknown): asserts x
export default function (x)
export default function <T>(x: any): any { return [x]; }
[1].map(log)
//// a nameless default async function with overloads and comments between
export /* 1 */ default /* 2 */ async /* 3 */ function /* 4 */ (x: number): Promise<{ a: number }> /* 5 */; // 6
/* 7 */
// 8
export default async function (x: any): Promise<any> /* 9 */ { return [x]; } /* 10 */ log(1);
//// a nameless default generator with overloads
export default function (x: number): Iterable<number>;
export default function* (x: any): any { yield x; }
//// a nameless default function whose body starts on the next line
export default function (x: { a: 1 }): { b: 1 };
export default function (x: any): { b: 1 }
{ return { b: 1 }; }
//// a nameless default function that is never implemented
export const a: number = 1;
export default function (x: number): number;
//// a default export named async
const async: number = 1; export default async
function f(): void; function f() { log(2) }
f()
//// a default function without types
export default function (x) { return [x]; } log(1)
//// names of enums and namespaces shadow imports
import { A, B, C } from "x";
function f() { enum A { X = 1 } class B { } function C() { } return [A.X, typeof B, typeof C]; }
let a: A, b: B, c: C;
log(f());
//// nothing but an alias
const N = { M: 1 };
export import E = N.M;
log(E);
