"""WeakRef and FinalizationRegistry see when memory is freed; they must see nothing of ours."""

from __future__ import annotations

import asyncio

from tests.escapes.attack import attack, outcome


def test_finalizers_run_guest_code_only_where_guest_code_may_run() -> None:
    seen: list[object] = []

    async def later() -> str:
        await asyncio.sleep(0)
        return "later"

    result = attack(
        """
const registry = new FinalizationRegistry((held) => { report(['freed', held]) });
for (let i = 0; i < 200; i++) {
  registry.register({ i, data: new Uint8Array(1000) }, i);
  registry.register(sync({ i }), 'answer');
  if (i % 50 === 0) await later();
}
const ref = new WeakRef({});
await later();
export default [typeof ref.deref(), await later()];
""",
        globals={"sync": lambda v: {"back": v}, "later": later},
        report=seen.append,
    )
    assert result.status == "success", result.error
    assert result.result == ["undefined", "later"]
    assert sorted(seen, key=repr) == sorted(
        [["freed", held] for n in range(200) for held in (n, "answer")], key=repr
    )


def test_a_weak_reference_to_what_was_lent() -> None:
    """What the realm made for the guest is freed when the guest lets go of it: we keep none."""
    seen = outcome(
        """
let refs = [];
for (let i = 0; i < 50; i++) refs.push(new WeakRef(give()));
const churn = [];
for (let i = 0; i < 1000; i++) churn.push(new Array(100));
export default [give().f(), refs.filter((ref) => ref.deref() !== undefined).length];
""",
        globals={"give": lambda: {"f": lambda: "called"}},
    )
    assert seen == ["called", 0]
