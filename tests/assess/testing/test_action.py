"""The GitHub Action: its script, run as GitHub runs it, and the hook for pre-commit."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
BAD_SERVER = f"{sys.executable} {ROOT}/examples/bookshop_server.py"
SERVER = f"{sys.executable} {ROOT}/tests/assess/testing/good_server.py"
yaml = pytest.importorskip("yaml", reason="needs PyYAML: pip install pyyaml")


def action() -> Any:
    return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def run(tmp_path: Path, **inputs: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    (step,) = [step for step in action()["runs"]["steps"] if step.get("id") == "assess"]
    out, summary = tmp_path / "output", tmp_path / "summary"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "toolvet").write_text(f'#!/bin/sh\nexec {sys.executable} -m toolvet "$@"\n')
    (tmp_path / "bin" / "toolvet").chmod(0o755)
    environment = {
        **os.environ,
        "PATH": os.pathsep.join((str(tmp_path / "bin"), str(Path(sys.executable).parent), os.environ["PATH"])),
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(out),
        "GITHUB_STEP_SUMMARY": str(summary),
        "SERVER": SERVER,
        "OPTIONS": "--timeout 2 --tool 'search_*'",
        "FAIL_ON": "",
        "FAIL_UNDER": "",
        "BASELINE": "",
        **inputs,
    }
    bash = shutil.which("bash") or pytest.skip("needs bash")
    # As GitHub starts a step with `shell: bash`.
    words = [bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    told = dict(line.split("=", 1) for line in out.read_text().splitlines()) if out.exists() else {}
    return done, told


def test_a_good_tool_passes_and_leaves_all_reports(tmp_path: Path) -> None:
    done, told = run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "::notice title=" in done.stdout
    assert float(told["score"]) > 80
    assert json.loads(Path(told["badge"]).read_text())["label"] == "toolvet"
    assert json.loads(Path(told["report"]).with_suffix(".sarif").read_text())["version"] == "2.1.0"
    assert "search_books" in (tmp_path / "summary").read_text()


def test_the_thresholds_fail_the_job_after_the_reports(tmp_path: Path) -> None:
    done, told = run(tmp_path, SERVER=BAD_SERVER, FAIL_UNDER="90", OPTIONS="--timeout 2 --tool get_price")
    assert done.returncode == 1, done.stdout
    assert Path(told["report"]).exists()


def test_what_an_input_holds_is_not_run(tmp_path: Path) -> None:
    done, _ = run(tmp_path, OPTIONS="--tool '$(touch pwned)' --timeout 2", FAIL_ON="`touch pwned`")
    assert done.returncode == 2
    assert not (tmp_path / "pwned").exists()


def test_the_step_that_uploads_takes_what_the_script_writes() -> None:
    (upload,) = [step for step in action()["runs"]["steps"] if "upload-sarif" in step.get("uses", "")]
    assert upload["with"]["sarif_file"].endswith("/toolvet/report.sarif")
    assert set(action()["outputs"]) == {"score", "report", "badge"}


def test_the_hook_runs_the_command(tmp_path: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    words = [*hook["entry"].split(), "--timeout", "2", "--tool", "search_books", "--", *SERVER.split()]
    assert (
        subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, capture_output=True, check=False).returncode == 0
    )


# As `gh api` answers and is called: pages of comments in a file, and each writing call on a line of another.
GH = """#!{python}
import json, sys
words = sys.argv[1:]
assert words[0] == "api"
if "--slurp" in words:
    print(open("comments.json").read())
else:
    with open("written", "a") as file:
        body = open(words[-1].removeprefix("body=@")).read()
        file.write(json.dumps([words[words.index("--method") + 1], words[-3], body]) + "\\n")
"""


def test_the_action_edits_its_own_comment_and_no_other(tmp_path: Path) -> None:
    (step,) = [each for each in action()["runs"]["steps"] if "gh api" in each.get("run", "")]
    bash = shutil.which("bash") or pytest.skip("needs bash")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gh").write_text(GH.format(python=sys.executable))
    (tmp_path / "bin" / "gh").chmod(0o755)
    (tmp_path / "toolvet").mkdir()
    (tmp_path / "toolvet" / "report.md").write_text("# the report")

    def commented(comments: list[dict[str, Any]], server: str = "python a.py") -> list[str]:
        (tmp_path / "comments.json").write_text(json.dumps([comments[:1], comments[1:]]))
        environment = {
            **os.environ,
            "PATH": os.pathsep.join((str(tmp_path / "bin"), str(Path(sys.executable).parent), os.environ["PATH"])),
            "RUNNER_TEMP": str(tmp_path),
            "GITHUB_REPOSITORY": "o/r",
            "PULL_REQUEST": "7",
            "SERVER": server,
        }
        words = [bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        subprocess.run(words, env=environment, cwd=tmp_path, check=True)
        written: list[str] = json.loads((tmp_path / "written").read_text().splitlines()[-1])
        return written

    def by(number: int, body: str, login: str = "github-actions[bot]") -> dict[str, Any]:
        return {"id": number, "user": {"login": login}, "body": body}

    others = [by(1, "coverage 90 %"), by(2, "thanks", "ada")]
    method, place, body = commented(others)
    assert (method, place) == ("POST", "repos/o/r/issues/7/comments")
    mark = body.splitlines()[0]
    assert body == f"{mark}\n# the report"
    faked = by(4, body, "mallory")
    assert commented([*others, by(3, body), faked])[:2] == ["PATCH", "repos/o/r/issues/comments/3"]
    assert commented([*others, by(3, body), faked], "python b.py")[:2] == ["POST", "repos/o/r/issues/7/comments"]


def test_the_action_installs_its_own_version() -> None:
    (step,) = [each for each in action()["runs"]["steps"] if "pip install" in each.get("run", "")]
    assert step["env"]["OWN"] == "${{ github.action_path }}"
    assert step["run"].endswith('"${VERSION:-$OWN}"')
    assert action()["inputs"]["version"]["default"] == ""
