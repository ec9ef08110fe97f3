"""`toolvet hook install` and `uninstall`: the settings come back byte for byte, and foreign hooks stay."""

import json
from pathlib import Path

import pytest

from toolvet.agents.hook.dialect import CLIENTS, Client, dialect_of
from toolvet.agents.hook.installing import HookCommand, has_hooks, with_hooks, without_hooks
from toolvet.cli import run
from toolvet.mcp.transport.client_config import read_jsonc
from toolvet.proxy.install.file import backup_of

COMMAND = HookCommand("/opt/tool vet/toolvet hook claude", "& toolvet hook claude")
TEXTS = [
    "{}",
    "{ }\n",
    '{"model": "opus"}',
    '{\n    // mine\n    "model": "opus",\n}\n',
    '\ufeff{\r\n  "hooks": {}\r\n}\r\n',
    '{"hooks": {"Stop": []}}',
    '{\n  "hooks": {\n    "Stop": [{"hooks": [{"type": "command", "command": "say"}]}], // mine\n  },\n  "a": 1\n}',
    '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": []}], "Other": [{"hooks": []}]}, "x": "}"}\n// end }',
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for client in CLIENTS:
        monkeypatch.delenv(dialect_of(client).settings.home, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings(client: Client, home: Path, scope: str) -> Path:
    place = dialect_of(client).settings
    return home / (place.project if scope == "--project" else place.user.removeprefix("~/"))


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("client", CLIENTS)
def test_settings_come_back_byte_for_byte(client: Client, text: str, home: Path) -> None:
    path = settings(client, home, "")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    path.chmod(0o640)
    assert run(["hook", "install", client]) == 0
    installed = path.read_bytes()
    assert has_hooks(installed.decode())
    assert path.stat().st_mode & 0o777 == 0o640
    assert run(["hook", "install", client]) == 0
    assert path.read_bytes() == installed
    assert run(["hook", "uninstall", client]) == 0
    assert path.read_bytes() == text.encode()
    assert not backup_of(path).exists()


@pytest.mark.parametrize("scope", ["", "--project"])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_file_that_was_made_for_the_hooks_goes_again(client: Client, scope: str, home: Path) -> None:
    words = [client, *([scope] if scope else [])]
    assert run(["hook", "install", *words]) == 0
    path = settings(client, home, scope)
    written = json.loads(path.read_text())
    assert set(written["hooks"]) == set(dialect_of(client).events)
    assert "hook " + client in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert run(["hook", "uninstall", *words]) == 0
    assert not path.exists()
    assert run(["hook", "uninstall", *words]) == 0


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("client", CLIENTS)
def test_other_hooks_stay_where_the_file_was_edited_since(client: Client, text: str) -> None:
    dialect = dialect_of(client)
    installed = with_hooks(text, dialect, COMMAND)
    value = read_jsonc(installed).value
    before = read_jsonc(text).value
    assert isinstance(value, dict)
    assert isinstance(before, dict)
    for event, groups in before.get("hooks", {}).items():
        assert value["hooks"][event][: len(groups)] == groups
    left = read_jsonc(without_hooks(installed, text)).value
    assert left == before
    assert with_hooks(installed, dialect, COMMAND) == installed


def test_a_hook_that_cannot_be_started_denies_nothing() -> None:
    """Copilot denies a call where its hook ends with another code than 0."""
    entry = COMMAND.entry(dialect_of("copilot"))
    assert str(entry["bash"]).endswith("|| true")
    assert str(entry["powershell"]).endswith("; exit 0")


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": 3}', '{"hooks": {"Stop": {}}}', "\xff"])
def test_what_cannot_be_read_is_left_alone(text: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = settings("claude", home, "")
    path.parent.mkdir()
    path.write_bytes(text.encode("latin-1"))
    assert run(["hook", "install", "claude"]) == 2
    assert path.read_bytes() == text.encode("latin-1")
    assert str(path) in capsys.readouterr().err


def test_a_dry_run_changes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["hook", "install", "codex", "--dry-run"]) == 0
    assert '+        "matcher": "mcp__.*",' in capsys.readouterr().out
    assert not settings("codex", home, "").exists()


def test_the_folder_of_the_client_may_be_elsewhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", str(home / "elsewhere"))
    assert run(["hook", "install", "codex"]) == 0
    assert (home / "elsewhere/hooks.json").exists()
