"""SARIF 2.1.0, as GitHub code scanning and other viewers take it: one run per server.

A tool of an MCP server is not a file, but code scanning shows nothing without one. So a result is placed at the first
line of the server's source file, when its command names one by a relative path, or else in a file named after the
server. The tool and the JSON Pointer are logical locations.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote

import orjson

from toolvet.assess.report.document import Report
from toolvet.assess.report.gate import why_failed
from toolvet.assess.report.renderers import Format
from toolvet.assess.report.wording import items_lines, origin, subject
from toolvet.core.visible import escape_unseen, one_line, shorten, visible
from toolvet.findings import Card, Finding, Severity

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVEL: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PROBLEM: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "recommendation"}
_MOST_RESULTS: Final = 25_000  # of a run; GitHub refuses a file with more
_MOST_NAMES: Final = 100  # of the tools of one finding
_LONGEST: Final = 8_000  # characters of one text
_SOURCE: Final = re.compile(
    r"(?:\./)?(\w[\w.-]*(?:/\w[\w.-]*)*\.(?:py|[cm]?[jt]s|rb|go|php|jar|sh|json|toml))", re.ASCII
)


def render(reports: Sequence[Report], cards: Mapping[str, Card]) -> str:
    """Findings that a baseline knows are left out, as everywhere."""
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [_render_run(report, cards) for report in reports]}
    return escape_unseen(orjson.dumps(log, option=orjson.OPT_INDENT_2).decode()) + "\n"


def _render_run(report: Report, cards: Mapping[str, Card]) -> dict[str, object]:
    firsts = {finding.id: finding for finding in reversed(report.findings)}
    rules = [
        _render_rule(cards[name]) if name in cards else _render_unknown_rule(firsts[name])
        for name in sorted({*cards, *firsts})
    ]
    index = {name: position for position, name in enumerate(sorted({*cards, *firsts}))}
    # A relative path of a source file in the command (`python examples/shop.py`), or a name for the tool list.
    words = report.server.command.split() if report.server.transport == "stdio" else []
    sources = [match.group(1) for word in words if (match := _SOURCE.fullmatch(word))]
    uri = sources[0] if sources else f"mcp-servers/{_quote_segment(report.server.name)}/tools.json"
    command = f": {report.server.command}" if report.server.command else ""
    about = _clean(f"The MCP server {report.server.name}, {origin(report)}{command}")
    driver: dict[str, object] = {"name": "toolvet", "rules": rules}
    if report.toolvet_version:
        driver["version"] = _clean(report.toolvet_version)
    invocation: dict[str, object] = {"executionSuccessful": report.incomplete is None}
    with suppress(ValueError, OverflowError):
        moment = datetime.fromisoformat(report.started_at).astimezone(UTC)
        invocation["startTimeUtc"] = moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
    if report.incomplete is not None:
        notification = {"level": "warning", "message": {"text": _clean(report.incomplete) or "incomplete"}}
        invocation["toolExecutionNotifications"] = [notification]
    return {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"toolvet/{_quote_segment(report.server.name)}/"},
        "invocations": [invocation],
        "artifacts": [{"location": {"uri": uri}, "description": {"text": about}}],
        "results": _render_results(report, index, uri),
        "columnKind": "unicodeCodePoints",
        "properties": {
            "score": report.score,
            "scoreRestsOn": f"{report.rests_on} of {report.summary.tools} tools",
            "listTokens": report.summary.list_tokens,
            "status": report.status,
            "seed": report.seed,
            "failures": [_clean(reason) for reason in why_failed(report)],
            "items": items_lines(report),
            "notExercised": {_clean(t.name): _clean(t.not_exercised) for t in report.tools if t.not_exercised},
        },
    }


def _render_rule(card: Card) -> dict[str, object]:
    return {
        "id": card.id,
        "name": "".join(word.capitalize() for word in card.id.split("-")),
        "shortDescription": {"text": card.title},
        "fullDescription": {"text": f"{card.looks_for} {card.why}"},
        "help": {
            "text": f"{card.looks_for}\n\nWhy it matters: {card.why}\n\nWhat to do: {card.remedy}",
            "markdown": f"{card.looks_for}\n\n**Why it matters.** {card.why}\n\n**What to do.** {card.remedy}",
        },
        "defaultConfiguration": {"level": _LEVEL[card.severity]},
        "properties": {"tags": ["mcp", "ai-agents"], "problem.severity": _PROBLEM[card.severity]},
    }


def _render_unknown_rule(finding: Finding) -> dict[str, object]:
    return {
        "id": _clean(finding.id),
        "shortDescription": {"text": _clean(finding.id.replace("-", " "))},
        "help": {"text": _clean(finding.remedy or finding.why or finding.message or finding.id)},
        "defaultConfiguration": {"level": _LEVEL[finding.severity]},
    }


def _render_results(report: Report, index: Mapping[str, int], uri: str) -> list[dict[str, object]]:
    results: list[dict[str, object]] = []
    seen: Counter[str] = Counter()
    for finding in report.findings[:_MOST_RESULTS]:
        identity = "\0".join([report.server.name, *finding.fingerprint])
        digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        seen[digest] += 1
        # GitHub compares the first only. The number keeps findings apart that say the same of the same place.
        prints = {"primaryLocationLineHash": f"{digest}:{seen[digest]}", "toolvet/v1": digest}
        properties: dict[str, object] = {
            "confidence": finding.confidence,
            "evidence": _clean(finding.evidence),
            "remedy": _clean(finding.remedy),
            "reproduce": _clean(finding.reproduce),
        }
        if finding.scenario is not None:
            properties["scenario"] = _clean(finding.scenario)
        text = f"{whose}: {finding.message}" if (whose := subject(finding)) else finding.message
        if finding.evidence:
            text += f"\nSeen: {shorten(finding.evidence, 1_000)}"
        if finding.remedy:
            text += f"\nFix: {finding.remedy}"
        # SARIF reads `[text](target)` as a link: words of the server must not become one.
        message = (_clean(text) or _clean(finding.id)).replace("](", "] (") or "(a finding without words)"
        file = {"artifactLocation": {"uri": uri, "index": 0}, "region": {"startLine": 1}}
        results.append(
            {
                "ruleId": _clean(finding.id),
                "ruleIndex": index[finding.id],
                "level": _LEVEL[finding.severity],
                "message": {"text": message},
                "locations": [{"physicalLocation": file, "logicalLocations": _locate(finding, report)}],
                "occurrenceCount": max(finding.occurrences, 1),
                "properties": properties,
                "partialFingerprints": prints,
            }
        )
    return results


def _locate(finding: Finding, report: Report) -> list[dict[str, object]]:
    server = _clean(report.server.name)
    pointer = _clean(finding.pointer)
    if finding.item_kind is not None:
        names = map(_clean, (finding.items or (finding.item or "",))[:_MOST_NAMES])
        places = [(name, f"{server}/{finding.item_kind}/{name}", "resource") for name in names]
    elif not finding.concerns:
        places = [(server, server, "module")]
    else:
        places = [(name, f"{server}/{name}", "function") for name in map(_clean, finding.concerns[:_MOST_NAMES])]
    if pointer:
        places += [(pointer, f"{qualified}#{pointer}", "value") for _, qualified, _ in tuple(places)]
    return [{"name": name, "fullyQualifiedName": qualified, "kind": kind} for name, qualified, kind in places]


def _quote_segment(name: str) -> str:
    return quote(one_line(name), safe="") or "unnamed"


def _clean(text: str) -> str:
    return shorten(visible(text), _LONGEST)


FORMAT = Format(name="sarif", suffix=".sarif", render=render)
