"""Every way to turn text into code: none compiles."""

from __future__ import annotations

import pytest

from sandbox_kernel import undefined
from tests.escapes.attack import outcome

WAYS = {
    "eval": "eval('1')",
    "indirect_eval": "(0, eval)('1')",
    "eval_of_global": "globalThis.eval('1')",
    "function": "Function('return 1')()",
    "new_function": "new Function('return 1')()",
    "function_of_arguments": "Function('a', 'b', 'return a')()",
    "function_call": "Function.call(null, 'return 1')()",
    "function_apply": "Function.apply(null, ['return 1'])()",
    "function_bound": "Function.bind(null)('return 1')()",
    "function_constructed": "Reflect.construct(Function, ['return 1'])()",
    "function_subclass": "new (class extends Function {})('return 1')()",
    "function_of_prototype": "Function.prototype.constructor('return 1')()",
    "function_of_arrow": "(() => {}).constructor('return 1')()",
    "function_of_method": "({ m() {} }).m.constructor('return 1')()",
    "function_of_class": "(class {}).constructor('return 1')()",
    "function_of_native": "Math.max.constructor('return 1')()",
    "function_through_proxy": "new Proxy(Function, {})('return 1')()",
    "function_with_text_object": "Function({ toString() { return 'return 1' } })()",
    "function_as_callback": "['return 1'].map(Function)[0]()",
    "async_function": "(async () => {}).constructor('return 1')()",
    "generator_function": "(function* () {}).constructor('yield 1')().next().value",
    "async_generator_function": "(async function* () {}).constructor('yield 1')()",
    "import_data_url": "await import('data:text/javascript,export default 1')",
    "import_blob_url": "await import('blob:nodedata:1')",
    "regexp_replacer_as_code": "'x'.replace(/x/, Function('return 1'))",
    "timer_of_text": "setTimeout('1')",
    "shadow_realm": "new ShadowRealm().evaluate('1')",
    "web_assembly": "new WebAssembly.Module(new Uint8Array())",
    "json_reviver_function": "JSON.parse('1', Function)()",
    "to_primitive_function": "`${{ [Symbol.toPrimitive]: Function }}`",
}


COMPILER_MISSING = "TypeError: eval is not supported"
OTHERWISE = {
    "eval": "ReferenceError: eval is not defined",
    "indirect_eval": "ReferenceError: eval is not defined",
    "eval_of_global": "TypeError: not a function",
    "import_data_url": "LinkError: cannot import 'data:text/javascript,export default 1'",
    "import_blob_url": "LinkError: cannot import 'blob:nodedata:1'",
    "timer_of_text": "ReferenceError: setTimeout is not defined",
    "shadow_realm": "ReferenceError: ShadowRealm is not defined",
    "web_assembly": "ReferenceError: WebAssembly is not defined",
}


@pytest.mark.parametrize("way", WAYS)
def test_no_text_becomes_code(way: str) -> None:
    """Refused for that reason, and not because the attempt itself is mistaken."""
    seen = outcome(
        f"let got; try {{ got = 'ran: ' + {WAYS[way]} }} catch (error) {{ got = String(error) }}"
        " export default got"
    )
    assert seen.startswith(OTHERWISE.get(way, COMPILER_MISSING)), seen


def test_a_function_of_no_text_is_empty_and_leads_nowhere() -> None:
    """There is nothing to compile; what comes back is new each time and of this realm."""
    seen = outcome(
        "const f = Function(), g = new Function(); export default [f(), f === g,"
        " f.constructor === Function, Object.getPrototypeOf(f) === Function.prototype]"
    )
    assert seen == [undefined, False, True, True]
