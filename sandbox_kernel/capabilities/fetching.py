"""`fetch()`: the web platform's function, for a few hosts and within bounds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..calls import Call, Decision, Refused, mark
from ..loans import Loan
from .checks import seconds, whole, yes_or_no
from .hosts import Host as Host
from .hosts import Rule, Target, rules_of
from .scripts import described, script

if TYPE_CHECKING:
    from .requesting import Requests

_EXPORTS = ("fetch", "Headers", "Request", "Response")


def fetch(
    hosts: Iterable[str] | Mapping[str, Host],
    *,
    max_bytes: int = 10 * 2**20,
    timeout: float = 30,
    requests: int = 100,
    concurrency: int = 8,
    redirects: int = 5,
    private: bool = False,
    insecure: bool = False,
) -> Fetch:
    """Lends `fetch` for these hosts, and for no other place.

    Args:
        hosts: Names such as `"api.example.org"` or `"api.example.org:8443"`, or a mapping of them to
            `Host(methods=…, paths=…, headers=…)`.
        max_bytes: The largest body, of an answer (decompressed) or of a request.
        timeout: Seconds for one call, with its redirects.
        requests: How many a run may make; a redirect counts as one.
        concurrency: How many at once; one more waits.
        redirects: How many are followed; each is checked like the first request.
        private: Allows addresses of this machine and of private networks.
        insecure: Allows http:// as well. Certificates are always checked.
    """
    limits = Bounds(
        whole("max_bytes", max_bytes, 1),
        seconds("timeout", timeout),
        whole("requests", requests, 1),
        whole("concurrency", concurrency, 1),
        whole("redirects", redirects),
        yes_or_no("private", private),
        yes_or_no("insecure", insecure),
    )
    return Fetch(rules_of(hosts), limits)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Of one run."""

    max_bytes: int
    timeout: float
    requests: int
    concurrency: int
    redirects: int
    private: bool
    insecure: bool


@dataclass(frozen=True, slots=True)
class Fetch:
    """What `fetch()` returns."""

    rules: Mapping[str, Rule] = field(repr=False)
    bounds: Bounds
    name = "fetch"

    def loan(self, name: str) -> Loan:
        from .requesting import Requests  # with the HTTP client, only for those who lend this

        requests = Requests(self.rules, self.bounds)
        host = {"fetch": _lent(requests, name)}
        exports = {"": (*_EXPORTS, "default")}
        return Loan(script("fetch"), host, exports, free=_EXPORTS, close=requests.close)

    def describe(self, name: str | None = None) -> str:
        hosts = ", ".join(self.rules)
        return f"// Hosts: {hosts}\n" + described("fetch", self.name, name)


def _lent(requests: Requests, module: str) -> Callable[..., Any]:
    """A gate is asked about each request that the host will make: a redirect leads to another one."""

    async def fetch(
        url: Any,
        method: Any = "GET",
        headers: Any = None,
        body: Any = None,
        redirect: Any = "follow",
    ) -> Any:
        return await requests.fetch(url, method, headers, body, redirect)

    async def gated(
        decide: Callable[[list[Call]], Awaitable[list[Decision]]],
        url: Any,
        method: Any = "GET",
        headers: Any = None,
        body: Any = None,
        redirect: Any = "follow",
    ) -> Any:
        async def permit(target: Target, method: str, size: int | None, why: str | None) -> None:
            (decision,) = await decide([asked_about(module, target, method, size, why)])
            if not decision.allowed:
                raise Refused(decision.message)

        return await requests.fetch(url, method, headers, body, redirect, permit)

    mark(fetch, gated=gated)
    return fetch


def asked_about(
    module: str, target: Target, method: str, size: int | None, why: str | None = None
) -> Call:
    """A request as a person and rules know it."""
    what = f"{method} {target.url}" + ("" if size is None else f" ({size:,} bytes)")
    rule = f"{module}.fetch:{method} {target.key}{target.path}"
    return Call(f"{module}.fetch", [target.url, method], what=what, rules=(rule,), why=why)
