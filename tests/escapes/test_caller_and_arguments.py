"""Sloppy functions once told who called them. A module is strict; what is left of it must not tell."""

from __future__ import annotations

from tests.escapes.attack import outcome


def test_no_function_names_its_caller() -> None:
    seen = outcome(
        """
const seen = [];
function called() {
  for (const target of [called, bridge, console.log, report, Math.max, () => 1, class {}]) {
    for (const name of ['caller', 'arguments', 'callee']) {
      try { seen.push(target[name]) } catch (error) { seen.push(error.name) }
    }
  }
  try { seen.push(arguments.callee) } catch (error) { seen.push(error.name) }
  return 1;
}
[1].map(called);
const object = { get x() { return called() }, toString() { called(); return 's' } };
report({ get x() { return called() } });
sync(called);
export default [...new Set(seen.map(String))].sort();
""",
        globals={"bridge": lambda: 1, "sync": lambda f: None},
        report=lambda value: None,
    )
    assert seen == ["TypeError", "undefined"]


def test_stacks_inside_the_guest_name_no_file_of_the_host() -> None:
    seen = outcome(
        """
const stacks = [];
const look = () => { stacks.push(new Error().stack); return 1 };
report({ get a() { return look() } });
console.log({ get a() { return look() } });
try { bridge(Symbol()) } catch (error) { stacks.push(error.stack) }
try { raising() } catch (error) { stacks.push(error.stack) }
try { JSON.parse('{') } catch (error) { stacks.push(error.stack) }
export default stacks.join('\\n');
""",
        globals={"bridge": lambda: 1, "raising": lambda: 1 / 0},
        report=lambda value: None,
    )
    for leaked in (".py", "/", "codec", "bootstrap", "site-packages", "0x"):
        assert leaked not in seen, (leaked, seen)
