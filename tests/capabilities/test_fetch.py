"""`fetch()` against real servers on this machine: what works, what is refused, what is taken out."""

from __future__ import annotations

import asyncio
import base64
import gzip
import re
import socket
import ssl
import struct
import tracemalloc
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import tornado
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.web import Application, RequestHandler

from sandbox_kernel import OptionError, run_code
from sandbox_kernel.capabilities import Capability, Host, fetch, requesting, web
from sandbox_kernel.capabilities.addresses import is_public
from sandbox_kernel.capabilities.blanking import Blanking
from sandbox_kernel.capabilities.fetching import asked_about
from sandbox_kernel.capabilities.hosts import target_of
from sandbox_kernel.permissions import ApprovalChoice, Policy
from tests.permissions.people import Person

TOKEN = "Bearer s3cr3t-t0ken/+="
CAUGHT = "const caught = async (f) => { try { return await f(); } catch (e) { return `${e.name}: ${e.message}`; } };\n"


class Echo(RequestHandler):
    """Tells what it was sent."""

    def data_received(self, chunk: bytes) -> None: ...

    def _echo(self) -> None:
        self.set_header("X-Echo", self.request.headers.get("Authorization", ""))
        self.write(
            {
                "method": self.request.method,
                "path": self.request.uri,
                "headers": dict(self.request.headers.get_all()),
                "body": self.request.body.decode("latin-1"),
            }
        )

    get = post = put = patch = delete = options = _echo


class Redirect(RequestHandler):
    def _go(self) -> None:
        self.redirect(self.get_argument("to"), status=int(self.get_argument("status", "302")))

    get = post = _go


class Later(RequestHandler):
    """Sends on to itself, each time after a while."""

    async def get(self) -> None:
        await asyncio.sleep(0.3)
        left = int(self.get_argument("times"))
        self.redirect(f"/later?times={left - 1}" if left else "/echo")


class Bomb(RequestHandler):
    def get(self) -> None:
        size = int(self.get_argument("size"))
        coding = self.get_argument("coding", "gzip")
        data = b"\0" * size
        packed = gzip.compress(data) if coding == "gzip" else zlib.compress(data)
        twice = bool(self.get_argument("twice", ""))
        self.set_header("Content-Encoding", f"{coding}, gzip" if twice else coding)
        self.finish(gzip.compress(packed) if twice else packed)


class Vast(RequestHandler):
    """128 MiB of zeros."""

    def get(self) -> None:
        packing = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
        parts = [packing.compress(bytes(2**20)) for _ in range(128)]
        self.set_header("Content-Encoding", "gzip")
        self.finish(b"".join(parts) + packing.flush())


class Packed(RequestHandler):
    def get(self) -> None:
        one = gzip.compress(b"one,")
        how = {"parts": one + gzip.compress(b"two"), "filled": one + bytes(9), "cut": one[:-9]}
        self.set_header("Content-Encoding", "gzip")
        self.finish(how[self.get_argument("how")])


class Large(RequestHandler):
    async def get(self) -> None:
        for _ in range(int(self.get_argument("size")) // 10_000):
            self.write(b"x" * 10_000)
            await self.flush()


class Drip(RequestHandler):
    """One byte at a time, for ever."""

    async def get(self) -> None:
        try:
            while True:
                self.write(b"x")
                await self.flush()
                await asyncio.sleep(0.02)
        except Exception:
            return  # the client has gone


class Reset(RequestHandler):
    """Ends in the middle of an answer, as when its process is killed."""

    async def get(self) -> None:
        self.set_header("Content-Length", "1000")
        self.write(b"x")
        await self.flush()
        connection = self.request.connection.stream.socket  # type: ignore[union-attr]  # HTTP/1 has one
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.request.connection.stream.close()  # type: ignore[union-attr]  # it is there


class Slow(RequestHandler):
    running = most = 0

    async def get(self) -> None:
        cls = type(self)
        cls.running += 1
        cls.most = max(cls.most, cls.running)
        await asyncio.sleep(0.05)
        cls.running -= 1
        self.write("ok")


class Plain(RequestHandler):
    def get(self) -> None:
        self.set_status(404, "Nothing")
        self.set_header("Set-Cookie", "a=1")
        self.add_header("Set-Cookie", "b=2")
        self.write("héllo")


@pytest.fixture
async def port() -> AsyncIterator[int]:
    routes = [
        ("/echo.*", Echo), ("/redirect", Redirect), ("/bomb", Bomb), ("/large", Large), ("/drip", Drip), ("/later", Later), ("/vast", Vast),
        ("/slow", Slow), ("/reset", Reset), ("/plain", Plain), ("/v1/.*", Echo), ("/other.*", Echo),
        ("/packed", Packed),
    ]  # fmt: skip
    bound, number = bind_unused_port(address="127.0.0.1")
    server = HTTPServer(Application(routes))
    server.add_sockets([bound])
    yield number
    server.stop()
    await server.close_all_connections()


async def run(source: str, port: int, hosts: Any = None, **options: Any) -> Any:
    hosts = hosts or [f"localhost:{port}"]
    options = {"private": True, "insecure": True} | options
    lent: list[Capability] = [fetch(hosts, **options), web()]
    return (
        await run_code(CAUGHT + source, lend=lent, globals={"at": f"http://localhost:{port}"})
    ).unwrap()


async def test_a_request_and_its_answer(port: int) -> None:
    source = """
    const r = await fetch(`${at}/plain`); const copy = r.clone();
    const post = await (await fetch(new URL('/echo?x=1', at), { method: 'post', body: JSON.stringify({ a: 1 }), headers: { 'Content-Type': 'application/json', 'X-A': 'b' } })).json();
    const form = await (await fetch(at + '/echo', { method: 'PUT', body: new URLSearchParams({ a: 'b c' }) })).json();
    const bytes = await (await fetch(at + '/echo', { method: 'POST', body: new Uint8Array([65, 66]) })).json();
    export default { status: r.status, ok: r.ok, words: r.statusText, text: await r.text(), again: await caught(() => r.text()), copy: (await copy.bytes()).length,
      cookies: r.headers.getSetCookie(), type: r.headers.get('Content-Type'), url: r.url.endsWith('/plain'),
      post: [post.method, post.path, post.body, post.headers['X-A'], post.headers['Content-Type']], form: [form.body, form.headers['Content-Type']], bytes: bytes.body }"""
    assert await run(source, port) == {
        "status": 404,
        "ok": False,
        "words": "Nothing",
        "text": "héllo",
        "again": "TypeError: the body was already read",
        "copy": 6,
        "cookies": ["a=1", "b=2"],
        "type": "text/html; charset=UTF-8",
        "url": True,
        "post": ["POST", "/echo?x=1", '{"a":1}', "b", "application/json"],
        "form": ["a=b+c", "application/x-www-form-urlencoded;charset=UTF-8"],
        "bytes": "AB",
    }


async def test_an_answer_that_is_reset_fails_at_once(port: int) -> None:
    source = "export default await caught(() => fetch(`${at}/reset`))"
    said = await run(source, port, timeout=20)
    assert "could not be reached, or gave no proper answer" in said


async def test_compressed_answers_are_given_plain(port: int) -> None:
    source = """const sizes = [];
    for (const q of ['size=5000', 'size=5000&coding=deflate', 'size=5000&twice=1']) {
      const r = await caught(() => fetch(`${at}/bomb?${q}`)); sizes.push(typeof r === 'string' ? r : [(await r.bytes()).length, r.headers.has('content-encoding')]);
    } export default sizes"""
    first, second, third = await run(source, port)
    assert first == second == third == [5000, False]


async def test_a_compressed_answer_is_given_whole_or_not_at_all(port: int) -> None:
    source = """const said = [];
    for (const how of ['parts', 'filled', 'cut']) said.push(await caught(async () => (await fetch(`${at}/packed?how=${how}`)).text()));
    export default said"""
    *given, failed = await run(source, port)
    assert given == ["one,two", "one,"]
    assert failed == "TypeError: fetch failed: the answer ends before it is complete"


ELSEWHERE = [
    "http://example.org/", "https://localhost/", "http://127.0.0.1:{port}/echo", "http://2130706433:{port}/echo", "http://0x7f000001:{port}/echo",
    "http://0177.0.0.1:{port}/echo", "http://127.1:{port}/echo", "http://[::1]:{port}/echo", "http://[::ffff:127.0.0.1]:{port}/echo",
    "http://localhost:1/", "http://localhost.:1/", "http://LOCALHOST.evil.org/", "http://localhost:{port}@evil.org/", "http://evil@localhost:{port}/echo",
    "http://localhost:{port}\\@evil.org/", "http://evil.org#@localhost:{port}/", "http://evil.org?@localhost:{port}/", "//localhost:{port}/echo", "file:///etc/passwd",
    "ftp://localhost:{port}/", "javascript:1", "http://localhost:{port}/echo\r\nX: y", "http://localhost:{port}/ x", "http://loc\talhost:{port}/", "", "http://",
    "http://ⓛocalhost:{port}/", "http://localhost:{port}\u3002evil.org/", "http://localhost:99999/", "http://localhost:-1/", "gopher://localhost:{port}/_x",
]  # fmt: skip


async def test_no_spelling_reaches_another_place(port: int) -> None:
    urls = [url.replace("{port}", str(port)) for url in ELSEWHERE]
    source = f"export default await Promise.all({urls!r}.map((url) => caught(async () => (await fetch(url)).status)))"
    found = await run(source.replace("\\u", "\\u"), port)
    assert [each for each in found if not str(each).startswith("TypeError: fetch failed: ")] == []


async def test_methods_and_paths_are_those_that_were_lent(port: int) -> None:
    hosts = {f"localhost:{port}": Host(methods={"GET"}, paths=["/v1/*", "/plain"])}
    source = """export default await Promise.all([['/v1/a/b'], ['/plain'], ['/v1/x', { method: 'POST' }], ['/other'], ['/v1/../other'], ['/v1/%2e%2e/other'],
      ['/v1/.%2E/other'], ['/plain/x'], ['/v1'], ['/other#/v1/'], ['/other?/v1/x'], ['//v1/x'],
      ['/v1/..%2fother'], ['/v1/%2e%2e%2Fother'], ['/v1/a%2f..%2f..%2fother'], ['/v1/..%5cother'], ['/v1/..;x/other'], ['/v1/%252e%252e/other'], ['/v1/..%252fother']].map(([path, init]) => caught(async () => (await fetch(at + path, init)).status)))"""
    found = await run(source, port, hosts)
    assert found[:2] == [200, 404]
    assert "POST was not lent" in found[2]
    assert all("was not lent" in each for each in found[3:])


async def test_http_is_refused_unless_it_was_lent(port: int) -> None:
    source = "export default await caught(() => fetch(at + '/echo'))"
    assert "only https was lent" in await run(source, port, insecure=False)


async def test_certificates_are_checked_even_if_http_is_lent() -> None:
    """tornado has a certificate for its own tests, which nobody has signed."""
    asked: list[str] = []

    class Never(RequestHandler):
        def get(self) -> None:
            asked.append(self.request.uri or "")

    folder = Path(tornado.__file__).parent / "test"
    secured = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    secured.load_cert_chain(folder / "test.crt", folder / "test.key")
    bound, port = bind_unused_port(address="127.0.0.1")
    server = HTTPServer(Application([("/.*", Never)]), ssl_options=secured)
    server.add_sockets([bound])
    source = "export default await caught(() => fetch(at.replace('http:', 'https:') + '/echo'))"
    try:
        assert "TypeError: fetch failed" in await run(source, port)
    finally:
        server.stop()
        await server.close_all_connections()
    assert asked == []


PRIVATE = [
    "127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255",
    "240.0.0.1", "192.0.0.1", "198.18.0.1", "::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1",
    "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:7f00:1::", "ff02::1", "fec0::1", "fe80::1%eth0",
    "2001:4860::5efe:127.0.0.1", "2001:db8::1", "not an address", "",
]  # fmt: skip


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_of_machines_and_networks_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "64:ff9b::101:101", "2002:101:101::1"],
)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["169.254.169.254"], ["93.184.216.34", "127.0.0.1"], ["::ffff:10.0.0.1"]],
)
async def test_a_name_that_leads_to_a_private_address_is_refused(
    addresses: list[str], port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look_up(name: str, port: int) -> list[tuple[int, Any]]:
        return [(int(socket.AF_INET), (each, port)) for each in addresses]

    monkeypatch.setattr(requesting, "look_up", look_up)
    source = f"export default await caught(() => fetch('http://public.example:{port}/echo'))"
    found = await run(source, port, [f"public.example:{port}"], private=False)
    assert "private network" in found
    assert not any(each in found for each in addresses)


async def test_a_name_is_looked_up_once_and_what_was_checked_is_connected_to(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rebinding: the second answer of the name server would lead elsewhere; nobody asks for it."""
    asked: list[str] = []

    async def look_up(name: str, port: int) -> list[tuple[int, Any]]:
        asked.append(name)
        return [(int(socket.AF_INET), ("127.0.0.1" if len(asked) == 1 else "127.0.0.9", port))]

    monkeypatch.setattr(requesting, "look_up", look_up)
    monkeypatch.setattr(requesting, "is_public", lambda address: address == "127.0.0.1")
    source = f"""const f = () => caught(async () => (await fetch('http://public.example:{port}/echo')).status);
    export default [await f(), await f()]"""
    first, second = await run(source, port, [f"public.example:{port}"], private=False)
    assert first == 200
    assert "private network" in second
    assert asked == ["public.example", "public.example"]


async def test_loopback_is_refused_unless_it_was_lent(port: int) -> None:
    assert "private network" in await run(
        "export default await caught(() => fetch(at + '/echo'))", port, private=False
    )


async def test_redirects_are_followed_and_each_is_checked(port: int) -> None:
    hosts = {f"localhost:{port}": Host(paths=["/redirect", "/echo"])}
    source = """const go = (to, status, init) => caught(async () => { const r = await fetch(`${at}/redirect?status=${status}&to=${encodeURIComponent(to)}`, init);
      return [r.status, r.redirected, r.url.replace(at, ''), r.status === 200 ? (await r.json()).method : null] });
    export default await Promise.all([go('/echo', 302), go('/other', 302), go('http://127.0.0.1/x', 301), go('http://169.254.169.254/latest', 307), go('file:///etc/passwd', 302),
      go('/echo', 302, { redirect: 'manual' }), go('/echo', 302, { redirect: 'error' }), go('/echo', 303, { method: 'POST', body: 'x' }), go('/echo', 302, { method: 'POST', body: 'x' }),
      go('/echo', 307), go('//evil.org/', 302), go('http://user:pw@localhost/', 302), go('/redirect?to=/redirect', 302)])"""
    found = await run(source, port, hosts)
    assert found[0] == [200, True, "/echo", "GET"]
    assert "was not lent" in found[1]
    assert all("not among the hosts" in found[at] for at in (2, 3, 10))
    assert "not a URL" in found[4]
    assert found[5][:2] == [302, False]
    assert "redirect is 'error'" in found[6]
    assert found[7] == found[8] == found[9] == [200, True, "/echo", "GET"]
    assert "user or password" in found[11]


async def test_redirects_end(port: int) -> None:
    source = "const u = `${at}/redirect?to=`; let url = '/echo'; for (let i = 0; i < 7; i++) url = '/redirect?to=' + encodeURIComponent(url); export default await caught(() => fetch(at + url))"
    assert "more than 5 redirects" in await run(source, port)


async def test_injected_headers_reach_their_host_only_and_are_blanked(port: int) -> None:
    other, number = bind_unused_port(address="127.0.0.1")
    server = HTTPServer(Application([(".*", Echo)]))
    server.add_sockets([other])
    hosts = {
        f"localhost:{port}": Host(headers={"Authorization": TOKEN, "X-Key": "k-e-y-1"}),
        f"localhost:{number}": Host(),
    }
    source = f"""const direct = await fetch(at + '/echo?' + encodeURIComponent('s3cr3t-t0ken/+='), {{ headers: {{ authorization: 'mine', 'x-mine': 'm' }} }});
    const moved = await fetch(at + '/redirect?to=' + encodeURIComponent('http://localhost:{number}/x'), {{ headers: {{ Authorization: 'mine', Cookie: 'c=1', 'X-Mine': 'm' }} }});
    export default [await direct.json(), [...direct.headers], await moved.json()]"""
    try:
        direct, headers, moved = await run(source, port, hosts)
    finally:
        server.stop()
        await server.close_all_connections()
    said = repr([direct, headers, moved])
    for secret in (
        TOKEN,
        "s3cr3t-t0ken/+=",
        "k-e-y-1",
        base64.b64encode(b"s3cr3t-t0ken/+=").decode(),
        "s3cr3t-t0ken%2F%2B%3D",
    ):
        assert secret not in said
    assert direct["headers"]["Authorization"] == "***"  # it was sent, and taken out of the echo
    assert "mine" not in direct["headers"]["Authorization"]
    assert direct["headers"]["X-Mine"] == "m"
    assert not {"Authorization", "X-Key", "Cookie"} & set(moved["headers"])
    assert moved["headers"]["X-Mine"] == "m"


@pytest.mark.parametrize(
    "echoed",
    [
        '"token \\"one\\"/+="',
        '"token \\"one\\"\\/+="',
        "<p>token &quot;one&quot;/+=</p>",
        "?k=token%20%22one%22/%2B%3D",
        "?k=token+%22one%22%2F%2B%3D",
    ],
)
def test_a_secret_is_blanked_as_json_markup_and_queries_spell_it(echoed: str) -> None:
    shown = Blanking([{"X-Key": 'token "one"/+='}]).text(echoed)
    assert "one" not in shown
    assert "***" in shown


def test_secrets_are_not_in_a_repr() -> None:
    lent = fetch({"a.org": Host(headers={"Authorization": TOKEN})})
    assert "s3cr3t" not in repr(lent) + repr(Host(headers={"A": TOKEN})) + lent.describe()


@pytest.mark.parametrize(
    "query", ["size=2000000", "size=2000000&coding=deflate", "size=50000000&twice=1"]
)
async def test_bombs_are_counted_decompressed(port: int, query: str) -> None:
    found = await run(
        f"export default await caught(() => fetch(at + '/bomb?{query}'))", port, max_bytes=100_000
    )
    assert found == "TypeError: fetch failed: the answer is larger than 100,000 bytes"


async def test_of_a_bomb_no_more_is_unpacked_than_may_be_kept(port: int) -> None:
    tracemalloc.start()
    try:
        found = await run(
            "export default await caught(() => fetch(at + '/vast'))", port, max_bytes=10**6
        )
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found == "TypeError: fetch failed: the answer is larger than 1,000,000 bytes"
    assert peak < 32 * 2**20


async def test_an_answer_without_end_of_its_own_is_cut(port: int) -> None:
    found = await run(
        "export default await caught(() => fetch(at + '/large?size=3000000'))",
        port,
        max_bytes=100_000,
    )
    assert "TypeError: fetch failed" in found


async def test_a_drip_ends_with_the_time(port: int) -> None:
    found = await run("export default await caught(() => fetch(at + '/drip'))", port, timeout=0.5)
    assert found == "TypeError: fetch failed: no answer within 0.5 s"


async def test_the_time_is_that_of_a_call_with_its_redirects(port: int) -> None:
    source = "export default await caught(() => fetch(at + '/later?times=4'))"
    found = await run(source, port, timeout=1)
    assert found == "TypeError: fetch failed: no answer within 1 s"


async def test_the_number_of_requests_is_bounded_and_counts_redirects(port: int) -> None:
    source = "const r = []; for (const p of ['/redirect?to=/echo', '/echo', '/echo']) r.push(await caught(async () => (await fetch(at + p)).status)); export default r"
    assert await run(source, port, requests=3) == [
        200,
        200,
        "LimitError: the 3 requests that this run was lent are used up",
    ]


async def test_no_more_than_so_many_at_once(port: int) -> None:
    Slow.running = Slow.most = 0
    source = "export default await Promise.all(Array.from({ length: 12 }, async () => (await fetch(at + '/slow')).status))"
    assert await run(source, port, concurrency=3) == [200] * 12
    assert Slow.most == 3


async def test_requests_end_with_their_run(port: int) -> None:
    lent = fetch([f"localhost:{port}"], private=True, insecure=True, timeout=60)
    source = f"fetch('http://localhost:{port}/drip'); await new Promise((done) => done()); export default 1"
    assert (await run_code(source, lend=[lent])).unwrap() == 1
    assert (
        await run_code(f"await fetch('http://localhost:{port}/drip')", lend=[lent]).terminate_after(
            0.3
        )
    ).status == "terminated"


@pytest.mark.parametrize(
    "headers",
    [
        "{ 'X': 'a\\r\\nY: b' }",
        "{ 'X\\r\\nY': 'b' }",
        "{ 'X Y': 'b' }",
        "{ '': 'b' }",
        "{ X: 'é€' }",
        "{ X: 'a\\0b' }",
    ],
)
async def test_headers_cannot_end_early(port: int, headers: str) -> None:
    assert "TypeError: fetch failed" in await run(
        f"export default await caught(() => fetch(at + '/echo', {{ headers: {headers} }}))", port
    )


async def test_headers_of_the_connection_are_not_the_guests(port: int) -> None:
    source = """const r = await (await fetch(at + '/echo', { method: 'POST', body: 'abc', headers: { Host: 'evil.org', 'Content-Length': '999', 'Transfer-Encoding': 'chunked',
      Connection: 'upgrade', 'Proxy-Authorization': 'x', 'X-Forwarded-For': '1.1.1.1', 'Sec-Fetch-Site': 'none',
      'X-HTTP-Method-Override': 'DELETE', 'X-Original-URL': '/other' } })).json(); export default [r.headers, r.body]"""
    headers, body = await run(source, port)
    assert headers["Host"] == f"localhost:{port}"
    assert headers["Content-Length"] == "3"
    assert body == "abc"
    assert not {
        "X-Http-Method-Override",
        "X-Original-Url",
        "Transfer-Encoding",
        "Proxy-Authorization",
        "X-Forwarded-For",
        "Sec-Fetch-Site",
    } & set(headers)


@pytest.mark.parametrize(
    "call",
    [
        "fetch(at, { method: 'TRACE' })",
        "fetch(at, { redirect: 'never' })",
        "fetch(at, { method: 'GET', body: 'x' })",
        "fetch(at, { method: 'POST', body: {} })",
        "fetch(5)",
        "fetch()",
    ],
)
async def test_what_cannot_be_asked_for_is_a_type_error(port: int, call: str) -> None:
    assert (await run(f"export default await caught(() => {call})", port)).startswith("TypeError: ")


@pytest.mark.parametrize(
    "hosts",
    ["a.org", [], [""], ["https://a.org"], ["a.org/x"], ["*"], ["*.a.org"], ["a b"], [5], 5, {"a.org": "x"}, ["a.org:0"], ["a.org:x"], ["-a.org"],
     {"a.org": Host(methods={"FLY"})}, {"a.org": Host(methods="GET")}, {"a.org": Host(paths=["v1"])}, {"a.org": Host(headers={"A": "b\r\nC: d"})}, ["user@a.org"],
     {"a.org": Host(methods=None)}, {"a.org": Host(paths=None)}, {"a.org": Host(headers=None)}, {"a.org": Host(headers=["A"])}, {"a.org": Host(), "A.org.": Host()}],  # type: ignore[arg-type]  # wrong on purpose
)  # fmt: skip
def test_hosts_that_are_none_are_refused(hosts: Any) -> None:
    with pytest.raises(OptionError):
        fetch(hosts)


@pytest.mark.parametrize(
    ("path", "instead"),
    [
        ("/v1?x=*", "a query is no part of it"),
        ("/v1/../x", "write '/x'"),
        ("/é/*", "write '/%C3%A9/*'"),
        ("*/./x", "write '*/x'"),
        ("/a b", "write '/a%20b'"),
    ],
)
def test_a_path_that_no_request_can_have_is_refused(path: str, instead: str) -> None:
    with pytest.raises(OptionError, match=f"can never match; {re.escape(instead)}"):
        fetch({"a.org": Host(paths=[path])})


@pytest.mark.parametrize(
    "given",
    [
        {"max_bytes": 0},
        {"timeout": 0},
        {"timeout": "1"},
        {"requests": -1},
        {"concurrency": 0},
        {"redirects": -1},
        {"timeout": float("inf")},
        {"timeout": 10**400},
        {"private": 1},
        {"insecure": "yes"},
    ],
)
def test_bounds_that_are_none_are_refused(given: Any) -> None:
    with pytest.raises(OptionError):
        fetch(["a.org"], **given)


def test_calls_say_what_will_be_requested() -> None:
    call = asked_about("fetch", target_of("HTTPS://A.org.:443/x/../y?z#w"), "POST", 5)
    assert call.what == "POST https://a.org/y?z (5 bytes)"
    assert call.rules == ("fetch.fetch:POST a.org/y",)


async def test_a_rule_or_a_person_decides_about_each_request_of_a_call(port: int) -> None:
    """Also about where an answer leads; but not about what would be refused anyway."""
    here, person = f"localhost:{port}", Person(ApprovalChoice.ALLOW_ONCE)
    rules = {"fetch.fetch:GET " + here + "/other*": "deny", "fetch.*": "ask"}
    source = """const to = (path) => at + '/redirect?to=' + encodeURIComponent(path);
    const said = [];
    for (const url of [at + '/./other', to('/other'), to('/echo'), 'https://evil.org/', 'https://a..b/', 7]) {
      said.push(await caught(async () => (await fetch(url)).status));
    }
    export default said"""
    result = await run_code(
        CAUGHT + source,
        lend=[fetch([here], private=True, insecure=True), web()],
        globals={"at": f"http://{here}"},
        policy=Policy(rules, ask=person),
    )
    no = "PermissionError: fetch.fetch was not allowed: a rule denies it"
    assert result.unwrap()[:3] == [no, no, 200]
    assert [each.split(": ")[2] for each in result.unwrap()[3:]] == [
        "evil.org is not among the hosts that were lent",
        "the host 'a..b' is not a name of letters, digits and hyphens",
        "not a URL with https:// in front",
    ]
    asked = [(each.what or "").partition(here)[2].partition("?")[0] for each in person.asked]
    assert asked == ["/redirect", "/redirect", "/echo"]
    assert person.asked[2].why == "the host that was asked before sends it there"
    assert [(call["decision"], call["outcome"]) for call in result.calls[:3]] == [
        ("deny", "denied"),
        ("deny", "denied"),
        ("allow_once", "ok"),
    ]


async def test_the_port_of_its_scheme_may_be_written() -> None:
    source = """export default await Promise.all(["https://127.0.0.1/", "https://127.0.0.1:8443/"]
      .map((url) => caught(() => fetch(url))))"""
    private = fetch(["127.0.0.1:443"])
    refused, unknown = (await run_code(CAUGHT + source, lend=[private])).unwrap()
    assert "127.0.0.1 is an address of a private network" in refused
    assert "127.0.0.1:8443 is not among the hosts that were lent" in unknown


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("https://A.org", "https://a.org/"),
        ("http://a.org:80/b", "http://a.org/b"),
        ("https://a.org/é?ü", "https://a.org/%C3%A9?%C3%BC"),
    ],
)
def test_a_url_has_one_spelling(url: str, normal: str) -> None:
    assert target_of(url).url == normal
