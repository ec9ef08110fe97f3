"""HTML: one file that opens offline and holds everything, script and style included.

The template reads the documents themselves (`Tool`, `Scenario`, `Finding`); the classes here add what only a page has:
calls with escaped payloads, and the anchors that links lead to.
"""

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Final, cast

import orjson
from jinja2 import Template
from markupsafe import Markup

from toolvet.assess.report import wording
from toolvet.assess.report.document import Report, Scenario, Tool
from toolvet.assess.report.gate import why_failed
from toolvet.assess.report.page import load_template
from toolvet.assess.report.renderers import Format
from toolvet.assess.report.wording import FindingGroup, group_findings, pretty, worst_first
from toolvet.core.visible import shorten, visible
from toolvet.findings import Card, Finding

_PACKAGE: Final = "toolvet.assess.report.page"
# Bytes. The payloads of a thousand calls stay below 3 MB; with more calls, each still shows something.
_PAGE: Final = 2_600_000
_FRAME: Final = 1_250  # what a call takes without its payloads
_LONGEST_PAYLOAD: Final = 6_000
_SHORTEST_PAYLOAD: Final = 300
_LONGEST_TEXT: Final = 4_000
_BRIEF_PAYLOAD: Final = 600  # of a request about a resource or a prompt
_LONGEST_LOG: Final = 60_000
_MOST_PANELS: Final = 1_000  # tools of a server that the page shows, and again as many that were not called
_MOST_CALLS: Final = 4_000  # of a server: the calls of further tools are only counted
_MOST_FINDINGS: Final = 200  # of one check
_MOST_NAMES: Final = 100  # of the tools of one finding
_STRIP: Final = 60  # scenarios that a tool's strip can show
_BRIEF: Final = 110
_CODE: Final = re.compile(r"`([^`\n]+)`")
_KEY: Final = re.compile(r'^( *)("(?:[^"\\]|\\.)*")(: ?)', re.MULTILINE)


def render(reports: Sequence[Report], cards: Mapping[str, Card]) -> str:
    """The page. Long payloads are cut to keep it below about 3 MB; the JSON report has everything that was recorded."""
    return _load_template().render(servers=views(reports, cards), legend=wording.legend(reports), why_failed=why_failed)


@cache
def _load_template() -> Template:
    return load_template(
        _PACKAGE,
        "page.html.jinja",
        styles=((_PACKAGE, "base.css"), (_PACKAGE, "style.css")),
        scripts=((_PACKAGE, "theme.js"), (_PACKAGE, "script.js")),
        names={"w": wording, "block": block, "brief": brief, "log": log, "payload": payload, "prose": prose},
    )


FORMAT = Format(name="html", suffix=".html", render=render)


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
    """One tool; `unshown` calls are only counted."""

    anchor: str
    tool: Tool
    counts: Counter[str]
    calls: tuple[CallView, ...]
    unshown: int = 0

    @property
    def strip(self) -> tuple[str, ...]:
        """A mark for each scenario that the number beside it counts: `pass`, `fail` or `none`; none if too many."""
        own = wording.own_scenarios(self.tool)
        return tuple(map(_mark, own)) if len(own) <= _STRIP else ()


@dataclass(frozen=True, slots=True)
class ServerView:
    """One server, and where the page shows what a finding is about.

    `filter_keys` has the value by which a reader filters for each tool, by its name; `tool_anchors` and `call_anchors`
    have the places in the page, by the tool's name and by the scenario's id. `unshown` counts the tools, called or not,
    that are more than a page can hold.
    """

    anchor: str
    report: Report
    tools: tuple[ToolPanel, ...]
    skipped: tuple[ToolPanel, ...]
    groups: tuple[FindingGroup, ...]
    cards: Mapping[str, Card]
    filter_keys: Mapping[str, str]
    tool_anchors: Mapping[str, str]
    call_anchors: Mapping[str, str]
    unshown: int = 0

    def title(self, group: FindingGroup) -> str:
        """The headline of a group: the title of the check's card, or the check's id without a card."""
        card = self.cards.get(group.id)
        return card.title if card is not None else group.id.replace("-", " ").capitalize()

    def filter_key(self, finding: Finding) -> str:
        """The values by which a finding is filtered, with spaces between; empty when it is about the server."""
        names = finding.concerns[:_MOST_NAMES]
        return " ".join(self.filter_keys[name] for name in names if name in self.filter_keys)

    def tool_places(self, finding: Finding) -> list[tuple[str, str | None]]:
        """Return the subjects of a finding, each with its place in the page, if it has one."""
        names = finding.subjects[:_MOST_NAMES]
        return [(name, None if finding.item_kind else self.tool_anchors.get(name)) for name in names]

    @property
    def called(self) -> int:
        """How many tools were called, also those that the page does not show."""
        return sum(tool.skipped is None for tool in self.report.tools)

    def shown(self, group: FindingGroup) -> tuple[Finding, ...]:
        """The findings of a group that the page shows; the others are only counted."""
        return group.findings[:_MOST_FINDINGS]

    def call_anchor(self, finding: Finding) -> str | None:
        """The place of the call that shows the finding, if it is there."""
        return self.call_anchors.get(finding.scenario or "")


def views(reports: Sequence[Report], cards: Mapping[str, Card]) -> tuple[ServerView, ...]:
    """One view per report. Long payloads are cut so that all of them together stay within a budget."""
    scenarios = [scenario for report in reports for tool in report.tools for scenario in tool.scenarios]
    commands = sum(min(len(scenario.reproduce), _LONGEST_TEXT) for scenario in scenarios)
    room = _PAGE - commands - _FRAME * len(scenarios)
    limit = min(max(room // max(2 * len(scenarios), 1), _SHORTEST_PAYLOAD), _LONGEST_PAYLOAD)
    return tuple(_view_server(f"s{number}", report, cards, limit) for number, report in enumerate(reports, 1))


def _view_server(anchor: str, report: Report, cards: Mapping[str, Card], limit: int) -> ServerView:
    counts: dict[str, Counter[str]] = {}
    for finding in report.findings:
        for name in finding.concerns:
            counts.setdefault(name, Counter())[finding.severity.value] += 1
    shown = worst_first([tool for tool in report.tools if tool.skipped is None], report.findings, _MOST_PANELS)
    not_called = [tool for tool in report.tools if tool.skipped is not None]
    kept = {id(tool) for tool in (*shown, *not_called[:_MOST_PANELS])}
    tools = [(number, tool) for number, tool in enumerate(report.tools, 1) if id(tool) in kept]
    panels: list[ToolPanel] = []
    room = _MOST_CALLS
    for number, tool in tools:
        calls = tuple(
            CallView(
                anchor=f"{anchor}-t{number}-c{position}",
                scenario=scenario,
                mark=_mark(scenario),
                request=_render_json(scenario.arguments, limit),
                response=tuple(_split_response(scenario.result, limit)) if scenario.result is not None else (),
            )
            for position, scenario in enumerate(tool.scenarios[: max(room, 0)], 1)
        )
        panel = ToolPanel(
            anchor=f"{anchor}-t{number}",
            tool=tool,
            counts=counts.get(tool.name, Counter()),
            calls=calls,
            unshown=len(tool.scenarios) - len(calls),
        )
        room -= len(panel.calls)
        panels.append(panel)
    called = tuple(sorted((panel for panel in panels if panel.tool.skipped is None), key=_harm))
    # A server may list two tools of one name: findings then lead to the first.
    tool_anchors = {panel.tool.name: panel.anchor for panel in reversed(panels)}
    filter_keys = dict(tool_anchors)
    groups = group_findings(report.findings)
    for finding in (finding for group in groups for finding in group.findings[:_MOST_FINDINGS]):
        for name in finding.concerns[:_MOST_NAMES]:
            filter_keys.setdefault(name, f"{anchor}-u{len(filter_keys)}")
    return ServerView(
        anchor=anchor,
        report=report,
        tools=called,
        skipped=tuple(panel for panel in panels if panel.tool.skipped is not None),
        groups=groups,
        cards=cards,
        filter_keys=filter_keys,
        tool_anchors=tool_anchors,
        call_anchors={call.scenario.id: call.anchor for panel in called for call in panel.calls if call.scenario.id},
        unshown=len(report.tools) - len(tools),
    )


def _harm(panel: ToolPanel) -> tuple[bool, int, int]:
    never_worked = panel.tool.valid_calls > 0 and not panel.tool.succeeded
    return not never_worked, -panel.counts["error"], -panel.counts["warning"]


def _mark(scenario: Scenario) -> str:
    return "none" if scenario.outcome == "not_run" else "pass" if scenario.passed else "fail"


def _split_response(result: object, limit: int) -> Iterator[ResponsePart]:
    members = _members(result)
    if members is None:
        yield ResponsePart("response", _render_json(result, limit))
        return
    rest = dict(members)
    content = rest.get("content")
    if isinstance(content, list) and content:
        blocks = cast("list[object]", content)
        del rest["content"]
        share = max(limit // min(len(blocks) + 1, 4), _SHORTEST_PAYLOAD)
        shown = blocks[: max(limit // share, 1)]
        for block in shown:
            yield _render_block(block, share)
        if len(blocks) > len(shown):
            yield ResponsePart("content", Markup(f"… ({len(blocks) - len(shown):,} more blocks)"))  # noqa: S704 - our words
        limit = share
    # It is shown beside the heading.
    rest.pop("isError", None)
    if rest:
        if rest.keys() == {"structuredContent"}:
            yield ResponsePart("structured content", _render_json(rest["structuredContent"], limit))
        else:
            yield ResponsePart("error" if "code" in rest else "response", _render_json(rest, limit))


def _render_block(block: object, limit: int) -> ResponsePart:
    members = _members(block)
    text = members.get("text") if members is not None and members.keys() == {"type", "text"} else None
    if not isinstance(text, str):
        return ResponsePart("content", _render_json(block, limit))
    # Text that is a JSON object or array is indented: many servers send nothing else.
    if text[:1] in ("{", "[") and len(text) < 10 * _LONGEST_PAYLOAD:
        with suppress(ValueError):
            return ResponsePart("text, JSON", _render_json(orjson.loads(text), limit))
    return ResponsePart("text", _escape(shorten(visible(text), limit)))


def _members(value: object) -> dict[object, object] | None:
    return cast("dict[object, object]", value) if isinstance(value, dict) else None


def _render_json(value: object, limit: int) -> Markup:
    escaped = html.escape(pretty(value, limit), quote=False)
    if len(escaped) > 1.3 * limit:
        # Markup inside the payload grows when it is escaped, and would break the page's budget.
        escaped = html.escape(pretty(value, int(1.3 * limit * limit / len(escaped))), quote=False)
    return Markup(_KEY.sub(r"\1<b>\2</b>\3", escaped))  # noqa: S704 - escaped above


def _escape(text: str) -> Markup:
    """Quotation marks stay as they are: between tags they are harmless, and escaping them doubles a JSON payload."""
    return Markup(html.escape(text, quote=False))  # noqa: S704 - escaped here


def prose(text: str) -> Markup:
    """A sentence, in which `backticks` mark code: rules write so, and it harms nothing where a server does."""
    return Markup(_CODE.sub(r"<code>\1</code>", html.escape(shorten(visible(text), _LONGEST_TEXT))))  # noqa: S704 - escaped


def brief(text: str) -> bool:
    """Whether words of the server fit into a line of running text."""
    return bool(text) and len(text) <= _BRIEF and "\n" not in text.strip()


def block(text: str) -> Markup:
    """Words of the server for a `<pre>`: visible, cut when long, escaped."""
    return _escape(shorten(visible(text), _LONGEST_TEXT))


def payload(value: object) -> Markup:
    """A payload that was sent or received, as the first lines of JSON."""
    return _render_json(value, _BRIEF_PAYLOAD)


def log(text: str) -> Markup:
    """The same for the server's stderr, of which the end says most."""
    shown = visible(text)
    cut = len(shown) - _LONGEST_LOG
    return _escape(f"({cut:,} characters before this)\n{shown[cut:]}" if cut > 0 else shown)
