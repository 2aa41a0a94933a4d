"""What a guest does, said once: as JavaScript for a real backend, as steps for one that plays them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Step = list[Any]  # its name, then what it is about

_BODIES = {
    "double": "return n * 2;",
    "throw": "throw new RangeError('no');",
    "hang": "return new Promise(() => {});",
    "report": "report(n);",
}
_SPELLED: dict[str, Callable[..., str]] = {
    "report": lambda value: f"report({json.dumps(value)});",
    "log": lambda text: f"console.log({json.dumps(text)});",
    "call": lambda name: f"await {name}();",
    "loop": lambda: "for (;;);",
    "throw": lambda message: f"throw new Error({json.dumps(message)});",
    "export": lambda name, does: f"export function {name}(n) {{ {_BODIES[does]} }}",
    "constant": lambda name: f"export const {name} = 1;",
    "return": lambda value: f"export default {json.dumps(value)};",
}


def script(*steps: Step) -> str:
    """The last line repeats the steps as JSON, in a comment that JavaScript passes over."""
    lines = [_SPELLED[name](*about) for name, *about in steps]
    return "\n".join([*lines, "//" + json.dumps(steps)])


def steps_of(source: str) -> list[Step]:
    steps: list[Step] = json.loads(source.rsplit("\n//", 1)[1])
    return steps
