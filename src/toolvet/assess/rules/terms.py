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
            A scenario is one call. It passes when the tool answers as it should: with a result, or with a refusal if
            the call was wrong. A refused valid call (not found, not allowed) passes too, but it is not a success.
        """),
        *(f"{word}: {meaning}." for word, meaning in STATUSES.items()),
        *_paragraphs("""
            For a tool that is not exercised, the report says what toolvet tried and what would help: a fixture, a
            variable, a running service. Scenarios that met an outage (a dead host, a missing program, variable or
            credential) do not count.

            A server is fully working when all its exercised tools are, these are most of the called ones, and no tool
            has a finding of severity error. It is partially working when any tool works or answered a valid call with
            a success, connectivity only when its tools do no more than answer, and broken when none answers.
        """),
    ),
)
_SCORE: Final = Term(
    id="score",
    title="0 to 100 for a server",
    brief="the mean over the called tools, and how many of all tools it rests on; `toolvet explain score`",
    text=_paragraphs("""
        The share of a tool's scenarios that passed makes four fifths of its score, its error messages one fifth; if no
        message could be scored, only the scenarios count. With a finding of severity error, or without a success, a
        tool scores at most 50. A called tool that was not exercised counts 50, unless it met an outage. A tool that
        succeeded with a fixture counts at least 50, so that a fixture does not lower the score. A server scores the
        mean of its called tools.

        The score names the number of tools it rests on: 92/100 on 15 of 21 tools means that 15 were exercised. If these
        are fewer than half of the tools, it is at most 90. If they are fewer than a third, it is not a grade: reports
        show it without colour and bar. A server without an exercised tool has no score, and --fail-under then fails.

        Resources, prompts, and scenarios that met an outage do not count. Reports show which resources and prompts were
        read or fetched, and their findings count for --fail-on.

        Error messages are scored 0 to 100 by whether they name the argument, say what was received and expected, list
        what is allowed and say what to do. Messages that a framework wrote (pydantic, Zod, an SDK), and those about an
        outage, do not count.

        A baseline hides findings from a report; the score stays the same.
    """),
)
_CONFIDENCE: Final = Term(
    id="confidence",
    title="How sure we are, 0 to 100",
    brief="how likely the tool works, judged by its answers; `toolvet explain confidence`",
    text=_paragraphs("""
        Of a tool: the average quality of its answers, from 0 to 100. Each answer gets the documented points for what it
        has or lacks, weighted by its class (fully working 1, partially working 0.7, connectivity only 0.3, an error
        0.2, broken 0). A call without an answer counts 0; an outage does not count. It is a grade, not a probability.
        A tool that was not exercised shows none.

        Of a finding: how sure we are that a person would agree. Severity is separate: it says how bad the problem is if
        it is real. docs/accuracy.md compares confidence with findings that people read.
    """),
)

TERMS: Final[Mapping[str, Term]] = {term.id: term for term in (_STATUS, _SCORE, _CONFIDENCE)}
