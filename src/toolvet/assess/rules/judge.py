"""Subjects in, findings out: a tool, a call or a server goes to each rule of the catalogue that judges such a thing."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache

import msgspec

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
from toolvet.findings import Card, Finding


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
    return tuple(_name_item(finding, request.item) for finding in _apply(of_request, "", request))


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


@cache
def _judges(scope: RuleScope[...]) -> tuple[Callable[..., Iterable[Finding]], ...]:
    return tuple(rule.judge for rule in rules() if rule.scope is scope)


def _apply(scope: RuleScope[P], tool: str, *seen: P.args, **named: P.kwargs) -> Iterator[Finding]:
    for judge in _judges(scope):
        for finding in judge(*seen, **named):
            yield msgspec.structs.replace(finding, tool=tool) if tool else finding


def _name_item(finding: Finding, item: ListedItem | None) -> Finding:
    if item is None:
        return finding
    identity = item.identity or f"(entry {item.position + 1})"
    return msgspec.structs.replace(finding, item=identity, item_kind=item.kind)


def card_named(check_id: str, *, option: str = "") -> Card:
    """Return the card of a check. Raises UsageError, which names `option` and the ids that are close, without one."""
    known = cards()
    if check_id in known:
        return known[check_id]
    close = get_close_matches(check_id, known, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(close)}?" if close else "; `toolvet explain` lists them all"
    raise UsageError(f"{f'{option}: ' if option else ''}no check is named '{check_id}'{hint}")
