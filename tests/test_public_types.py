"""mypy and basedpyright know every public name and its types. `make lint` installs them and runs this file."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.test_public_api import LISTED, ROOT

BIN = Path(sys.executable).parent

# Every public name through both ways to import it, one call whose types matter, and one name that does not exist.
USES = "\n".join(
    [
        "import toolvet",
        *(f"from toolvet import {name} as one_{number}" for number, name in enumerate(LISTED)),
        "print(",
        *(f"    one_{number}, toolvet.{name}," for number, name in enumerate(LISTED)),
        ")",
        'valid: bool = toolvet.check_arguments({"name": "t"}, {}).valid',
    ]
)
MISUSES = ("toolvet.check_nothing", "toolvet.check_answer(1)", "toolvet.check_answer('x').scores")


def type_errors(command: list[str], file: Path) -> str:
    """The messages of a type checker about the file."""
    done = subprocess.run([*command, str(file)], cwd=ROOT, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def mypy(file: Path) -> str:
    options = ["--strict", "--no-incremental", "--cache-dir", str(file.parent / "cache"), "--follow-imports", "silent"]
    return type_errors([str(BIN / "mypy"), "--config-file", "", *options], file)


def basedpyright(file: Path) -> str:
    settings: dict[str, object] = {"typeCheckingMode": "strict", "include": [file.name]}
    settings |= {"venvPath": str(BIN.parents[1]), "venv": BIN.parent.name, "extraPaths": [str(ROOT / "src")]}
    (file.parent / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    return type_errors([str(BIN / "basedpyright"), "--project"], file.parent)


@pytest.mark.parametrize("checker", [mypy, basedpyright])
def test_a_type_checker_knows_every_public_name_and_no_other(checker: Callable[[Path], str], tmp_path: Path) -> None:
    if not (BIN / checker.__name__).exists():
        pytest.skip(f"needs {checker.__name__}: make lint installs it and runs this test")
    file = tmp_path / "uses.py"
    file.write_text(f"{USES}\n", encoding="utf-8")
    assert checker(file) == ""
    file.write_text("\n".join([USES, *(f"print({misuse})" for misuse in MISUSES)]) + "\n", encoding="utf-8")
    said = checker(file)
    lines = len(USES.splitlines())
    for number, misuse in enumerate(MISUSES, start=lines + 1):
        assert f"uses.py:{number}:" in said, f"{misuse} is not an error: {said}"
    assert "uses.py:1:" not in said
