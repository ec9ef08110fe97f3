"""On Windows what works works, and what does not says so in one sentence before it does anything."""

from pathlib import Path

import pytest

from toolvet.cli import run
from toolvet.cli.commands import proxy

CONFIG = '{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}'


@pytest.fixture
def _windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy, "_IS_POSIX", False)


@pytest.mark.usefixtures("_windows")
@pytest.mark.parametrize(
    "words",
    [
        ("proxy", "--", "uvx", "mcp-server-time"),
        ("proxy", "https://example.com/mcp"),
        ("proxy", "--listen", "127.0.0.1:0", "https://example.com/mcp"),
        ("proxy", "--listen", "127.0.0.1:0", "--", "uvx", "mcp-server-time"),
    ],
)
def test_the_proxy_says_that_it_does_not_run_on_windows(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        "toolvet: toolvet proxy needs Linux or macOS, or Windows with WSL; on Windows itself the library, "
        "toolvet check, toolvet assess and toolvet proxy --explain work\n"
    )


@pytest.mark.usefixtures("_windows")
def test_a_configuration_is_not_rewritten_for_a_proxy_that_cannot_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "mcp.json"
    config.write_text(CONFIG, encoding="utf-8")
    assert run(["proxy", "install", str(config)]) == 2
    assert capsys.readouterr().err.startswith("toolvet: toolvet proxy install needs Linux or macOS")
    assert config.read_text(encoding="utf-8") == CONFIG
    assert list(tmp_path.iterdir()) == [config]


@pytest.mark.usefixtures("_windows")
def test_a_configuration_that_was_rewritten_elsewhere_can_be_put_back(tmp_path: Path) -> None:
    config = tmp_path / "mcp.json"
    config.write_text(CONFIG, encoding="utf-8")
    assert run(["proxy", "uninstall", str(config)]) == 0


@pytest.mark.usefixtures("_windows")
def test_commands_that_do_not_need_the_proxy_still_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    envelope = tmp_path / "envelope.json"
    envelope.write_text(
        '{"success": true, "data": {}, "error": null, "meta": {"version": "response-v2"}}', encoding="utf-8"
    )
    assert run(["explain", "crash-leaked"]) == 0
    assert run(["check", "envelope", str(envelope)]) in {0, 1}
    assert "needs Linux" not in capsys.readouterr().err
