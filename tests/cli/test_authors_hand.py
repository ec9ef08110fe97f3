"""The user's options for checks and thresholds, and that all outputs agree on "failed"."""

import io
import itertools
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from msgspec import structs
from rich.console import Console
from tests.cli.test_assess_command import complaint, scripted, toolvet

from toolvet.assess.report import load, print_report, render
from toolvet.assess.rules import cards
from toolvet.cli import run

# One warning or note about the definition, and one error about its only call.
TOOL = {
    "name": "get_shelf",
    "description": "Finds the shelf of a book.",
    "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}}},
}
BROKEN = {
    "content": [{"type": "text", "text": 'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 1'}]
}
RANK = {"info": 0, "warning": 1, "error": 2, "never": 3}


COMMAND = ("assess", "-q", "--tool", "get_shelf", "--arguments", '{"title": "x"}')
LOUD = tuple(word for word in COMMAND if word != "-q")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], list[dict[str, str]]]:
    """The script of the server, and a report of it without any options."""
    folder = tmp_path_factory.mktemp("base")
    server = scripted(folder, [TOOL], get_shelf=BROKEN)
    assert run([*COMMAND, f"--report=json={folder}/base.json", *server]) == 1
    findings = json.loads((folder / "base.json").read_bytes())["findings"]
    assert {finding["severity"] for finding in findings} >= {"error", "warning"}
    return folder, server, findings


COMBINATIONS = list(
    itertools.product(("error", "warning", "info", "never"), (False, True), (False, True), (None, 0, 100))
)


@pytest.mark.parametrize(("fail_on", "with_baseline", "ignoring", "fail_under"), COMBINATIONS)
def test_exit_code_junit_sarif_baseline_and_score_agree(  # noqa: PLR0917 - four choices.
    fail_on: str,
    with_baseline: bool,  # noqa: FBT001 - a choice
    ignoring: bool,  # noqa: FBT001 - a choice
    fail_under: int | None,
    base: tuple[Path, list[str], list[dict[str, str]]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder, server, findings = base
    errors = sorted({finding["id"] for finding in findings if finding["severity"] == "error"})
    words = [*COMMAND, "--fail-on", fail_on]
    words += [word for check in errors for word in ("--ignore", f"{check}:get_*")] if ignoring else []
    words += ["--baseline", f"{folder}/base.json"] if with_baseline else []
    words += ["--fail-under", str(fail_under)] if fail_under is not None else []
    for name in ("json", "junit", "sarif", "markdown", "github", "html"):
        words += ["--report", f"{name}={tmp_path}/{name}"]
    code = run([*words, *server])
    said = capsys.readouterr().err

    report = json.loads((tmp_path / "json").read_bytes())
    left = [] if with_baseline else [f for f in findings if not (ignoring and f["severity"] == "error")]
    assert [(f["id"], f["severity"]) for f in report["findings"]] == [(f["id"], f["severity"]) for f in left]
    assert len(report["suppressed"]) == (len([f for f in findings if f["severity"] == "error"]) if ignoring else 0)
    under = fail_under is not None and report["score"] < fail_under
    assert code == int(under or any(RANK[f["severity"]] >= RANK[fail_on] for f in left))
    assert (f"the score {report['score']:g} is below --fail-under 100" in said) == under

    suites = ET.parse(tmp_path / "junit").getroot()  # noqa: S314 - our own document
    assert (int(suites.get("failures", "")) > 0) == bool(code)
    results = json.loads((tmp_path / "sarif").read_bytes())["runs"][0]["results"]
    levels = {"error": "error", "warning": "warning", "info": "note"}
    assert sorted(r["level"] for r in results) == sorted(levels[f["severity"]] for f in left)
    assert len((tmp_path / "github").read_text().splitlines()) >= len(left)
    if ignoring:
        assert "ignored" in (tmp_path / "markdown").read_text()


def test_an_ignored_error_no_longer_lowers_the_score(
    base: tuple[Path, list[str], list[dict[str, str]]], tmp_path: Path
) -> None:
    _, server, findings = base
    severity = [w for f in findings if f["severity"] == "error" for w in ("--severity", f"{f['id']}=info")]
    done = toolvet(*LOUD, *severity, *server, cwd=tmp_path)
    assert done.returncode == 0
    assert "✖" not in done.stdout.partition("Score")[2]


def test_checks_of_the_settings_file(base: tuple[Path, list[str], list[dict[str, str]]], tmp_path: Path) -> None:
    _, server, findings = base
    error = next(f["id"] for f in findings if f["severity"] == "error")
    others = sorted({f["id"] for f in findings} - {error})
    settings = f'[checks]\nignore = ["{error}"]\n\n[checks.severity]\n' + "".join(f'{i} = "info"\n' for i in others)
    (tmp_path / "toolvet.toml").write_text(settings, encoding="utf-8")
    done = toolvet(*LOUD, "--fail-on=warning", *server, cwd=tmp_path)
    assert done.returncode == 0
    assert "1 ignored" in done.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--ignore", "path-leakd:get_x"], "--ignore: no check is named 'path-leakd'; did you mean path-leaked"),
        (["--severity", "path-leakd=info"], "--severity: no check is named 'path-leakd'; did you mean path-leaked"),
        (["--severity", "path-leaked=fatal"], "CHECK=error, CHECK=warning or CHECK=info"),
        (["--sandbox"], "--sandbox is for a command"),
    ],
)
def test_a_wrong_word_is_a_usage_error(words: list[str], expected: str, tmp_path: Path) -> None:
    done = toolvet("assess", *words, "http://127.0.0.1:9/mcp", cwd=tmp_path)
    assert done.returncode == 2
    assert expected in complaint(done)


def test_included_tools_are_called(tmp_path: Path) -> None:
    tools: list[object] = [{**TOOL, "name": name} for name in ("get_shelf", "make_shelf", "make_book")]
    server = scripted(tmp_path, tools, **{"*": {"content": [{"type": "text", "text": "done"}]}})
    plain = toolvet("assess", "--fail-on=never", *server, cwd=tmp_path).stdout
    assert "--include make_shelf calls it" in re.sub(r"\s+", " ", plain)
    included = toolvet("assess", "--fail-on=never", "--include", "make_s*", *server, cwd=tmp_path).stdout
    assert "2 of 3 tools tested" in included
    (tmp_path / "toolvet.toml").write_text('[assess]\ninclude = ["make_*"]\n', encoding="utf-8")
    assert "3 of 3 tools tested" in toolvet("assess", "--fail-on=never", *server, cwd=tmp_path).stdout


# ── what people copy and read ──


@pytest.mark.parametrize("width", [40, 50, 80, 200])
def test_commands_are_printed_without_line_breaks(
    width: int, base: tuple[Path, list[str], list[dict[str, str]]]
) -> None:
    folder, _, findings = base
    out = io.StringIO()
    print_report(load((folder / "base.json").read_bytes(), ""), Console(file=out, width=width))
    assert f"    run  {findings[0]['reproduce']}\n" in out.getvalue()
    assert re.search(r"^get_shelf\b", out.getvalue(), re.MULTILINE)


def test_markdown_holds_nothing_of_a_server_that_steers(base: tuple[Path, list[str], list[dict[str, str]]]) -> None:
    evil = "::set-output name=x::y\n  ::add-mask::y\n# Headline\n<script>alert(1)</script>\n##[error]x"
    (report,) = load((base[0] / "base.json").read_bytes(), "")
    findings = [
        structs.replace(finding, tool=f"get_{evil}", message=evil, evidence=evil, reproduce=evil, remedy=evil, why=evil)
        for finding in report.findings
    ]
    tools = [structs.replace(tool, name=evil, skipped=skipped) for tool in report.tools for skipped in (None, evil)]
    text = render("markdown", [structs.replace(report, findings=findings, tools=tools)], cards())
    assert "set-output" in text
    assert not re.search(r"^\s*(?:::|##\[|# )", text, re.MULTILINE)
    assert not re.search(r"<script", text)


def test_markdown_keeps_the_code_in_our_own_sentences(base: tuple[Path, list[str], list[dict[str, str]]]) -> None:
    (report,) = load((base[0] / "base.json").read_bytes(), "")
    finding = structs.replace(report.findings[0], message="`isError` is *not* set, `a` and ``b")
    text = render("markdown", [structs.replace(report, findings=[finding])], cards())
    assert r"`isError` is \*not\* set, `a` and \`\`b" in text


def test_a_closed_stdout_is_no_bug_of_ours(base: tuple[Path, list[str], list[dict[str, str]]], tmp_path: Path) -> None:
    _, server, _ = base
    words = [sys.executable, "-m", "toolvet", *COMMAND, "--fail-on=never", *server]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    loud = [word for word in words if word != "-q"]
    done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *loud], capture_output=True, text=True, check=False)
    # Here the report is lost: `tests/cli/test_streams.py` has the other commands.
    assert done.returncode == 6
    assert "stdout is closed" in done.stderr
    assert "Traceback" not in done.stderr


def test_certificates_that_cannot_be_read_are_a_usage_error(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "toolvet", "assess", "https://books.invalid/mcp"],
        cwd=tmp_path,
        env={**os.environ, "SSL_CERT_FILE": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "SSL_CERT_FILE=/nonexistent cannot be read" in complaint(done)


def test_values_of_variables_are_in_no_report(tmp_path: Path) -> None:
    server = scripted(tmp_path, [TOOL], get_shelf={"content": [{"type": "text", "text": "bad key ENVVALUE777"}]})
    words = [f"--report={name}={tmp_path}/{name}" for name in ("json", "junit", "sarif", "markdown", "github", "html")]
    done = toolvet("assess", "--env", "MY_API_KEY=ENVVALUE777", "--fail-on=never", *words, *server, cwd=tmp_path)
    assert "ENVVALUE777" not in done.stdout + done.stderr
    for name in ("json", "junit", "sarif", "markdown", "github", "html"):
        assert "ENVVALUE777" not in (tmp_path / name).read_text(encoding="utf-8")
    assert "bad key [redacted]" in (tmp_path / "json").read_text(encoding="utf-8")
