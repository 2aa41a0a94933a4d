//// numeric, string and mixed
enum A { X, Y = 5, Z } enum B { S = "s", T = "t" } enum C { N = 1, S = "x", M = 2 } enum E {}
log(A, B, C, E, A.X, A[5], B.S, Object.keys(A));
//// names that are strings, and trailing commas
enum A { "a-b" = 1, 'c d', "e", [`f`] = 7, ["g"] = 8, }
log(A, A["a-b"], A["c d"]);
//// constant expressions
enum A { A = 1 << 2, B = A | 3, C = ~B, D = -1, E = +"1" as any, F = (A + B) * 2, G = 7 % 4, H = 2 ** 10, I = 0x10, J = 1e3, K = 1_000, L = 10 / 4, M = -8 >>> 28, N = -8 >> 1, O = 5 & 3 ^ 1 }
log(A);
//// automatic values continue from constants
enum A { A = 3, B, C = A + B, D, E = -2, F, G, H = 1.5, I } enum B { A = 1 << 4, B, C = ~5, D } enum C { A = -1, B, C }
log(A, B, C);
//// computed members
const f = (x: number) => x * 2;
enum A { A = f(2), B = "abc".length, C = A + 1, D = Math.max(1, 2), E = f(A.A) }
log(A, A[4], A[3]);
//// strings from templates, sums and other enums
const x = "v";
enum A { S = "s", T = `t`, U = `${S}u`, V = "a" + "b", W = S + "w", X = `${x}` }
enum B { S = A.S, T = A["T"], U = `${A.S}-${A.U}`, N = 1 }
log(A, B);
//// members that refer to earlier members, also of other enums
enum Flags { None, A = 1, B = A << 1, C = B << 1, All = A | B | C, Not = ~All }
enum Other { A = Flags.B, B, C = Flags["C"] | Flags.A, D = C + Flags.All, F = Other.D }
log(Flags, Other);
//// merged
enum A { X = 1, Y } enum A { Z = 3, W = X + Z } enum A { V = Y | W }
log(A);
//// exported, constant, and declared later than it is used in a function
export enum A { X = 1 } export const enum B { Y = "y", Z = 2 } const enum C { W = 3 }
const f = () => D.V; enum D { V = 4 }
log(A, B.Y, B["Z"], C.W, f());
export { D, C as E };
//// merged and exported
export enum A { X } export enum A { Y = 1 } 
log(A);
//// in blocks and functions
function f(n: number) { enum A { X = 1 } { enum A { X = 10, Y } log(A.X, A.Y); } if (n) { enum B { Z = 5 } return [A.X, B.Z]; } enum A2 { W } return A2; }
log(f(1), f(0));
switch (1) { case 1: enum S { A = 1 } log(S.A); break; default: enum T { B } log(T); }
for (const x of [1]) { const enum L { A = 9 } log(L.A + x); }
//// initializers with functions, locals and shadowed members
const y = 100;
enum A { X = 1, Y = ((X: number) => X + 1)(5), Z = (() => { const Y = 3; return Y + X; })(), W = [X].map(x => x + Y)[0], V = (function () { return X; })() }
log(A);
//// a member named like its enum, and like things around it
const B = 5;
enum A { A = 1, B = A + 1, C = B } enum toString { valueOf = 2, x = valueOf }
log(A, toString, B);
//// constants from variables
const k = 10, s = "str", t: number = 5;
enum A { A = k, B, C = k + 1, D, E = s, F = t }
log(A);
//// declared ones vanish
declare enum A { X } declare const enum B { Y = 1 }
try { log(A.X); } catch (e) { log((e as Error).name); }
//// spread over lines with comments
enum A {
  // one
  X = 1, // two
  /* three */ Y
    = /* four */ X /* five */ + 1 /* six */, /* seven
  */ Z, // eight

  W // nine
}
log(A);
//// reverse mapping and iteration
enum A { X = 1, Y = 2, Z = 1, S = "s" }
log(A[1], A[2], Object.entries(A), Object.keys(A).filter(k => isNaN(Number(k))));
//// enums used as types and values of classes
enum Kind { A = "a", B = "b" }
class C<K extends Kind = Kind.A> { static readonly kind: Kind = Kind.B; constructor(readonly kind: K) {} is(k: Kind): this is C<Kind.A> { return this.kind === k as any; } }
const map: Record<Kind, number> = { [Kind.A]: 1, [Kind.B]: 2 };
log(new C(Kind.A).is(Kind.A), C.kind, map);
//// not a number and infinite
enum A { N = 0 / 0, I = 1 / 0, J = -1 / 0, K = NaN, L = Infinity }
log(A);
//// escapes in names and strings
enum A { \u0061b = 1, "\x41" = 2, "it's" = 3, 'say "x"' = 4, ü = 5, 𝒳 = 6, "𝒳y" = 7 }
log(A);
//// numeric names and duplicates of builtins
enum A { constructor = 1, __proto2__ = 2, hasOwnProperty = 3, length = 4, name = 5 }
log(Object.entries(A));
