"""Random TypeScript programs that run: every construct of the eraser, combined at random.

A program is a list of statements over a few known names. Expressions are built so that evaluating
them is harmless whatever the values are; types are sprinkled over everything that may have one.
Semicolons are left out wherever TypeScript allows it, because that is where erasure goes wrong.
"""

from __future__ import annotations

import random

TYPES = [
    "any", "number", "string", "unknown", "T", "Array<T>", "Map<string, Array<Array<T>>>", "T[]",
    "[T, T?]", "[a: T, ...b: T[]]", "{ a: T; b?(): void }", "keyof T", "((x: T) => T)", "(new () => T)",
    "(T | undefined)", "A.B.C<T>", "A.B['c']", "`a${string}`", "typeof globalThis", "readonly T[]",
    "import('x').Y<T>", "{ [k: string]: T }", "(T | null)[]", "Record<string, () => T>",
    "{\n  <V>(x: V): T\n  (y: T): T\n}", "(T extends (infer U)[] ? U : never)", "{ [K in keyof T]?: T[K] }",
]  # fmt: skip
HEADER = """const t = (f: () => any) => { try { return f() } catch (e: any) { return e.name } }
const id = <V,>(x: V, ...rest: any[]): V => x
const o: any = { p: 1, q: [2, 3], f: (x: any) => x, get g() { return o } }
let a: any = 1, b: any = 2, c: any = [3], s: any = "s"
"""


class Programs:
    """A source of programs; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def program(self, statements: int = 14) -> str:
        """A whole program: declarations the rest relies on, then random statements."""
        self.count = 0
        lines = [self.random.choice([self.chunk, self.chunk, self.namespace, self.enum, self.noise])(0)
                 for _ in range(statements)]  # fmt: skip
        return HEADER + "".join(line + self.pick(["\n", "\n", ";\n", "\n\n"]) for line in lines)

    def chunk(self, depth: int) -> str:
        """Statements that may throw without ending the program."""
        name = self.name()
        lines = [self.statement(1) + self.pick(["\n", "\n", ";\n"]) for _ in range(4)]
        return f"function {name}(): any {{\n{''.join(lines)}}}\nlog(t({name}))"

    def pick(self, choices: list[str]) -> str:
        return self.random.choice(choices)

    def name(self) -> str:
        self.count += 1
        return f"{self.pick(['v', 'é', '$x', 'type', 'as'])}{self.count}"

    def type(self) -> str:
        return self.random.choice(TYPES)

    def annotation(self) -> str:
        return self.pick(["", "", f": {self.type()}", f" : {self.type()} "])

    def space(self) -> str:
        return self.pick([" ", " ", "", "\n  ", " /* c */ "])

    # Expressions, by how much can still be nested in them.

    def expression(self, depth: int = 3) -> str:
        if depth == 0:
            return self.pick(["a", "b", "1", "2.5", "s", "o.p", "c", "'x'", "`t`", "null"])
        makers = [
            self.assertion, self.binary, self.binary, self.call, self.ternary, self.arrow,
            self.literal, self.grouped, self.unary, self.template,
        ]  # fmt: skip
        return self.random.choice(makers)(depth - 1)

    def operand(self, depth: int) -> str:
        """Something that binds tighter than any operator."""
        return self.pick(
            [
                "a", "b", "1", "s", "o", "c", "o.q", "a!", "o!.p!", "o?.q![0]",
                f"({self.expression(depth)})", f"<any>({self.expression(depth)})", f"id<{self.type()}>(a)",
            ]
        )  # fmt: skip

    def assertion(self, depth: int) -> str:
        kind = self.pick(["as any", f"as {self.type()}", "satisfies any", "as any as number"])
        return f"({self.expression(depth)}) {kind}"

    def binary(self, depth: int) -> str:
        signs = [
            "+",
            "-",
            "*",
            "/",
            "%",
            "<",
            ">",
            "<=",
            "==",
            "!==",
            "&&",
            "|",
            "&",
            ">>>",
            ">>",
            ",",
        ]
        parts = [self.operand(depth)]
        for _ in range(self.random.randint(1, 3)):
            asserted = self.random.random() < 0.3
            if asserted:
                parts.append(self.pick(["as any", "as number", "satisfies any"]))
            # Behind a type, some signs would belong to it.
            parts += [
                self.pick(signs[:5] + signs[8:11] if asserted else signs),
                self.operand(depth),
            ]
        return "(" + " ".join(parts) + ")"

    def call(self, depth: int) -> str:
        types = self.pick(["", f"<{self.type()}>", f"<{self.type()}, {self.type()}>"])
        callee = self.pick(["id", "o.f", "o?.f", "o.f!", "(id as any)"])
        return f"{callee}{types}({self.expression(depth)}, {self.expression(depth)})"

    def ternary(self, depth: int) -> str:
        parts = [self.expression(depth) for _ in range(3)]
        return f"(({parts[0]}) ? ({parts[1]}) as any : {parts[2]})"

    def arrow(self, depth: int) -> str:
        generics = self.pick(["", "<V,>", "<V extends any = any>", "<const V,\n W>"])
        body = self.pick(
            [
                f"({self.expression(depth)})",
                f"{{ return {self.expression(depth)} }}",
                f"<any>{{ x: {self.expression(depth)} }}",
                f"({self.expression(depth)}) as any",
            ]
        )
        returned = self.pick(["", f": {self.type()}", ":\n any\n"])
        return f"({generics}(x{self.annotation()}, y?: any){returned} => {body})({self.expression(depth)})"

    def literal(self, depth: int) -> str:
        one, two = self.expression(depth), self.expression(depth)
        return self.pick(
            [
                f"[{one} as any, ...([{two}] satisfies any[])]",
                f"{{ k: {one} as any, [s as string]: <any>({two}), m<V>(x?: V): any {{ return x }} }}",
                f"new (class<V> {{ public x{self.annotation()} = {one}; declare y: V; z?: any }})<any>()",
            ]
        )

    def grouped(self, depth: int) -> str:
        return f"({self.expression(depth)})"

    def unary(self, depth: int) -> str:
        return f"{self.pick(['-', '!', 'typeof ', 'void ', '+', '~'])}{self.operand(depth)}"

    def template(self, depth: int) -> str:
        return f"`a${{{self.expression(depth)} as any}}b${{{self.operand(depth)}!}}`"

    # Statements.

    def statement(self, depth: int) -> str:
        makers = [
            self.variable, self.variable, self.log, self.log, self.noise, self.noise, self.function,
            self.klass, self.enum, self.bracket, self.bracket, self.loop,
        ]  # fmt: skip
        return self.random.choice(makers)(depth)

    def variable(self, depth: int) -> str:
        name, kind = self.name(), self.pick(["let", "const", "var"])
        tail = self.pick(["", "", " as any", " satisfies any", "!", " as any as number"])
        return f"{kind} {name}{self.annotation()} = ({self.expression()}){tail}\nlog({name})"

    def log(self, depth: int) -> str:
        return f"log({self.expression()}, {self.expression(1)} as any)"

    def noise(self, depth: int) -> str:
        """Statements that vanish."""
        name = self.name()
        return self.pick(
            [
                f"interface I{name}<V> extends Array<V> {{ a: {self.type()}\n <W>(x: W): V\n b?(): void }}",
                f"type T{name}<V = any> = {self.type()}",
                f"declare const {name}: {self.type()}",
                f"declare function {name}<V>(x: V): void",
                f"declare class C{name} {{ x: number; m(): void }}",
                f"abstract class C{name} {{ abstract x: number; abstract m(): void }}",
            ]
        )

    def bracket(self, depth: int) -> str:
        """Lines that would join the one before."""
        value = self.expression(1)
        return self.pick([f"(log)({value})", f"[log][0]({value})", "`t`.length", "+a", "-b", "++a"])

    def loop(self, depth: int) -> str:
        name = self.name()
        return (
            f"for (const {name} of [1, 2] as number[]) {{ {self.block(depth + 1)} log({name}!) }}"
        )

    def block(self, depth: int) -> str:
        count = self.random.randint(0, 2 if depth < 2 else 0)
        return "".join(self.statement(depth) + "\n" for _ in range(count))

    def function(self, depth: int) -> str:
        name = self.name()
        overload = self.pick(["", f"function {name}(x: any): any\n"])
        this = self.pick(["", "this: any, ", "this: void,"])
        return (
            f"{overload}function {name}<V>({this}x{self.annotation()}, {{ y }}: any = {{ y: 1 }}, "
            f"...z: any[]){self.annotation()} {{ {self.block(depth + 1)} return [x, y, z, {self.expression(2)}] }}\n"
            f"log({name}({self.expression(1)}))"
        )

    def klass(self, depth: int) -> str:
        name = "K" + self.name()
        base = self.pick(["", " extends Object", " extends (Object as any)"])
        call = "super();" if base else ""
        members = "".join(self.member() + self.pick(["\n", ";", "\n\n"]) for _ in range(4))
        return (
            f"{self.pick(['', 'abstract '])}class {name}<V>{base} implements Iface {{\n{members}"
            f"constructor(public p1: any, private p2 = {self.expression(1)}, p3?: any) {{ {call} log(p2) }}\n}}\n"
            f"log(new ({name} as any)({self.expression(1)}))"
        )

    def member(self) -> str:
        name = self.pick(
            ["get", "set", "static", "async", "readonly", "declare", "x", "type", "['c']"]
        )
        unique = name if name == "['c']" else f"{name}{self.count}"
        self.count += 1
        return self.pick(
            [
                f"{unique}{self.annotation()} = {self.expression(1)} as any",
                f"private readonly {unique} = {self.expression(1)}",
                f"declare {unique}: any",
                f"{unique.replace(chr(91), ';[')}?: any",
                f"{name}: any",
                f"m{self.count}(x?: any): any {{ return x }}",
                f"m{self.count}(): void",
                f";[k{self.count}: string]: any",
                f"static s{self.count}: any = {self.expression(1)}",
            ]
        )

    def enum(self, depth: int) -> str:
        name, other = "E" + self.name(), "E" + self.name()
        members = [
            "A = " + str(self.random.randint(-3, 9)),
            "B",
            "C = A | 4",
            "D = B << 1",
            "S = 'text'",
        ]
        extra = [
            "U = `${S}!`",
            "F = 'abc'.length",
            "G = ~C + D",
            "'h-i' = 7",
            "J = C",
            "K = (() => A)()",
        ]
        inner = self.pick([", ", ",\n  "]).join(members + self.random.sample(extra, 3))
        if self.random.random() < 0.2:
            return f"const enum {name} {{ {inner} }}\nlog({name}.A)"
        return (
            f"enum {name} {{ {inner} }} enum {other} {{ X = {name}.A, Y, Z = X + {name}.C, W = {name}.S }}\n"
            f"enum {name} {{ L = A, M = B | {other}.Y }}\nlog({name}, {other})"
        )

    def namespace(self, depth: int) -> str:
        name = "N" + self.name()
        first, second = f"e{self.count}", f"f{self.count}"
        uses = self.pick(
            [
                f"{first}++",
                f";[{first}] = [5]",
                f";({{ {first} }} = {{ {first}: 6 }} as any)",
                f"{first} = 7",
            ]
        )
        return (
            f"namespace {name}{self.pick(['', '.Inner'])} {{\nexport let {first}{self.annotation()} = t(() => ({self.expression(1)})), "
            f"{second} = {first}\n{uses}\nexport function get() {{ return [{first}, {{ {second} }}] }}\n"
            f"export const {{ d1, ...d2 }} = {{ d1: t(() => ({self.expression(1)})), d3: 4 }} as any\n"
            f"{self.chunk(1)}\nlog(get(), d1, {first}) }}\nlog({name})"
        )
