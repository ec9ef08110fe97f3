r"""Half of a surrogate pair (`\ud800`) anywhere in a server's words: a finding, and every report is written."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

SERVER = str(Path(__file__).parents[1] / "servers" / "half_characters.py")
FORMATS = ("github", "html", "json", "junit", "markdown", "sarif")


@contextmanager
def target(transport: str, *words: str) -> Iterator[list[str]]:
    """The words with which toolvet reaches the server."""
    command = [sys.executable, SERVER, *words]
    if transport == "stdio":
        yield ["--", *command]
        return
    with subprocess.Popen([*command, "--http"], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield [server.stdout.readline().strip()]
        server.kill()


def assessed(folder: Path, transport: str, *words: str) -> Any:
    """The JSON report of the server in this mode, whose seven reports were all written."""
    reports = [word for name in FORMATS for word in ("--report", f"{name}={folder / name}")]
    with target(transport, *words) as server:
        command = [sys.executable, "-m", "toolvet", "assess", "--no-transport-checks", "--fail-on", "never"]
        ended = subprocess.run([*command, *reports, *server], capture_output=True, cwd=folder, check=True)
    ended.stdout.decode()
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in FORMATS}
    assert all(texts[name] for name in FORMATS)
    ET.fromstring(texts["junit"])  # noqa: S314 - our own output.
    json.loads(texts["sarif"])
    return json.loads(texts["json"])


def found(report: Any, check: str) -> list[str]:
    return [finding["message"] for finding in report["findings"] if finding["id"] == check]


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_half_characters_everywhere_are_findings(tmp_path: Path, transport: str) -> None:
    report = assessed(tmp_path, transport)
    assert report["server"]["name"] == "half \ufffd"
    assert found(report, "opening-half-character")
    assert "half of a surrogate pair" in found(report, "tool-list-broken")[0]
    assert len(found(report, "listing-broken")) == 2
    assert "half of a surrogate pair" in found(report, "answer-malformed")[0]


@pytest.mark.parametrize(
    ("place", "check"),
    [
        ("initialize", "opening-half-character"),
        ("list", "tool-list-broken"),
        ("call", "answer-malformed"),
        ("error", "answer-malformed"),
        ("resource", "listing-broken"),
        ("prompt", "listing-broken"),
    ],
)
def test_half_a_character_in_one_place_is_a_finding_there_and_hides_no_tool(
    tmp_path: Path, place: str, check: str
) -> None:
    report = assessed(tmp_path, "stdio", "--only", place)
    assert len(report["tools"]) == 2
    assert found(report, check)
    others = {"opening-half-character", "tool-list-broken", "listing-broken"} - {check}
    assert not [message for other in others for message in found(report, other)]
