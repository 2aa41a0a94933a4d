//// erased statements between lines that would join
const f = (x: any) => x
let a = f
interface I { }
(1)
let b = f
type T = any;
(2)
let c = 5
interface J { }
-1
let d = f
declare class K { }
[1].map(x => x)
let e = f
declare var L: string
`template`
let g = 4, h = 2
log(h)
declare namespace N { }
/g/g
let i = 1
type U = 1
++g
log(a === f, b === f, c, d === f, e === f, g, h, i)
//// several erased statements in a row
const f = (x: any) => x
let a = f
type A = 1
type B = 2

// comment
interface C { }
(log)("called", a === f)
//// erased imports and exports between lines
let f = log
import type { x } from "foo"
(f)("one")
let g = log
export type { }
(g)("two")
let h = log
export interface I { }
(h)("three")
//// overload signatures between lines
const f = (x: any) => x
let a = f
function g(): void
function g(x?: any) { return x }
(log)(a === f)
//// variables with types and no initializer before brackets
let a: any
[1].forEach(x => log(x))
let b: number
(log)("b", a, b)
var c: string
`x`.length
log(c)
//// type aliases that end with the line
type A = string
type B = { a: number }
type C = () => void
type D = A
| B
log("end")
//// types that go on over lines
type A =
  | "a"
  | "b"
type F = (
  x: number
) => void
type O = {
  a: string
  b(): void
  (x: number): string
  new (x: number): string
  [k: string]: any
}
interface I {
  <A>(f: (i: number) => A): (n: number) => Array<A>
  <B>(n: number, f: (i: number) => B): Array<B>
}
const x: {
  <A>(f: (i: number) => A): (n: number) => Array<A>
  <A>(n: number, f: (i: number) => A): Array<A>
} = ((a: any, b: any) => [a, b]) as any
log(x(1, 2 as any))
//// labels, switches and conditions
outer: for (const x of [1, 2] as number[]) { switch (x as number) { case 1 as number: continue outer; default: log(x!); break outer; } }
if (1 as any) log("then"); else type_();
function type_(): void { }
do log("do"); while (0 as any)
//// directives, blocks and empty statements
"use strict" as any;
{ type A = 1; interface B { } } ;;
{ const x: number = 1; log(x) }
if (true) { type C = 1 }
//// declare of every kind
declare let a: number; declare const b: number, c: string; declare var d; declare function e(): void; declare class F { x: number; m(): void; constructor(x: number); }
declare abstract class G { } declare enum H { A } declare const enum I { A } declare namespace J { let x: number; } declare module "k" { export const y: number; } declare module "l";
declare global { interface Window { } } declare type M = string; declare interface N { } declare async function o(): Promise<void>; declare module P.Q { }
declare namespace R { function f(): void; class S { } export default f; }
log("ran")
//// functions in every form
async function* a<T>(x: T): AsyncGenerator<T> { yield x; }
const b = function <T>(this: any, x: T): T { return x; }, c = async function named<T>(x: T) { return x; };
const d = { m<T>(x: T): T { return x; }, async n<T>(x: T) { return x; }, get p(): number { return 1; }, set p(v: number) { }, *g<T>(): Iterable<number> { yield 2; }, async: <T,>(x: T) => x, get<T>(x: T) { return x; }, set<T>(x: T) { return x; }, ["k"]<T>(x: T): T { return x; } };
for await (const x of a<number>(1)) log(x);
log(b(2), await c(3), d.m(4), await d.n(5), d.p, [...d.g()], d.async(6), d.get(7), d.set(8), d.k(9));
//// windows line breaks
const a: number = 1;
interface I {
  x: string
}
log(a);
