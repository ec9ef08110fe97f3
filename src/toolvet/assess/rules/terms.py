"""The words of a report that judge (status, score, confidence), each defined once for `explain`, docs and legends."""

from collections.abc import Mapping
from typing import Final

import msgspec


class Term(msgspec.Struct, frozen=True, kw_only=True):
    """A word of the report: `brief` is one line for a legend, `text` the full definition in paragraphs."""

    id: str
    title: str
    brief: str
    text: tuple[str, ...]


STATUSES: Final[Mapping[str, str]] = {
    "fully working": "every scenario passed, and at least one valid call succeeded",
    "partially working": "more than half of the scenarios passed",
    "connectivity only": "it answers, but at most half of the scenarios passed, or valid calls failed by its fault",
    "broken": "no scenario was answered",
    "not exercised": "no valid call succeeded, and nothing shows a fault of the tool",
    "untested": "not called",
}


def _paragraphs(text: str) -> tuple[str, ...]:
    return tuple(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))


_STATUS: Final = Term(
    id="status",
    title="How well a tool or a server works",
    brief="`toolvet explain status` defines each word",
    text=(
        *_paragraphs("""
            A scenario is one call. It passes when what came back is what should come back: an answer, or a refusal
            where the call was wrong. A refusal of a valid call (not found, not allowed) passes too, but it is not a
            success.
        """),
        *(f"{word}: {meaning}." for word, meaning in STATUSES.items()),
        *_paragraphs("""
            A tool that is not exercised says what was tried and what would help: a fixture, a variable, a running
            service. Scenarios that met an outage (a dead host, a missing program, variable or credential) count
            neither way.

            A server is fully working when all its exercised tools are, these are most of the called ones, and no tool
            has a finding of severity error. It is partially working when any tool works or answered a valid call with
            a success, connectivity only when its tools answer and none of that is so, and broken when none answers.
        """),
    ),
)
_SCORE: Final = Term(
    id="score",
    title="0 to 100 for a server",
    brief="the mean over the called tools, and how many of all tools it rests on; `toolvet explain score`",
    text=_paragraphs("""
        A tool scores four fifths for the share of its scenarios that passed and one fifth for its error messages; where
        no message could be scored, the scenarios alone count. With a finding of severity error, or without a success,
        it scores at most 50. A called tool that was not exercised counts 50, unless it met an outage. A tool that
        succeeded with a fixture counts at least 50, so that a fixture does not lower the score. A server scores the
        mean of its called tools.

        The score says how many tools it rests on: 92/100 on 15 of 21 tools means that 15 were exercised. If these are
        fewer than half of the tools, it is at most 90. If they are fewer than a third, it is not a grade: reports show
        it without colour and bar. A server without an exercised tool has no score, and --fail-under then fails.

        Not counted: scenarios that met an outage, resources and prompts. Those are reported as read or fetched; their
        findings count for --fail-on.

        Error messages are scored 0 to 100 by whether they name the argument, say what was received and expected, list
        what is allowed and say what to do. Only words of the author count: not those that a framework wrote (pydantic,
        Zod, an SDK), and not those about an outage.

        A baseline keeps findings out of a report; the score stays the same.
    """),
)
_CONFIDENCE: Final = Term(
    id="confidence",
    title="How sure we are, 0 to 100",
    brief="how likely the tool works, judged by its answers; `toolvet explain confidence`",
    text=_paragraphs("""
        Of a tool: the mean over its answers of the documented points for what each had or lacked, weighted by what the
        answer is (fully working 1, partially working 0.7, connectivity only 0.3, an error 0.2, broken 0). A call
        without an answer counts 0; an outage is left out. These are points, not a probability. A tool that was not
        exercised shows none.

        Of a finding: how sure we are that a person would agree. It is apart from the severity, which says how bad the
        thing is if it is so. docs/accuracy.md compares it with findings that were read.
    """),
)

TERMS: Final[Mapping[str, Term]] = {term.id: term for term in (_STATUS, _SCORE, _CONFIDENCE)}
