"""An assessment holds a tool to the envelopes that it answers with, and leaves ordinary JSON alone."""

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from toolvet import not_found_error, success_response
from toolvet.assess import Options, Report, assess
from toolvet.mcp.transport import StdioTarget

SERVER = Path(__file__).parents[1] / "servers" / "scripted.py"
SEARCH = {
    "name": "search",
    "description": "Search the shelves.",
    "inputSchema": {"type": "object", "properties": {"query": {"type": "string", "description": "Words."}}},
}
GOOD = success_response({"books": ["Emma"], "count": 1}, request_id="r1").to_dict()


def envelope_findings(folder: Path, answer: Mapping[str, Any]) -> list[tuple[str, str]]:
    script = folder / "script.json"
    script.write_text(json.dumps({"tools": [SEARCH], "answers": {"search": answer}}), encoding="utf-8")
    target = StdioTarget(command=sys.executable, args=(str(SERVER), str(script)))
    report: Report = asyncio.run(assess(target, Options(timeout=1.0)))
    assert report.tools
    return [(finding.id, finding.pointer) for finding in report.findings if finding.id.startswith("envelope-")]


def as_text(envelope: object, **more: object) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": json.dumps(envelope)}], **more}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (as_text(GOOD), []),
        (as_text(GOOD, structuredContent=GOOD), []),
        (as_text(not_found_error("Book", "7").to_dict(), isError=True), []),
        (as_text({**GOOD, "data": ["Emma"]}), [("envelope-malformed", "/data")]),
        (as_text(GOOD, isError=True), [("envelope-contradiction", "/success")]),
        (as_text({"success": True, "data": ["Emma"], "error": None}), []),
        (as_text({"success": True, "data": ["Emma"], "meta": {"version": "2"}}), []),
    ],
    ids=["good", "good, twice", "a failure", "data in a list", "success that is an error", "ordinary", "versioned"],
)
def test_what_an_assessment_says_of_envelopes(
    tmp_path: Path, answer: Mapping[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert envelope_findings(tmp_path, answer) == expected
