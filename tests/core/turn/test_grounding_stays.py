"""The findings in whole answers, to the byte: as they are, with other figures, after calls that failed.

A change of phrases, weights or wording moves some. Then look at what moved, and write the digests again:
`TOOLVET_UPDATE_SNAPSHOTS=1 pytest tests/core/turn/test_grounding_stays.py`.
"""

import json
import os
import re
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from toolvet.core.turn.ledger import ToolCall, TurnWitness
from toolvet.core.turn.ledger.claims import said
from toolvet.core.turn.ledger.evidence import Evidence
from toolvet.core.turn.ledger.mentions import mentions_in
from toolvet.core.turn.ledger.outcome import TurnVocabulary, outcome_of

KEPT = Path(__file__).parent / "whole_answers.json"
ROWS: list[dict[str, object]] = json.loads(KEPT.read_text(encoding="utf-8"))
PART = 15


def other_figures(text: str) -> str:
    """The same answer with another last digit in each number."""
    return re.sub(r"[0-9](?![0-9])", lambda found: str((int(found[0]) + 1) % 10), text)


def failing(call: ToolCall) -> ToolCall:
    """The same call, which the tool refused."""
    text = f"Error: {call.name} is not allowed here"
    return ToolCall(call.name, call.arguments, {"content": [{"type": "text", "text": text}], "isError": True})


def digest(row: dict[str, object]) -> str:
    """The findings in one answer, in four ways, and the values read on the way there."""
    text, question = str(row["text"]), row["question"]
    calls = msgspec.convert(row["calls"], list[ToolCall])
    failed = [failing(call) for call in calls]
    found: list[object] = [
        TurnWitness(made, question).compare(said_so, ())  # type: ignore[arg-type]
        for said_so, made in (
            (text, calls),
            (other_figures(text), calls),
            (text, failed),
            (text, [*failed[:1], *calls]),
        )
    ]
    outcomes = [outcome_of(call) for call in calls]
    claims = said(text, words=TurnVocabulary(outcomes), moot=frozenset())
    evidence = Evidence(outcomes, question)  # type: ignore[arg-type]
    read = [evidence.dates, evidence.days, evidence.times, [*mentions_in(text)], claims, outcomes]
    written = msgspec.json.encode([*found, *read], enc_hook=lambda value: type(value).__name__, order="deterministic")
    return sha256(written).hexdigest()[:12]


@pytest.mark.parametrize("start", range(0, len(ROWS), PART))
def test_what_is_found_in_an_answer_stays(start: int) -> None:
    rows = ROWS[start : start + PART]
    found = [digest(row) for row in rows]
    if os.environ.get("TOOLVET_UPDATE_SNAPSHOTS"):
        for row, digits in zip(rows, found, strict=True):
            row["found"] = digits
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS)
        KEPT.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    moved = [row["text"] for row, digits in zip(rows, found, strict=True) if row["found"] != digits]
    assert moved == []
