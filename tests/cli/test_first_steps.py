"""What people type first: a script, an address, `help`, options in the wrong place, and input of the wrong kind."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.proxy.stdio_client import HERE

from toolvet.cli.target import read_target
from toolvet.errors import UsageError
from toolvet.mcp.transport import HttpTarget, StdioTarget

QUICK = HERE / "quick_server.py"


def toolvet(*words: str, cwd: Path, given: bytes = b"", **env: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "toolvet", *words],
        cwd=cwd,
        input=given,
        env={**os.environ, "PATH": path, **env},
        capture_output=True,
        timeout=170,
        check=False,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_a_script_is_started_with_its_interpreter(tmp_path: Path) -> None:
    shutil.copyfile(QUICK, tmp_path / "server.py")
    done = toolvet("assess", "server.py", "--tool", "add", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["server"]["command"] == "python server.py", done.stderr


@pytest.mark.parametrize(
    ("word", "command"),
    [("a.py", "python"), ("a.js", "node"), ("a.mjs", "node"), ("a.sh", "a.sh"), ("gone.py", "gone.py")],
)
def test_only_a_file_that_is_no_program_gets_an_interpreter(
    word: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if not word.startswith("gone"):
        (tmp_path / word).touch(mode=0o600)
    target = read_target([word, "--x"], headers={}, environment={}, cwd=None)
    assert isinstance(target, StdioTarget)
    assert target.command == command
    assert target.args == ((word, "--x") if command != word else ("--x",))


@pytest.mark.parametrize("word", ["localhost:8000/mcp", "127.0.0.1:8000", "[::1]:8000/mcp"])
def test_an_address_of_this_machine_is_a_url(word: str) -> None:
    target = read_target([word], headers={}, environment={}, cwd=None)
    assert target == HttpTarget(url=f"http://{word}", headers={})


def test_an_address_elsewhere_needs_its_scheme() -> None:
    with pytest.raises(UsageError, match="begin a URL with https:// or http://"):
        read_target(["example.com:8000/mcp"], headers={}, environment={}, cwd=None)


def test_a_config_without_a_server_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text('{"mcpServers": {}}')
    done = toolvet("assess", "--config", "mcp.json", cwd=tmp_path)
    assert done.returncode == 2
    assert "--config mcp.json names no server" in done.stderr


def test_options_of_ours_behind_the_dashes_are_pointed_out(tmp_path: Path) -> None:
    done = toolvet("assess", "--plan-only", "--", "python", str(QUICK), "--fail-under=90", cwd=tmp_path)
    assert done.returncode == 0
    assert "--fail-under=90 is after `--`, so the server gets it" in done.stderr


def test_verbose_prints_each_call(tmp_path: Path) -> None:
    done = toolvet("assess", "-v", "--quiet", "--include", "add", "--", "python", str(QUICK), cwd=tmp_path)
    lines = [line for line in done.stderr.splitlines() if line.startswith("add  add/")]
    assert len(lines) >= 3
    assert all(line.endswith(" ms") and ("  passed  " in line or "  failed  " in line) for line in lines)


@pytest.mark.parametrize(
    ("words", "shown"), [(["-V"], "0."), (["help"], "Usage: toolvet COMMAND"), (["help", "explain"], "toolvet explain")]
)
def test_the_usual_words_for_version_and_help_work(words: list[str], shown: str, tmp_path: Path) -> None:
    done = toolvet(*words, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith((shown, f"Usage: {shown}"))


def test_help_shows_the_common_options_and_help_all_the_others(tmp_path: Path) -> None:
    short = toolvet("assess", "--help", cwd=tmp_path).stdout
    long = toolvet("assess", "--help-all", cwd=tmp_path).stdout
    assert "--report" in short
    assert "--help-all" in short
    assert "--max-memory-mib" not in short
    assert "--max-memory-mib" in long
    assert short.count("\n") < 80 < long.count("\n")


def test_help_breaks_its_paragraphs_at_the_width_of_the_terminal(tmp_path: Path) -> None:
    lines = toolvet("assess", "--help", cwd=tmp_path, COLUMNS="60").stdout.splitlines()
    start = lines.index(next(line for line in lines if line.startswith("By default")))
    paragraph = lines[start : lines.index("", start)]
    assert all(40 < len(line.rstrip()) <= 60 for line in paragraph[:-1]), paragraph


def test_a_schema_that_cannot_be_used_is_not_called_valid(tmp_path: Path) -> None:
    (tmp_path / "tool.json").write_text('{"name": "t", "inputSchema": {"type": "objekt"}}')
    done = toolvet("check", "arguments", "--tool", "tool.json", cwd=tmp_path, given=b'{"a": 1}')
    assert done.returncode == 2
    assert "not checked: the inputSchema cannot be used" in done.stdout
    assert "valid (" not in done.stdout


def test_binary_input_is_refused_and_a_damaged_text_is_not(tmp_path: Path) -> None:
    (tmp_path / "answer.txt").write_bytes(bytes(range(256)) * 4)
    done = toolvet("check", "answer", "answer.txt", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "answer.txt: is binary, not text" in done.stderr
    (tmp_path / "answer.txt").write_bytes(b"The price of the lamp is 20 \x80 and it is in stock.")
    assert toolvet("check", "answer", "answer.txt", cwd=tmp_path).returncode == 0


def test_a_store_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = toolvet("replay", "gone.db", "--", "python", str(QUICK), cwd=tmp_path)
    assert done.returncode == 2
    assert "gone.db: there is no such store" in done.stderr
