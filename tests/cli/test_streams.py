"""Streams that are closed, full or not read: words and an exit code, never a traceback."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.proxy.stdio_client import RAW_SERVER

from toolvet import check_answer
from toolvet.store import Store

ANSWER = '{"answer": "All three books are on the shelf."}'
TOOL = '{"name": "add", "inputSchema": {"type": "object"}}'
CALL = '{"name": "add", "arguments": {}}'
RESULT = '{"tool": {"name": "add"}, "result": {"content": [{"type": "text", "text": "3"}]}}'
SAYS = (
    ("check", "answer", "--json"),
    ("check", "answer"),
    ("check", "arguments", "--tool", "tool.json", "--json"),
    ("check", "result", "--json"),
    ("explain", "unknown-tool-answer"),
    ("explain", "unknown-tool-answer", "--json"),
    ("trace", "--store", "calls.db"),
    ("trace", "--store", "calls.db", "--json"),
    ("assess", "--tool", "add", "--", *RAW_SERVER),
    ("--help",),
    ("--version",),
)
GIVEN: Mapping[str, str] = {"answer": ANSWER, "arguments": CALL, "result": RESULT}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Store(tmp_path / "calls.db") as store:
        store.add(check_answer("Done.", trace="0af7"), text="Done.")
    (tmp_path / "tool.json").write_text(TOOL)
    return tmp_path


def run(folder: Path, redirection: str, words: tuple[str, ...], **env: str) -> "subprocess.CompletedProcess[str]":
    """Run `toolvet` with this redirection of the shell."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-m", "toolvet", *words],
        cwd=folder,
        input=GIVEN.get(words[1] if len(words) > 1 else "", ""),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **env},
    )


@pytest.mark.parametrize("words", SAYS, ids=lambda words: " ".join(words[:3]))
def test_a_closed_stdout_is_told_and_has_an_exit_code(folder: Path, words: tuple[str, ...]) -> None:
    done = run(folder, ">&-", words)
    assert done.returncode == 6, done.stderr
    assert "toolvet: stdout is closed" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full disk to offer")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", SAYS, ids=lambda words: " ".join(words[:3]))
def test_a_full_stdout_is_told_and_has_an_exit_code(folder: Path, words: tuple[str, ...], unbuffered: str) -> None:
    done = run(folder, ">/dev/full", words, PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 6, done.stderr
    assert "toolvet: stdout cannot be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", SAYS, ids=lambda words: " ".join(words[:3]))
def test_a_reader_that_is_gone_is_told_and_has_an_exit_code(folder: Path, words: tuple[str, ...]) -> None:
    """A real pipe, whose reader closed it before the first word."""
    reading, writing = os.pipe()
    os.close(reading)
    done = run_to(folder, writing, words)
    os.close(writing)
    assert done.returncode == 6, done.stderr
    assert "toolvet: stdout was closed by its reader" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def run_to(folder: Path, stdout: int, words: tuple[str, ...]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "toolvet", *words],
        cwd=folder,
        input=GIVEN.get(words[1] if len(words) > 1 else "", ""),
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("kind", ["answer", "arguments", "result", "envelope", "conversation"])
def test_a_closed_stdin_is_a_usage_error_of_commands_that_read_it(folder: Path, kind: str) -> None:
    done = run(folder, "<&-", ("check", kind, *(("--tool", "tool.json") if kind == "arguments" else ())))
    assert done.returncode == 2
    assert "toolvet: stdin is closed" in done.stderr
    assert done.stdout == ""


def test_a_closed_stdin_does_not_matter_to_the_others(folder: Path) -> None:
    assert run(folder, "<&-", ("explain", "unknown-tool-answer")).returncode == 0
    assert run(folder, "<&-", ("trace", "--store", "calls.db")).returncode == 0


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_a_stderr_that_takes_nothing_changes_neither_output_nor_exit_code(folder: Path, redirection: str) -> None:
    for words in (*SAYS[:2], ("trace", "--store", "nowhere.db"), ("explain", "no-such-check")):
        expected = run(folder, "", words)
        done = run(folder, redirection, words)
        assert (done.returncode, done.stdout) == (expected.returncode, expected.stdout)


def test_all_streams_closed(folder: Path) -> None:
    assert run(folder, "<&- >&- 2>&-", ("explain", "unknown-tool-answer")).returncode == 6
    assert run(folder, "<&- >&- 2>&-", ("check", "answer")).returncode == 2


def test_a_proxy_without_a_stdout_starts_no_server(folder: Path) -> None:
    started = folder / "started"
    done = run(folder, ">&-", ("proxy", "--store", "proxy.db", "--", "touch", str(started)))
    assert done.returncode == 6
    assert "toolvet: stdout is closed" in done.stderr
    assert not started.exists()


def test_a_proxy_without_a_stderr_keeps_that_descriptor_free_of_its_files(folder: Path) -> None:
    """A record that got the number of stderr would get what the server writes there."""
    server = "import os, sys; os.write(2, b'words for stderr'); sys.stdin.read()"
    words = ("proxy", "--store", "proxy.jsonl", "--", sys.executable, "-c", server)
    assert run(folder, "2>&-", words).returncode == 0
    assert not any(b"words for stderr" in found.read_bytes() for found in folder.iterdir())
