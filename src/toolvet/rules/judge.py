"""Subjects in, findings out: every rule of the catalogue is asked about what it can judge.

A rule is one file in `catalog/`. It has a `CARD` and one or more of these functions, each yielding `Observation`:

    check_tool(tool: ToolDefinition)                        how a tool is defined
    check_call(call: Call)                                  one call and its outcome
    check_calls(tool: ToolDefinition, calls: Sequence[Call])    a tool over all its calls
    check_server(server: ServerSeen)                        the whole server
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import ModuleType

import msgspec

from toolvet.discover import modules
from toolvet.findings import Card, Finding, Severity
from toolvet.redact import redact_text
from toolvet.rules.subject import ObservedCall, ServerSeen, ToolDefinition


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule saw: a sentence, the words that show it, and where it departs from its card.

    `tool` names the tool that is meant where the subject is the whole server.
    """

    message: str
    evidence: str = ""
    pointer: str = ""
    confidence: int = 100
    severity: Severity | None = None
    remedy: str | None = None
    tool: str | None = None


@cache
def cards() -> Mapping[str, Card]:
    """The identity card of every rule, by id."""
    return {module.CARD.id: module.CARD for module in modules("toolvet.rules.catalog")}


def judge_tool(tool: ToolDefinition) -> tuple[Finding, ...]:
    """What is wrong with a tool's definition."""
    return tuple(_findings("check_tool", tool.name, tool))


def judge_call(call: ObservedCall) -> tuple[Finding, ...]:
    """What is wrong with one call's outcome."""
    return tuple(_findings("check_call", call.tool.name, call))


def judge_calls(tool: ToolDefinition, calls: Sequence[ObservedCall]) -> tuple[Finding, ...]:
    """What is wrong with a tool that shows only over several of its calls."""
    return tuple(_findings("check_calls", tool.name, tool, calls))


def judge_server(server: ServerSeen) -> tuple[Finding, ...]:
    """What is wrong with the server as a whole."""
    return tuple(_findings("check_server", None, server))


def merged(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings with one fingerprint become one: the gravest of them, the first seen among equals, with a count."""
    kept: dict[tuple[str, str, str], Finding] = {}
    for finding in findings:
        known = kept.get(finding.fingerprint)
        if known is None:
            kept[finding.fingerprint] = finding
            continue
        graver = finding if finding.severity.rank > known.severity.rank else known
        count = known.occurrences + finding.occurrences
        kept[finding.fingerprint] = msgspec.structs.replace(graver, occurrences=count)
    return tuple(kept.values())


@cache
def _rules(function: str) -> tuple[tuple[Card, Callable[..., Iterable[Observation]]], ...]:
    found: list[tuple[Card, Callable[..., Iterable[Observation]]]] = []
    for module in modules("toolvet.rules.catalog"):
        check = _function(module, function)
        if check is not None:
            found.append((module.CARD, check))
    return tuple(found)


def _function(module: ModuleType, name: str) -> Callable[..., Iterable[Observation]] | None:
    check: Callable[..., Iterable[Observation]] | None = getattr(module, name, None)
    return check


def _findings(function: str, tool: str | None, *subject: object) -> Iterable[Finding]:
    for card, check in _rules(function):
        for seen in check(*subject):
            yield Finding(
                id=card.id,
                severity=seen.severity or card.severity,
                confidence=seen.confidence,
                tool=tool or seen.tool or None,
                # What a server says may hold its secrets, and a report is passed on.
                message=redact_text(seen.message),
                pointer=seen.pointer,
                evidence=redact_text(seen.evidence),
                why=card.why,
                remedy=seen.remedy or card.remedy,
            )
