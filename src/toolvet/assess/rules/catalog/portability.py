"""Definitions that a model provider does not take as they are: with `--provider`."""

from collections import Counter
from collections.abc import Iterator

from toolvet.assess.rules.quote import quote
from toolvet.assess.rules.rule import of_server
from toolvet.core.portability import PortIssue, port_issues, portable, provider, request_issues
from toolvet.core.tool_rules import ObservedServer
from toolvet.findings import Card, Finding, Severity

PROVIDER_REFUSES = Card(
    id="provider-refuses",
    title="A model provider refuses a tool's definition",
    severity=Severity.ERROR,
    looks_for=(
        "With `--provider NAME`: a name, schema or keyword for which the provider answers a request with an error, and "
        "limits that it counts over all tools of a request. Each rule names its source and date."
    ),
    why=(
        "One definition that is refused fails the whole request: with this tool in the list, no tool can be called. "
        "The strict modes of the providers take only a part of JSON Schema."
    ),
    remedy=(
        "Write the schema so that all providers take it, or send what `toolvet.portable(tool, NAME)` returns: it "
        "rewrites the schema, proves that its calls map back to valid ones, and lists what is lost."
    ),
)

PROVIDER_IGNORES = Card(
    id="provider-ignores",
    title="A model provider ignores a constraint",
    severity=Severity.WARNING,
    looks_for="With `--provider NAME`: a keyword that the provider accepts and does not hold the model to.",
    why="The model can send what the schema forbids, and the call fails at the server, or does what was not meant.",
    remedy="Check the arguments in the server, and say the constraint in the parameter's description as well.",
)

PROVIDER_CHANGES = Card(
    id="provider-changes",
    title="A provider's SDK changes tool definitions",
    severity=Severity.INFO,
    looks_for=(
        "With `--provider NAME`: what the provider's SDKs rewrite before they send it, such as optional members that "
        "become required. One finding for each rule, over all tools."
    ),
    why="The model sees another schema than the one that you wrote: it sends null or invents a value for each member.",
    remedy="Accept null where a member may be left out, or map calls back with `toolvet.portable(tool, NAME)`.",
)


@of_server(PROVIDER_REFUSES)
def check_provider_refuses(server: ObservedServer) -> Iterator[Finding]:
    """One finding for each tool and rule, and for each limit over all tools."""
    for name in server.providers:
        for issue in request_issues([tool.raw for tool in server.tools], name):
            yield PROVIDER_REFUSES.finding(message=_words(issue), evidence=_source(issue))
        for tool in server.tools:
            refused = _by_rule(tool.raw, name, "refuses")
            rewritten = portable(tool.raw, name) if refused else None
            way = ""
            if rewritten is not None and rewritten.is_portable:
                lost = sorted({loss.keyword for loss in rewritten.losses})
                way = f" toolvet.portable rewrites it ({rewritten.proof.verdict})"
                way += f", without {', '.join(lost)}." if lost else "."
            for first, count in refused:
                words, source = _words(first, count) + way, _source(first)
                yield PROVIDER_REFUSES.finding(message=words, pointer=first.pointer, evidence=source, tool=tool.name)


@of_server(PROVIDER_IGNORES)
def check_provider_ignores(server: ObservedServer) -> Iterator[Finding]:
    """One finding for each tool and rule."""
    for name in server.providers:
        for tool in server.tools:
            for first, count in _by_rule(tool.raw, name, "ignores"):
                words, source = _words(first, count), _source(first)
                yield PROVIDER_IGNORES.finding(message=words, pointer=first.pointer, evidence=source, tool=tool.name)


@of_server(PROVIDER_CHANGES)
def check_provider_changes(server: ObservedServer) -> Iterator[Finding]:
    """One finding for each rule: nearly every definition has one."""
    for name in server.providers:
        found = [first for tool in server.tools for first, _ in _by_rule(tool.raw, name, "changes")]
        for rule, tools in Counter(each.rule for each in found).items():
            first = next(each for each in found if each.rule == rule)
            many = f" {tools} tools." if tools > 1 else f" Tool: {quote(first.tool, 80)}."
            yield PROVIDER_CHANGES.finding(message=_words(first) + many, evidence=_source(first))


def _by_rule(tool: object, name: str, effect: str) -> list[tuple[PortIssue, int]]:
    """The first issue of each rule with this effect, and how many there are."""
    issues = [issue for issue in port_issues(tool, name) if issue.effect == effect]
    counts = Counter(issue.rule for issue in issues)
    return [(next(each for each in issues if each.rule == rule), count) for rule, count in counts.items()]


def _words(issue: PortIssue, count: int = 1) -> str:
    more = "" if count == 1 else f" ({count} places)"
    return f"{provider(issue.provider).title}: {quote(issue.message, 200)}{more}."


def _source(issue: PortIssue) -> str:
    return f"{issue.source}, {issue.date}"
