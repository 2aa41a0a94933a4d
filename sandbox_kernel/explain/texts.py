"""The wording of hints: one table, in the words of whoever reads them.

A text is one string for all faces, or one for each; the command line and the MCP server, whose reader
is a model that can change its code and nothing else, have the API's words where they have none of their
own. Names in braces are filled in; what is filled in may come from a guest, so it is only ever a value,
never a template.
"""

from __future__ import annotations

from typing import Final

from .scene import Face

_ELSEWHERE = "programs of Node and Deno have it"


def _to_lend(lack: str, api: str, typed: str, program: str = _ELSEWHERE) -> dict[Face, str]:
    """How each face lends a capability that stands in for what is missing; programs are lent none."""
    start = f"the sandbox has {lack}, so there is no {{name}}; "
    return {
        "api": f"{start}lend it with lend=[capabilities.{api}]",
        "kernel": f"{start}lend it with --lend {typed} on %%runcode or %defaults",
        "magic": f"{start}lend it with --lend {typed} on %%runcode",
        "cli": f"{start}a program in Python can lend it, with run_code(…, lend=[{api}])",
        "mcp": f"{start}whoever starts this server can lend it with --lend {typed}",
        "program": f"{start}{program}",
    }


TEXTS: Final[dict[str, str | dict[Face, str]]] = {
    "memory": {
        "api": "the heap reached its limit; memory_limit_bytes= raises it for one run",
        "kernel": "the heap reached its limit; --memory 256MiB would raise it for this cell",
        "magic": "the heap reached its limit; --memory 256MiB would raise it for this cell",
        "cli": "the heap reached its limit; --memory 256MiB would raise it",
        "mcp": "the heap reached its limit, which is fixed here; keep less in memory at once",
    },
    # -- other languages
    "fence": {
        "api": "this is Markdown: the code is between the ``` lines; extract_code(reply) gives it",
        "kernel": "this is Markdown: remove the ``` lines around the code",
        "magic": "this is Markdown: remove the ``` lines around the code",
        "cli": "this is Markdown: remove the ``` lines around the code",
        "mcp": "this is Markdown: remove the ``` lines around the code",
        "program": "this is Markdown: remove the ``` lines around the code",
    },
    "python": {
        "api": "this looks like Python, and run_code runs JavaScript and TypeScript; run_program runs Python",
        "kernel": "this looks like Python, but a cell is JavaScript or TypeScript; Python that cells"
        " can import goes into a cell that begins with %%bridge NAME",
        "magic": "this looks like Python, but %%runcode runs JavaScript and TypeScript; without the"
        " first line the cell runs as Python",
        "cli": "this looks like Python, but it runs as JavaScript or TypeScript; run takes .py files, too",
        "program": "this looks like Python, but this program is JavaScript or TypeScript",
    },
    "python_name": "{name} is Python; in JavaScript write {instead}",
    "hash_comment": "a comment begins with // in JavaScript, not with #",
    "f_string": "JavaScript has no f-strings; write the text in backticks: `total: ${{total}}`",
    "shell": "a line that begins with ! is a command for a shell; the sandbox has no shell",
    "percent": {
        "api": "a line that begins with % is a notebook's magic, not JavaScript",
        "kernel": "magics are on the first lines of a cell, above the code",
        "magic": "a line that begins with % is a magic of IPython; it cannot be inside %%runcode",
    },
    "question": {
        "api": "{name}? asks IPython for help; it is not JavaScript",
        "kernel": "{name}? asks IPython for help; here, press Shift-Tab after a name",
        "magic": "{name}? asks IPython for help; it is not JavaScript",
    },
    # -- modules
    "require": "this is an ES module: write import … from '…' instead of require",
    "commonjs": "this is an ES module: write export default … instead of {name}",
    "dirname": "an ES module has no {name}, and the sandbox has no files",
    "return": {
        "api": "a module cannot return; write export default VALUE, or use evaluate and end with the"
        " expression",
        "kernel": "a cell cannot return; end it with the expression, or write export default VALUE",
        "magic": "a cell cannot return; end it with the expression, or write export default VALUE",
        "cli": "a module cannot return; end it with the expression, or write export default VALUE",
        "mcp": "a module cannot return; end it with the expression, or write export default VALUE",
        "program": "a program cannot return; setResult(VALUE) gives a result",
    },
    "no_default": {
        "api": "write export default VALUE, or use evaluate, whose result is the last expression",
        "kernel": "write export default VALUE, or leave out --fn",
        "magic": "write export default VALUE, or leave out --fn",
        "mcp": "write export default VALUE, or end with the expression",
    },
    "exports_nothing": "the module exports nothing; write export before the function: export function"
    " {name}() …",
    "exports": "{close}the module exports {names}",
    "nothing_lent": {
        "api": "only what you lend can be imported: imports={{'NAME': {{'function': function}}}}",
        "kernel": "nothing can be imported yet; %%bridge NAME or --import lends a module",
        "magic": "nothing can be imported yet; --import NAME lends a module",
        "cli": "only files beneath the folder of FILE, and what --module lends, can be imported",
        "mcp": "nothing can be imported here; write what the code needs into the code",
    },
    "lent": "{close}what can be imported: {names}",
    "extension": "write '{path}': the extension is part of the path",
    "no_relative": {
        "api": "modules={{'{path}': SOURCE}} gives the run such a module",
        "kernel": "a cell that begins with %%module {path} makes such a module",
        "magic": "a cell that begins with %%runmodule {path} makes such a module",
        "cli": "--module {path}=@FILE gives the run such a module",
        "mcp": "there are no other modules of yours; write all of it into one",
        "program": "{path} is not among the files of the program",
    },
    "leads_out": {
        "api": "nothing is above the root of the modules that the run was given",
        "cli": "only files beneath the folder of FILE can be imported; --module ./NAME=@FILE lends"
        " another",
        "program": "nothing is above the program's directory",
    },
    "namespace": "'{specifier}' has no default export; write import * as {name} from '{specifier}'",
    "module_exports": "{close}'{specifier}' exports {names}",
    "class": {
        "api": "{name} is a class, and classes cannot be lent; lend a function that makes one",
        "kernel": "{name} is a class, and classes are not exported; export a function that makes one",
        "magic": "{name} is a class, and classes cannot be lent; lend a function that makes one",
    },
    # -- names
    "other_cell": {
        "api": "",
        "kernel": "each cell is a fresh sandbox: {name} was declared in cell {cell}. Put both into one"
        " cell, keep the result of that cell with %%runcode --keep {name}, or share code with"
        " %%module ./PATH",
        "magic": "each cell is a fresh sandbox: {name} was declared in cell {cell}. Put both into one"
        " cell, or share code with %%runmodule ./PATH",
    },
    "outside": "{name} is a variable of this notebook; lend it to the cell with --global {name}",
    "import_name": "import {{ {name} }} from '{specifier}'",
    "import_module": "import * as {name} from '{name}'",
    "no_report": {
        "api": "report exists if the run is given report=FUNCTION",
        "kernel": "",
        "magic": "",
        "mcp": "",
        "program": "",
    },
    "undeclared": "{name} was not declared; write let {name} = …",
    "did_you_mean": "did you mean {name}?",
    "await": "{call} gives a promise; write await {call}",
    "dynamic_code": "the sandbox makes no code from text: no eval, no new Function",
    # -- the web platform and Node
    "timers": _to_lend("no timers", "timers()", "timers"),
    "network": _to_lend(
        "no network", "fetch(['HOST'])", "fetch=HOST", "a tool that is lent can fetch for it"
    ),
    "web": _to_lend("the language only", "web()", "web"),
    "files": _to_lend("no files", "files('FOLDER')", "fs=files:./FOLDER"),
    "display": _to_lend("no page", "display()", "display", "write what is to be seen to a file"),
    "instead": "the sandbox has no {name}; use {instead}",
    "function_instead": {
        "api": "the sandbox has no {name}; lend a function that does what this code needs, with"
        " imports= or globals=",
        "kernel": "the sandbox has no {name}; lend a function that does what this code needs, with"
        " %%bridge NAME",
        "magic": "the sandbox has no {name}; lend a function that does what this code needs, with"
        " --import or --global",
        "cli": "the sandbox has no {name}; a program in Python can lend a function that does what"
        " this code needs, with run_code(…, imports=…)",
        "mcp": "the sandbox has no {name}",
        "program": "the sandbox has no {name}; a tool that is lent can do what this code needs",
    },
    "settings": {
        "api": "the sandbox has no {name}; lend the settings that the code may see with globals=",
        "kernel": "the sandbox has no {name}; lend the settings that the code may see with --global",
        "magic": "the sandbox has no {name}; lend the settings that the code may see with --global",
        "cli": "the sandbox has no {name}; lend the settings that the code may see with --global",
        "mcp": "the sandbox has no {name}; write the settings into the code, or give them as args",
        "program": "the sandbox has no {name}; args, stdin and env are what the program was given",
    },
    "no_page": "the sandbox has no {name}: there is no page in it",
}


def say(key: str, face: Face, **values: object) -> str | None:
    """The text for this face, or None where the face has none."""
    text = TEXTS[key]
    template = text if isinstance(text, str) else text.get(face, text["api"])
    return template.format_map(values) or None
