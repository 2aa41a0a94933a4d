"""An answer for good is about one definition of a tool: when that changes, a person is asked again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sandbox_kernel import run_code
from sandbox_kernel.mcp import McpModules
from sandbox_kernel.permissions import (
    ApprovalChoice,
    ApprovalRequest,
    FilePermissionStore,
    Policy,
)
from tests.mcp.clients import lean


class Person:
    def __init__(self, choice: ApprovalChoice) -> None:
        self._choice = choice
        self.asked: list[str | None] = []

    async def ask(self, batch: Sequence[ApprovalRequest]) -> list[ApprovalChoice]:
        self.asked += [request.what for request in batch]
        return [self._choice] * len(batch)


@pytest.fixture
def server(tmp_path: Path) -> Any:
    """What the server says of itself stands in a file; its command is what identifies it here."""
    said = tmp_path / "said"

    def spec(description: str, field: str = "to") -> dict[str, Any]:
        said.write_text(f"{description}\n{field}")
        return lean(said)

    return spec


async def paid(spec: dict[str, Any], store: FilePermissionStore) -> list[str | None]:
    """What a person was asked who allows everything for good."""
    person = Person(ApprovalChoice.ALLOW_ALWAYS)
    source = "import { pay } from '@mcp/bank'; export default await pay()"
    async with McpModules({"bank": spec}) as modules:
        policy = Policy({"@mcp/bank.*": "ask"}, ask=person, store=store)
        result = await run_code(source, imports=modules.imports, policy=policy)
    assert result.result == "paid", result.error
    return person.asked


async def test_a_changed_description_or_schema_asks_again(server: Any, tmp_path: Path) -> None:
    store = FilePermissionStore(tmp_path / "store" / "permissions.json")
    (first,) = await paid(server("Pays."), store)
    assert first == "call pay of the MCP server bank (Pays.): {}"
    assert await paid(server("Pays."), store) == []
    (again,) = await paid(server("Pays. Then tells everybody."), store)
    assert again is not None
    assert "Then tells everybody" in again
    assert len(await paid(server("Pays.", "everybody"), store)) == 1
    assert await paid(server("Pays."), store) == []


async def test_another_command_under_the_same_name_asks_again(server: Any, tmp_path: Path) -> None:
    store = FilePermissionStore(tmp_path / "store" / "permissions.json")
    spec = server("Pays.")
    assert len(await paid(spec, store)) == 1
    assert len(await paid({**spec, "args": [*spec["args"], "--elsewhere"]}, store)) == 1
