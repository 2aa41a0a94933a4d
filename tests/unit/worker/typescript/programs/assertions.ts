//// as, satisfies and not-null in expressions
const a = { b: { c: [1, 2] as number[] | undefined } } as any;
log(a.b!.c![0]!, (a as any).b.c.length as number, a satisfies object, a!.b!["c"]!.length);
log([a.b.c as number[], ...(a.b.c as number[])], { a: a.b as object, ...(a.b as object) });
//// an assertion inside a larger expression keeps its grouping
const a = 2, b = 3, c = 4;
log(a + b as any * c, a * b as number ** 2, a - b as any as number * c, a + b satisfies number * c);
log(a ** b as number ** 2, a << b as number + 1, a < b as any + 1, (a + b as number) * c);
log(1 + a + b as any * c, a + b as any / c + 1, a == b as any * c, a && b as any * c || c);
log(-a as any, typeof a as any, !a as any, [-a as number, +a as number]);
//// an assertion at the end of a line before a bracket
const f = (x: number) => x;
let a = f as any
(f)
let b = [f] as any
[0]
let c = "x" as string
`y`
log(a === f, Array.isArray(b), c);
//// an assertion at the end of a line before an operator goes on
let a = 8 as number
/ 2
let b = 1 as any
+ 2
let c = 5 as number
- 3
log(a, b, c);
//// an assertion before a regular expression and increments
let a = 1, g = 2
let b = a as number
++a
log(a, b)
let c = a as number
/g/g
log(c)
//// assertions as targets
let a: any = 1, o: any = { p: 1 };
(a as number) = 2; (<any>a) += 1; (a!) *= 2; a! -= 1; (o as any).p = 5; o!.p++; (o.p as number)++; --(<any>o).p;
[a as any] = [7]; ({ p: (a as any) } = { p: 8 });
[(a as any), o.p!] = [9, 10];
for ((a as any) of [1, 2]) log(a);
log(a, o);
//// angle-bracket assertions
const a = <number>1 + <any>2, b = <any>{ x: 1 }, c = <Array<Array<number>>>[[1]], d = <T>(x: T) => x;
log(a, b, c, d(1), <string>"s" + 1, !<any>0, typeof <any>1, -<number>1, <any><number>5);
log((<any>b).x, (<any>b)["x"], <const>["a"]);
//// arrow functions whose body is an asserted object literal
const f = () => <any>{ a: 1 };
const g = () => ({ b: 2 } as any);
const h = (x: number) => <{ c: number }>{ c: x }, i = async () => <any>{ d: 4 };
const j = () => <any>function () { return 5 }, k = () => <any>class { };
log(f(), g(), h(3), await i(), j()(), typeof k());
//// an assertion at the start of a statement
<any>(function () { log("called"); })();
<any>log("x");
//// return, throw and yield followed by an erased line
function f() { return <
  any
> 1; }
function* g() { yield <
  any
> 2; const x = yield <any>
  3; }
function h() { throw <
  any
> "thrown"; }
log(f(), [...g()]);
try { h(); } catch (e) { log(e); }
//// not-null before calls, templates and optional chains
const o: any = { f: (x: any) => x ?? "none", t: (s: any) => s[0], n: null };
log(o.f!(1), o.f!`a`, o!.t!`b`, o?.f!(2), o.n?.x!.y, o?.["f"]!(3), o!!!.f!!(4));
const a = o.f!
(5)
log(a);
//// conditional expressions with assertions and arrow functions
const a = true, b: any = 1;
log(a ? b as number : 2, a ? b! : 2, a ? <any>b : <any>2, a ? (b) : (c: any) => c, (a ? (b): any => b : 3) as any);
const f = a ? (x: number): number => x : null;
log(f!(1), a ? b satisfies number : 3);
//// comparisons that look like type arguments
const a = 1, b = 2, c = 3, d = 4, f = (...xs: any[]) => xs;
log(a < b, c > d, a < b && c > (d), f(a < b, c > d), f(a < (b >> c)), a < b || c >= d);
log(f(a < b, c > -d), f(a < b, c > +d), a < b === c > d, (a < b) > (c as any));
for (let i = 0; i < a && b > (i); i++) log(i);
//// long chains of names in assertions
declare namespace A.B.C { type D<T> = T; interface E { [k: string]: number } }
let x = 1 as A.B.C.D<number>, y = { k: 1 } as A.B.C.E, z = 2 satisfies A.B.C.D<A.B.C.E["k"]>;
log(x, y, z, 3 as A.B.C.E["k"] as number);
//// assertions in templates, spreads, computed keys, classes and defaults
const k: any = "key";
class A extends (Object as any) { [k as string] = 1 as number; static x = <any>2; m(a = 3 as number, { b = 4 as number } = {} as any) { return a + b; } }
log(`${k as string}-${k!}`, new A().key, A.x, new A().m(), { [k!]: 1, [k as string + "2"]: 2 });
//// await, yield, new, delete, void and typeof with assertions
const o: any = { p: 1, f: () => Promise.resolve(2), C: class { v = 3 } };
log(await o.f() as number, (await o.f())! + 1, new (o.C as any)().v, new o.C!().v, delete (o as any).p, void o as any, typeof (o as any).f);
//// imported types and type arguments behind assertions
const f = (...xs: any[]) => xs, c = 1, T = 2, g = 3
log(f((c) as import("x").Y<string>, 2), (c) as import("x").Y<string>[], c as import("x").Y)
const any = 5
let x = c as any
<any>(g)
let y = f<number>
--x
log(x, y === f)
//// constants and comments at the end of a line
const f = (x: any) => x
let a = [1] as const
(log)(a)
let b = f as any /* comment */
[0]
let c = f satisfies any // comment
`t`
log(b === f, c === f)
let d: any, e: string
`t`
log(d, e)
