"""CI starts as a newcomer does: an earlier step would hide what the README's two commands lack on a fresh machine."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
RUN = ROOT / ".ci" / "run"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs bash")

# Writes what it is asked for and what it finds, and fails at `make test`, so nothing after it runs.
RECORDER = """#!/bin/sh
{
  echo "make $*"
  echo "files $(git status --porcelain --ignored | tr '\\n' ' ')"
  echo "home $(ls -A "$HOME")"
  echo "names $(env | sed 's/=.*//' | grep -vxE '_|PWD|OLDPWD|SHLVL' | sort | tr '\\n' ' ')"
} >> "$PIP_LOG_OF_THE_TEST"
[ "$1" = assess ]
"""
FORBIDDEN = '#!/bin/sh\necho "$0 $*" >> "$PIP_LOG_OF_THE_TEST"\n'


def test_the_first_step_of_ci_is_the_newcomer_and_nothing_installs_before_it() -> None:
    steps = [line.strip() for line in RUN.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    before = steps[: steps.index(".ci/newcomer")]
    harmless = ("set -euo pipefail", 'cd "$(dirname "$0")/.."', "place=$(mktemp -d)", "trap 'rm -rf \"$place\"' EXIT")
    assert [step for step in before if step not in (*harmless, 'export PIP_CACHE_DIR="$place/pip"')] == []


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the repository: CI clones it")
def test_a_newcomer_has_an_untouched_clone_an_empty_home_and_the_two_commands_of_the_readme(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("make", "pip", "python3", "npm", "apt-get"):
        (programs / name).write_text(RECORDER if name == "make" else FORBIDDEN, encoding="utf-8")
        (programs / name).chmod(0o755)
    log = tmp_path / "log"
    # pip's variables are handed on, as a machine behind a mirror needs it; a developer's others are not.
    given = {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PIP_LOG_OF_THE_TEST": str(log),
        "TOOLVET_X": "1",
    }
    ended = subprocess.run(
        [shutil.which("bash") or "bash", str(RUN)], env=given, capture_output=True, text=True, check=False
    )
    assert ended.returncode != 0, "the recorder fails at make test, so CI fails there"
    lines = log.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.match("files|home|names", line)] == ["make assess", "make test"]
    assert {line for line in lines if re.match("files|home", line)} == {"files ", "home "}
    package_managers = "(?:PIP|UV|NPM|npm|SSL|REQUESTS|NODE|http|https|no)_[A-Za-z_]*"
    for line in lines:
        if line.startswith("names "):
            others = [name for name in line.split()[1:] if not re.fullmatch(package_managers, name)]
            assert others == ["HOME", "LANG", "PATH", "TERM"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^make (\w+)", readme, re.MULTILINE) == ["assess", "test"]


def test_every_action_is_pinned_to_a_commit_and_names_its_version() -> None:
    files = [ROOT / "action.yml", *(ROOT / ".github" / "workflows").glob("*.yml")]
    used = [line for file in files for line in re.findall(r"^ *-? *uses: (.*)$", file.read_text("utf-8"), re.MULTILINE)]
    assert len(used) > 10
    assert [line for line in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)] == []
    # One action, one version.
    assert len({line.partition("@")[0].partition("/upload")[0] for line in used}) == len(set(used))


def test_the_classifiers_are_the_pythons_and_systems_that_ci_runs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    kinds = project["classifiers"]
    said = {
        each.rpartition(" ")[2] for each in kinds if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", each)
    }
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
    for run in re.findall(r"python: \[(.*)\]", text):
        assert set(re.findall(r"3\.\d+", run)) == said
    systems = {"ubuntu": "Linux", "macos": "MacOS", "windows": "Windows"}
    runs = {name for word, name in systems.items() if f"{word}-latest" in text}
    assert {each.rpartition(" ")[2] for each in kinds if each.startswith("Operating System")} == runs


def test_an_image_is_built_without_what_git_ignores_in_this_folder() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").split()
    names = [each.strip("/") for each in (ROOT / ".gitignore").read_text("utf-8").split()]
    made = {each for each in names if each[0] == "." or each in ("dist", "build", "report.html", "demo.db*")}
    assert made <= {*ignored, ".venv"}
    assert {".git", ".venv*"} <= set(ignored)
