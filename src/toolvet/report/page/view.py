"""What the page shows, in the order it shows it: reports made ready for the template, which only writes them down."""

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import orjson
from markupsafe import Markup

from toolvet.findings import Card, Finding
from toolvet.report.document import Report, Scenario, Tool
from toolvet.report.group import FindingGroup, grouped
from toolvet.report.payload import pretty
from toolvet.report.visible import shortened, visible

# Bytes. What a thousand calls may take stays below 3 MB; where there are more calls, each still shows something.
_PAGE: Final = 2_600_000
_FRAME: Final = 1_250  # what a call takes without its payloads
_LONGEST_PAYLOAD: Final = 6_000
_SHORTEST_PAYLOAD: Final = 300
_LONGEST_TEXT: Final = 4_000
_LONGEST_LOG: Final = 60_000
_STRIP: Final = 60  # calls that a tool's strip shows

_BRIEF: Final = 110
_CODE: Final = re.compile(r"`([^`\n]+)`")
_KEY: Final = re.compile(r'^( *)("(?:[^"\\]|\\.)*")(: ?)', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ResponsePart:
    """A piece of a response: `label` says what it is (text, structured content), `body` is escaped."""

    label: str
    body: Markup


@dataclass(frozen=True, slots=True)
class CallView:
    """One call, its request and its response ready to show."""

    anchor: str
    scenario: Scenario
    mark: str
    request: Markup
    response: tuple[ResponsePart, ...]


@dataclass(frozen=True, slots=True)
class ToolPanel:
    """One tool. `strip` holds a mark per call, cut after the first ones."""

    anchor: str
    tool: Tool
    counts: Counter[str]
    calls: tuple[CallView, ...]

    @property
    def strip(self) -> tuple[str, ...]:
        """A mark per call: `pass`, `fail` or `none`."""
        return tuple(call.mark for call in self.calls[:_STRIP])


@dataclass(frozen=True, slots=True)
class FindingView:
    """One finding: `key` is what its tool is filtered by; the others are anchors, where the report has such a place."""

    finding: Finding
    key: str
    place: str | None
    call: str | None


@dataclass(frozen=True, slots=True)
class GroupView:
    """Findings of one check, with the card of the check when there is one."""

    group: FindingGroup
    title: str
    findings: tuple[FindingView, ...]


@dataclass(frozen=True, slots=True)
class ServerView:
    """One server. `choices` are the tools a reader can filter by: (key, name)."""

    anchor: str
    report: Report
    tools: tuple[ToolPanel, ...]
    skipped: tuple[ToolPanel, ...]
    groups: tuple[GroupView, ...]
    choices: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Anchors:
    """Anchors by the name of the tool, and by tool and the command that makes the call again."""

    tools: Mapping[str, str]
    calls: Mapping[tuple[str, str], str]


def views(reports: Sequence[Report], cards: Mapping[str, Card]) -> tuple[ServerView, ...]:
    """One view per report. Long payloads are cut so that all of them together stay within a budget."""
    scenarios = [scenario for report in reports for tool in report.tools for scenario in tool.scenarios]
    commands = sum(min(len(scenario.reproduce), _LONGEST_TEXT) for scenario in scenarios)
    room = _PAGE - commands - _FRAME * len(scenarios)
    limit = min(max(room // max(2 * len(scenarios), 1), _SHORTEST_PAYLOAD), _LONGEST_PAYLOAD)
    return tuple(_server(f"s{number}", report, cards, limit) for number, report in enumerate(reports, 1))


def _server(anchor: str, report: Report, cards: Mapping[str, Card], limit: int) -> ServerView:
    anchors = [f"{anchor}-t{number}" for number in range(1, len(report.tools) + 1)]
    tools = [_tool(place, tool, report.findings, limit) for place, tool in zip(anchors, report.tools, strict=True)]
    # A server may list two tools of one name: findings then lead to the first.
    places = _Anchors(
        tools={view.tool.name: view.anchor for view in reversed(tools)},
        calls={
            (view.tool.name, call.scenario.reproduce): call.anchor
            for view in reversed(tools)
            for call in reversed(view.calls)
            if view.tool.skipped is None
        },
    )
    keys = dict(places.tools)
    for finding in report.findings:
        if finding.tool is not None:
            keys.setdefault(finding.tool, f"{anchor}-u{len(keys)}")
    return ServerView(
        anchor=anchor,
        report=report,
        tools=tuple(view for view in tools if view.tool.skipped is None),
        skipped=tuple(view for view in tools if view.tool.skipped is not None),
        groups=tuple(_group(group, cards, keys, places) for group in grouped(report.findings)),
        choices=tuple((key, name) for name, key in keys.items()),
    )


def _tool(anchor: str, tool: Tool, findings: Sequence[Finding], limit: int) -> ToolPanel:
    return ToolPanel(
        anchor=anchor,
        tool=tool,
        counts=Counter(finding.severity.value for finding in findings if finding.tool == tool.name),
        calls=tuple(_call(f"{anchor}-c{number}", scenario, limit) for number, scenario in enumerate(tool.scenarios, 1)),
    )


def _call(anchor: str, scenario: Scenario, limit: int) -> CallView:
    mark = "none" if scenario.outcome == "not_run" else "pass" if scenario.passed else "fail"
    parts = tuple(_parts(scenario.result, limit)) if scenario.result is not None else ()
    return CallView(anchor, scenario, mark, _json(scenario.arguments, limit), parts)


def _parts(result: object, limit: int) -> Iterator[ResponsePart]:
    """The text blocks of a tool result as text, as a model reads them, and the rest of it as JSON."""
    members = _members(result)
    if members is None:
        yield ResponsePart("response", _json(result, limit))
        return
    rest = dict(members)
    content = rest.get("content")
    if isinstance(content, list) and content:
        blocks = cast("list[object]", content)
        del rest["content"]
        share = max(limit // min(len(blocks) + 1, 4), _SHORTEST_PAYLOAD)
        shown = blocks[: max(limit // share, 1)]
        for block in shown:
            yield _block(block, share)
        if len(blocks) > len(shown):
            yield ResponsePart("content", Markup(f"… ({len(blocks) - len(shown):,} more blocks)"))  # noqa: S704 - our words
        limit = share
    # It is shown beside the heading.
    rest.pop("isError", None)
    if rest:
        if rest.keys() == {"structuredContent"}:
            yield ResponsePart("structured content", _json(rest["structuredContent"], limit))
        else:
            yield ResponsePart("error" if "code" in rest else "response", _json(rest, limit))


def _block(block: object, limit: int) -> ResponsePart:
    members = _members(block)
    text = members.get("text") if members is not None and members.keys() == {"type", "text"} else None
    return _text_block(text, limit) if isinstance(text, str) else ResponsePart("content", _json(block, limit))


def _members(value: object) -> dict[object, object] | None:
    """The members of a JSON object; None for any other value."""
    return cast("dict[object, object]", value) if isinstance(value, dict) else None


def _text_block(text: str, limit: int) -> ResponsePart:
    """Text that is a JSON object or array is indented: many servers send nothing else."""
    if text[:1] in ("{", "[") and len(text) < 10 * _LONGEST_PAYLOAD:
        try:
            return ResponsePart("text, JSON", _json(orjson.loads(text), limit))
        except ValueError:
            pass
    return ResponsePart("text", _escaped(shortened(visible(text), limit)))


def _json(value: object, limit: int) -> Markup:
    escaped = html.escape(pretty(value, limit), quote=False)
    if len(escaped) > 1.3 * limit:
        # Markup inside the payload grows when it is escaped, and would break the page's budget.
        escaped = html.escape(pretty(value, int(1.3 * limit * limit / len(escaped))), quote=False)
    return Markup(_KEY.sub(r"\1<b>\2</b>\3", escaped))  # noqa: S704 - escaped above


def _escaped(text: str) -> Markup:
    """Quotation marks stay as they are: between tags they are harmless, and escaping them doubles a JSON payload."""
    return Markup(html.escape(text, quote=False))  # noqa: S704 - escaped here


def _group(group: FindingGroup, cards: Mapping[str, Card], keys: Mapping[str, str], places: _Anchors) -> GroupView:
    card = cards.get(group.id)
    return GroupView(
        group=group,
        title=card.title if card is not None else group.id.replace("-", " ").capitalize(),
        findings=tuple(
            FindingView(
                finding=finding,
                key="" if finding.tool is None else keys[finding.tool],
                place=places.tools.get(finding.tool or ""),
                call=places.calls.get((finding.tool or "", finding.reproduce)),
            )
            for finding in group.findings
        ),
    )


def prose(text: str) -> Markup:
    """A sentence, in which `backticks` mark code: rules write so, and it harms nothing where a server does."""
    return Markup(_CODE.sub(r"<code>\1</code>", html.escape(shortened(visible(text), _LONGEST_TEXT))))  # noqa: S704 - escaped


def brief(text: str) -> bool:
    """Whether the words seen fit into a line of running text."""
    return bool(text) and len(text) <= _BRIEF and "\n" not in text.strip()


def block(text: str) -> Markup:
    """Words of the server for a `<pre>`: visible, cut when long, escaped."""
    return _escaped(shortened(visible(text), _LONGEST_TEXT))


def log(text: str) -> Markup:
    """The same for the server's stderr, of which the end says most."""
    shown = visible(text)
    cut = len(shown) - _LONGEST_LOG
    return _escaped(f"({cut:,} characters before this)\n{shown[cut:]}" if cut > 0 else shown)
