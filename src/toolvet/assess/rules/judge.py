"""Subjects in, findings out: a tool, a call or a server goes to each rule of the catalogue that judges such a thing."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Final

import msgspec

from toolvet.assess.rules.ending import SAME, mask_values
from toolvet.assess.rules.item import ListedItem, ObservedItems, ObservedRequest
from toolvet.assess.rules.rule import (
    P,
    Rule,
    RuleScope,
    of_call,
    of_calls,
    of_item,
    of_items,
    of_request,
    of_server,
    of_tool,
)
from toolvet.core.discover import modules
from toolvet.core.tool_rules import ObservedCall, ObservedServer, ToolDefinition
from toolvet.errors import UsageError
from toolvet.findings import Card, Finding, Severity

_FEWEST: Final = 3  # Tools; two may have the same cause by chance.


@cache
def rules() -> tuple[Rule[...], ...]:
    """Every rule of the catalogue, by the id of its card."""
    values = (value for module in modules("toolvet.assess.rules.catalog") for value in vars(module).values())
    return tuple(sorted((value for value in values if isinstance(value, Rule)), key=lambda rule: rule.card.id))


@cache
def cards() -> Mapping[str, Card]:
    """The identity card of every rule, by id."""
    return {rule.card.id: rule.card for rule in rules()}


def judge_tool(tool: ToolDefinition) -> tuple[Finding, ...]:
    """The findings about a tool's definition."""
    return tuple(_apply(of_tool, tool.name, tool))


def judge_call(call: ObservedCall) -> tuple[Finding, ...]:
    """The findings about one call and its outcome."""
    return tuple(_apply(of_call, call.tool.name, call))


def judge_calls(tool: ToolDefinition, calls: Sequence[ObservedCall]) -> tuple[Finding, ...]:
    """The findings that only several calls of a tool show; `calls` are all of them, in the order they were made."""
    return tuple(_apply(of_calls, tool.name, tool, calls))


def judge_server(server: ObservedServer) -> tuple[Finding, ...]:
    """The findings about the server as a whole."""
    return tuple(_apply(of_server, "", server))


def judge_item(item: ListedItem) -> tuple[Finding, ...]:
    """The findings about how a resource, a template or a prompt is listed."""
    return tuple(_name_item(finding, item) for finding in _apply(of_item, "", item))


def judge_request(request: ObservedRequest) -> tuple[Finding, ...]:
    """The findings about one request and its outcome."""
    cause = "" if request.error is None else mask_values(request.error.message)
    return tuple(_name_item(finding, request.item, cause) for finding in _apply(of_request, "", request))


def judge_items(seen: ObservedItems) -> tuple[Finding, ...]:
    """The findings that all resources, templates and prompts show together; each is about the server or one item."""
    return tuple(_apply(of_items, "", seen))


def merge(findings: Iterable[Finding]) -> tuple[Finding, ...]:
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


def share(findings: Iterable[Finding]) -> list[Finding]:
    """Join what several tools, or several prompts or resources, have for one reason, at the place of the first.

    At least three have the same check, severity, place and cause (`cause_of`); or two the same words, each with its own
    name. `--ignore CHECK:TOOL` acts before, so that a tool that is ignored is not among them.
    """
    joined = _join(list(findings), lambda finding, _: finding.cause, _FEWEST)
    return [
        msgspec.structs.replace(finding, cause="") if finding.cause and not finding.together else finding
        for finding in _join(joined, _same_words, 2)
    ]


def _same_words(finding: Finding, name: str) -> str:
    return finding.cause + "\n" + re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "…", finding.message)


def _join(findings: Sequence[Finding], reason_of: Callable[[Finding, str], str], fewest: int) -> list[Finding]:
    groups: dict[tuple[str, ...], dict[str, list[Finding]]] = {}
    firsts: list[tuple[Finding, tuple[str, ...] | None]] = []
    for finding in findings:
        name = finding.tool or finding.item
        reason = reason_of(finding, name) if name else ""
        kind = (finding.id, finding.severity.value, finding.pointer, finding.item_kind or "")
        key: tuple[str, ...] | None = (*kind, reason) if reason else None
        firsts.append((finding, key))
        if key is not None and name:
            groups.setdefault(key, {}).setdefault(name, []).append(finding)
    joined: list[Finding] = []
    for finding, key in firsts:
        group = groups.get(key, {}) if key is not None else {}
        if len(group) < (2 if finding.cause.startswith(SAME) else fewest):
            joined.append(finding)
            continue
        if finding is next(iter(group.values()))[0] and key is not None:
            together: dict[str, object] = {"items" if finding.item_kind else "tools": tuple(group)}
            count = sum(one.occurrences for several in group.values() for one in several)
            together.update(cause=finding.cause or key[-1].strip(), occurrences=count)
            joined.append(msgspec.structs.replace(finding, tool=None, item=None, **together))
    return joined


def in_order(findings: Iterable[Finding], *, fails_always: Callable[[Finding], bool]) -> list[Finding]:
    """Sort findings for a reader: the worst first, and the findings of one check and severity together.

    Within a severity come first the checks with a finding that `fails_always`, then those of the most tools; at the end
    come those about what an SDK decides.
    """
    groups: dict[tuple[Severity, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.severity, finding.id), []).append(finding)

    def place(item: tuple[tuple[Severity, str], list[Finding]]) -> tuple[int, bool, bool, int, str]:
        (severity, check), members = item
        wide = len({name for finding in members for name in finding.subjects})
        is_of_sdk = check in cards() and cards()[check].is_of_sdk
        return (-severity.rank, is_of_sdk, not any(map(fails_always, members)), -wide, check)

    return [
        finding
        for _, members in sorted(groups.items(), key=place)
        for finding in sorted(members, key=lambda one: (not fails_always(one), -len(one.subjects), one.subjects))
    ]


@cache
def _judges(scope: RuleScope[...]) -> tuple[Callable[..., Iterable[Finding]], ...]:
    return tuple(rule.judge for rule in rules() if rule.scope is scope)


def _apply(scope: RuleScope[P], tool: str, *seen: P.args, **named: P.kwargs) -> Iterator[Finding]:
    for judge in _judges(scope):
        for finding in judge(*seen, **named):
            yield msgspec.structs.replace(finding, tool=tool) if tool else finding


def _name_item(finding: Finding, item: ListedItem | None, cause: str = "") -> Finding:
    if item is None:
        return finding
    identity = item.identity or f"(entry {item.position + 1})"
    return msgspec.structs.replace(finding, item=identity, item_kind=item.kind, cause=finding.cause or cause)


def card_named(check_id: str, *, option: str = "") -> Card:
    """Return the card of a check. Raises UsageError, which names `option` and the ids that are close, without one."""
    known = cards()
    if check_id in known:
        return known[check_id]
    close = get_close_matches(check_id, known, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(close)}?" if close else "; `toolvet explain` lists them all"
    raise UsageError(f"{f'{option}: ' if option else ''}no check is named '{check_id}'{hint}")
