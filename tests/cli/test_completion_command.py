"""`toolvet completion`: the scripts, and what bash makes of its own."""

import shutil
import subprocess
import sys

import pytest


def script(shell: str) -> str:
    words = [sys.executable, "-m", "toolvet", "completion", shell]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def completed(line: str, source: str) -> list[str]:
    """What bash offers for the last word of a line."""
    bash = shutil.which("bash") or pytest.skip("needs bash")
    words = line.split(" ")
    ask = f"COMP_WORDS=({' '.join(map(repr, words))}); COMP_CWORD={len(words) - 1}; _toolvet; echo ${{COMPREPLY[@]}}"
    done = subprocess.run([bash, "-c", f"{source}\n{ask}"], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_bash_completes_commands_and_options() -> None:
    source = script("bash")
    assert completed("toolvet as", source) == ["assess"]
    assert {"answer", "arguments", "result"} <= {*completed("toolvet check ", source)}
    assert completed("toolvet assess --fail-u", source) == ["--fail-under"]


def test_a_shell_that_is_not_known_is_refused() -> None:
    words = [sys.executable, "-m", "toolvet", "completion", "tcsh"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "bash" in done.stderr
