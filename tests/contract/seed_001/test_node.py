"""Seed 001, "Runtimes": Node.js."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.parts import part, run
from tests.contract.wheels import npm_registry


def web_search(query: str) -> list[dict[str, str]]:
    """Search the web."""
    return [{"title": f"About {query}"}]


def file_read(path: str) -> str:
    """Read a file."""
    if path != "config.yaml":
        raise FileNotFoundError(path)
    return "key: value"


def node(code: str, **options: Any) -> Any:
    return run(code, "node", **options)


def test_console_log_is_captured_as_logs() -> None:
    """Redirected to stderr → `CodeResult.Logs`. Does **not** appear in structured output."""
    result = node("console.log('a log'); setResult(7);")
    assert "a log" in result.logs
    assert result.result == 7


def test_set_result_sets_the_result_and_declares_files() -> None:
    """setResult(data, files)"""
    result = node("""
const fs = require('fs');
fs.writeFileSync('chart.png', 'png');
fs.writeFileSync('report.csv', 'a,b');
const articles = [1, 2, 3];
setResult({
    summary: 'Found 3 articles',
    articles: articles,
}, ['chart.png', 'report.csv']);
""")
    assert result.result == {"summary": "Found 3 articles", "articles": [1, 2, 3]}
    assert [each.name for each in result.files] == ["chart.png", "report.csv"]


def test_call_tool_is_async_and_returns_the_parsed_result() -> None:
    """All tool functions are async. … Returns the parsed result."""
    result = node(
        """
const pending = callTool('web_search', { query: 'Node.js best practices' });
console.log(pending instanceof Promise);
const results = await pending;
const content = await callTool('file_read', { path: 'config.yaml' });
console.log(results[0].title, content);
""",
        tools=[web_search, file_read],
    )
    assert result.stdout == "true\nAbout Node.js best practices key: value\n"


def test_a_failing_tool_throws_an_error() -> None:
    """Throws `Error` on tool failure."""
    result = node(
        """
try {
    await callTool('file_read', { path: 'missing' });
} catch (error) {
    console.log(error instanceof Error, error.message.includes('missing'));
}
""",
        tools=[file_read],
    )
    assert result.stdout == "true true\n"


def test_call_tools_parallel_keeps_the_order() -> None:
    """callToolsParallel(calls)"""
    result = node(
        """
const [a, b] = await callToolsParallel([
    ['web_search', { query: 'Python async' }],
    ['web_search', { query: 'Go goroutines' }],
]);
console.log(a[0].title, '/', b[0].title);
""",
        tools=[web_search],
    )
    assert result.stdout == "About Python async / About Go goroutines\n"


def test_install_package_installs_an_npm_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install an npm package at runtime."""
    code = "await installPackage('tinypackage'); console.log(require('tinypackage'));"
    with npm_registry("tinypackage", "module.exports = 42;") as address:
        monkeypatch.setenv("npm_config_registry", address)
        assert node(code, install=True).stdout == "42\n"


def test_files_cross_between_the_runtimes_of_a_session() -> None:
    """Files persist across executions within the same session."""
    workspaces = part("sessions").Workspaces()
    run("open('n', 'w').write('41')", session="s", workspaces=workspaces)
    code = "const n = Number(require('fs').readFileSync('n', 'utf8')) + 1; console.log(n);"
    assert node(code, session="s", workspaces=workspaces).stdout == "42\n"


def test_the_time_limit_kills() -> None:
    """The subprocess is killed on timeout."""
    result = node("for (;;);", timeout_ms=1500)
    assert (result.killed, result.exit_code) == (True, 137)


def test_there_is_no_host_filesystem_network_or_process(
    host: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The container has no access to the host filesystem or the app's secrets unless explicitly configured."""
    monkeypatch.setenv("SECRET_OF_THE_HOST", "hunter2")
    result = node(f"""
const fs = require('fs');
try {{ fs.readFileSync({host["victim"]!r}); }} catch (e) {{ console.log(e.code); }}
try {{ require('child_process').execSync('id'); }} catch (e) {{ console.log(e.code); }}
try {{ await fetch('http://127.0.0.1:{host["port"]}'); }} catch (e) {{ console.log(e.cause.code); }}
try {{ process.kill({host["host"]}, 0); }} catch (e) {{ console.log(e.code); }}
console.log(JSON.stringify(process.env).includes('hunter2'));
""")
    first, second, third, fourth, last = result.stdout.splitlines()
    assert first in ("ENOENT", "EACCES")
    assert (second, third) == ("EPERM", "EACCES")
    assert fourth in ("ESRCH", "EPERM")
    assert last == "false"
