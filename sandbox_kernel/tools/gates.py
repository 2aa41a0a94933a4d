"""Seed 002's gates: whether a team has `execute_code` at all, and who is asked before each call."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from ..errors import OptionError
from ..permissions import (
    Gate,
    InMemoryPermissionStore,
    PermissionPolicy,
    PermissionStore,
    Prompter,
    permission_gate,
)
from .execute_code import NAME, ExecuteCodeTool
from .executor import Executor
from .toolbox import Toolbox

_LOG = logging.getLogger(__name__)
Lookup = Callable[[str], Any]


class Gates:
    """All have to agree: the operator's wiring, the team's setting, and a person at each call.

    `team_setting` is asked for a team's `agent_sandbox`: only True is a yes, None is no setting, and
    an error is a no. `approvals` asks a person; what it answers for good is kept in `store`.
    """

    def __init__(
        self,
        executor_url: str | None = None,
        team_setting: Lookup | Mapping[str, Any] | None = None,
        approvals: Prompter | None = None,
        *,
        everyone: bool = False,
        store: PermissionStore | None = None,
        key: str | None = None,
        timeout: float | None = None,
    ) -> None:
        if executor_url is None:
            self.executor = Executor.from_environment()
        else:
            self.executor = Executor.of(executor_url, key, timeout) if executor_url else None
        self._setting = _lookup(team_setting)
        self._approvals = approvals
        self._everyone = everyone is True
        self._store: PermissionStore = InMemoryPermissionStore() if store is None else store
        permission_gate(self._store, approvals)  # refuses what is neither store nor prompter

    def __repr__(self) -> str:
        return f"Gates({'wired' if self.executor else 'not wired'})"

    def open_for(self, team: str) -> bool:
        """Whether the team has the tool: it is wired, and the team has opted in."""
        if self.executor is None:
            return False
        try:
            setting = self._setting(_checked_team(team))
        except OptionError:
            raise
        except Exception as error:
            _LOG.warning("agent_sandbox could not be looked up, so the answer is no: %.200r", error)
            return False
        return self._everyone if setting is None else setting is True

    def tools_for(self, team: str, toolbox: Toolbox) -> Toolbox:
        """The same tools for one team; `execute_code` only if it is open for the team."""
        is_open = self.open_for(team)
        tools: list[Any] = []
        for tool in toolbox:
            if not isinstance(tool, ExecuteCodeTool):
                tools.append(tool)
            elif is_open and tool.gates is self:
                tools.append(tool.for_team(team, self._gate_of(team)))
        return Toolbox(tools)

    def set_policy(self, team: str, policy: PermissionPolicy | str) -> None:
        """What holds for a team's calls from now on: `allow`, `deny`, or `ask` each time."""
        self._store.set(_kept_as(team, NAME), PermissionPolicy.of(policy))

    def _gate_of(self, team: str) -> Gate:
        return permission_gate(_TeamStore(team, self._store), self._approvals)


class _TeamStore:
    """The part of a store that is one team's: a policy is for a team and a tool."""

    def __init__(self, team: str, store: PermissionStore) -> None:
        self._team = team
        self._store = store

    def get(self, name: str, args: Any = None) -> PermissionPolicy:
        return self._store.get(_kept_as(self._team, name), args)

    def stored(self, name: str, args: Any = None) -> PermissionPolicy | None:
        stored = getattr(self._store, "stored", self._store.get)
        kept: PermissionPolicy | None = stored(_kept_as(self._team, name), args)
        return kept

    def set(self, name: str, policy: PermissionPolicy) -> None:
        self._store.set(_kept_as(self._team, name), policy)

    def remember(self, name: str, policy: PermissionPolicy) -> None:
        getattr(self._store, "remember", self._store.set)(_kept_as(self._team, name), policy)


def execute_code_tool(gates: Gates) -> ExecuteCodeTool:
    """Seed 002's tool. A toolbox that has it is used through `gates.tools_for(team, toolbox)`."""
    if not isinstance(gates, Gates):
        raise OptionError(f"execute_code_tool takes Gates, not {gates!r:.80}")
    return ExecuteCodeTool(gates)


def _kept_as(team: str, tool: str) -> str:
    """No name of a team can be a pattern, or end up as another team's."""
    return f"{quote(_checked_team(team), safe='')}/{tool}"


def _checked_team(team: object) -> str:
    if not isinstance(team, str) or not 0 < len(team) <= 200:
        raise OptionError(f"a team is a text of 1 to 200 characters, not {team!r:.80}")
    try:
        team.encode()
    except UnicodeEncodeError:
        raise OptionError(f"the team {team!r:.80} has half of a surrogate pair") from None
    return team


def _lookup(setting: Any) -> Lookup:
    if setting is None:
        return lambda team: None
    if isinstance(setting, Mapping):
        return setting.get
    if not callable(setting) or inspect.iscoroutinefunction(setting):
        raise OptionError(
            f"team_setting is a mapping, or a plain function of a team; {setting!r:.80} is neither"
        )
    found: Lookup = setting
    return found
