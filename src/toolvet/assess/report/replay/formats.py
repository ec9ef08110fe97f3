"""The documents of a replay: JSON, Markdown, JUnit and a page that opens offline."""

import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from jinja2 import Template

from toolvet.assess.report import wording
from toolvet.assess.report.page.template import load_template
from toolvet.assess.report.renderers.json import encode_document
from toolvet.assess.report.renderers.markdown import escape
from toolvet.assess.report.replay import words
from toolvet.assess.report.replay.document import ReplayReport
from toolvet.core.visible import one_line, visible

_PACKAGE: Final = "toolvet.assess.report.replay"
_PAGE: Final = "toolvet.assess.report.page"


def render_markdown(report: ReplayReport) -> str:
    """A summary for a pull request: the counts, what changed, and what was not replayed."""
    lines = ["# Replay", "", escape(words.in_short(report)), ""]
    if report.incomplete:
        lines += [f"Incomplete: {escape(one_line(report.incomplete))}", ""]
    shown = words.shown_calls(report)
    if shown:
        lines += ["| call | tool | arguments | compared | what changed |", "|---:|---|---|---|---|"]
        for call in shown:
            changes = "; ".join(escape(one_line(words.change_words(each))) for each in call.changes)
            arguments = escape(words.said_of_arguments(call))
            lines.append(
                f"| {call.number} | {escape(one_line(call.tool))} | {arguments} | {call.comparison} | {changes} |"
            )
        lines.append("")
    if report.skipped:
        lines += ["| not replayed | calls | why |", "|---|---:|---|"]
        lines += [
            f"| {escape(one_line(each.tool))} | {each.calls} | {escape(one_line(each.reason))} |"
            for each in report.skipped
        ]
        lines.append("")
    return "\n".join(lines)


def render_junit(report: ReplayReport) -> str:
    """A test case for each call that was compared; a failure is what makes the command exit with 1."""
    failing = {"worse": {"worse"}, "changed": {"worse", "changed"}, "never": set[str]()}[report.fail_on]
    failures = sum(call.comparison in failing for call in report.calls)
    total = len(report.calls) + len(report.skipped)
    root = ET.Element("testsuites", name="toolvet replay", tests=str(total), failures=str(failures))
    suite = ET.SubElement(
        root,
        "testsuite",
        name=visible(report.server) or "server",
        tests=str(total),
        failures=str(failures),
        errors="0",
        skipped=str(len(report.skipped)),
    )
    for call in report.calls:
        seconds = (call.new.duration_ms or 0.0) / 1000 if call.new else 0.0
        case = ET.SubElement(
            suite, "testcase", classname=visible(call.tool), name=f"call {call.number}", time=f"{seconds:.3f}"
        )
        if call.comparison in failing:
            told = [visible(words.change_words(change)) for change in call.changes]
            ET.SubElement(case, "failure", type=call.comparison, message=told[0]).text = "\n".join(told)
    for each in report.skipped:
        case = ET.SubElement(suite, "testcase", classname=visible(each.tool), name=f"{each.calls} calls not replayed")
        ET.SubElement(case, "skipped", message=visible(each.reason))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def render_page(report: ReplayReport) -> str:
    """One file that opens offline."""
    return _load_template().render(r=report)


@cache
def _load_template() -> Template:
    return load_template(
        _PACKAGE,
        "replay.html.jinja",
        styles=((_PAGE, "base.css"), (_PACKAGE, "replay.css")),
        scripts=((_PAGE, "theme.js"),),
        names={"w": wording, "words": words},
    )


REPLAY_FORMATS: Final[Mapping[str, Callable[[ReplayReport], str]]] = {
    "html": render_page,
    "json": encode_document,
    "junit": render_junit,
    "markdown": render_markdown,
}
"""What `--report FORMAT=FILE` writes, by the name of the format."""
