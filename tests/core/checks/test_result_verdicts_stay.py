"""The verdicts on whole results, to the byte: on what every phrase hits and misses, in eleven answers, and every shape.

A change of phrases, of weights or of wording moves some. Then look at what moved, and write the digests again:
`TOOLVET_UPDATE_SNAPSHOTS=1 pytest tests/core/checks/test_result_verdicts_stay.py`.
"""

import json
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from toolvet import check_result
from toolvet.core.checks.result.phrases import read_sources
from toolvet.core.checks.result.shapes import result_shapes

KEPT = Path(__file__).parent / "results.json"
SOURCES = {source.name.removeprefix("patterns/"): source for source in read_sources()}
PROGRAM = "import json\nprint(json.load(open('/data/report.json'))['total'])\n"
RUNNER: dict[str, Any] = {
    "name": "run_python",
    "description": "Runs a Python program.",
    "inputSchema": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
}
LOOKER: dict[str, Any] = {"name": "get_report", "outputSchema": {"type": "object", "required": ["total"]}}


def text_result(text: str, *, flagged: bool) -> dict[str, object]:
    return {"content": [{"type": "text", "text": text}], "isError": flagged}


def answers(text: str) -> Iterator[object]:
    """The verdicts on a text that comes back as an error, as a success, from a program, wrapped, and amid others."""
    sent = {"id": "R-17", "path": "/data/report.json"}
    yield check_result("get_report", sent, text_result(text, flagged=True))
    yield check_result(LOOKER, sent, text_result(text, flagged=False))
    yield check_result("get_report", sent, text_result(text, flagged=False))
    yield check_result(RUNNER, {"code": PROGRAM}, text_result(text, flagged=True))
    yield check_result(RUNNER, {"code": PROGRAM}, text_result(text, flagged=False))
    yield check_result("report", None, text_result(json.dumps({"status": "failed", "error": text}), flagged=False))
    yield check_result("report", sent, {"content": [], "structuredContent": {"success": False, "message": text}})
    trace = f'Traceback (most recent call last):\n  File "/srv/app.py", line 7, in get\n{text}'
    yield check_result("delete_report", sent, text_result(trace, flagged=True), "error_case")
    noted = f"Note 1\n\n{'Two reports were read. ' * 12}\n{text}\nand more"
    yield check_result("report", sent, text_result(noted, flagged=True), strong_patterns=["no such lamp"])
    yield check_result("report", {"q": text}, text_result(f"Error: {text}", flagged=False), failure_patterns=["found"])
    yield check_result("report", sent, text, threshold=0.4, exceptions=["denied"], factors={"own": ("not", 3)})


def digest(verdicts: Iterator[object]) -> str:
    return sha256("\n".join(map(repr, verdicts)).encode()).hexdigest()[:12]


def of_phrases(name: str) -> dict[str, str]:
    """The digests of a file: of the first text that each phrase hits, and of the first that it misses."""
    return {
        f"{name} {number} {word}": digest(answers(texts[0]))
        for number, phrase in enumerate(SOURCES[name].file.phrase)
        for word, texts in (("hits", phrase.hits), ("misses", phrase.misses))
        if texts
    }


def of_shapes() -> dict[str, str]:
    """The digests of each shape's own failures, and of what only looks like it."""
    return {
        f"{shape.name} {word} {number}": digest(
            iter([check_result("forecast", {"city": "Atlantis"}, json.loads(text))])
        )
        for shape in result_shapes()
        for word, texts in (("fails", shape.fails), ("misses", shape.misses))
        for number, text in enumerate(texts)
    }


@pytest.fixture(scope="module")
def kept() -> dict[str, str]:
    """The digests of the last time."""
    if os.environ.get("TOOLVET_UPDATE_SNAPSHOTS"):
        every = {name: digests for source in SOURCES for name, digests in of_phrases(source).items()} | of_shapes()
        KEPT.write_text(json.dumps(every, indent=1) + "\n", encoding="utf-8")
    return json.loads(KEPT.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_the_verdicts_on_what_a_phrase_hits_and_misses_stay(name: str, kept: dict[str, str]) -> None:
    found = of_phrases(name)
    assert [each for each in found if kept.get(each) != found[each]] == []


def test_the_verdicts_on_results_of_all_shapes_stay(kept: dict[str, str]) -> None:
    found = of_shapes()
    assert [each for each in found if kept.get(each) != found[each]] == []


def test_nothing_is_kept_that_is_no_longer_there(kept: dict[str, str]) -> None:
    named = {f"{name} {number}" for name, source in SOURCES.items() for number in range(len(source.file.phrase))}
    assert {each.rpartition(" ")[0] for each in kept} - named <= {
        f"{shape.name} {word}" for shape in result_shapes() for word in ("fails", "misses")
    }
