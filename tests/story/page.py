"""The page docs/story.md, made by running the incidents: `make story`."""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tests.story.run import NOTHING, Cell, Station, Story, Told, run_story

from toolvet import AnswerQuality, State
from toolvet.core.causes import cause_of

_INTRO: Final = """\
# One incident, one story

Ten things that go wrong when an agent calls a tool, each followed from the server to the answer. A client of the
official SDK calls a server of the official SDK through `toolvet proxy`, which keeps a record. Then toolvet checks two
answers against the call: an honest one, and one that hides what happened. `make story` runs everything and writes this
page. A test runs it again, compares, and fails if two stations of an incident disagree.

Each table has a row for each station:

- the **envelope** that the caller receives;
- the **proxy's verdict**, in `_meta["dev.toolvet/verdict"]` of the result;
- the **client's verdict**: `check_result` of the result that arrived;
- the row of the proxy's **record**;
- the verdicts on both **answers**: `check_answer`, whose `failed_calls` and `partial_calls` show the outcome of calls.

The columns are the word for the fault (`state`), the code, what helps (`retry`) and the id of the turn. A value that a
station reports itself is written as `code`. A value in *italics* comes from [the table of causes](causes.md), looked up
by type and code, because an envelope has no `state`. For an incomplete success the word is its `content_fidelity`, and
the code is that of its warning. A dash means that neither the station nor the table has a value. Ids, times and
references to the server's log differ from run to run: `trace-1` is the id of the first turn, and `…` is a reference.

| incident | word | code | retry | an honest answer |
|---|---|---|---|---|
"""
_PLAIN: Final = """
## The same without envelopes

These are the same tools without envelopes; they leave errors to the framework. Only the words decide here, and the
framework does not report the cause of an unexpected exception.

| incident | what the client received | word | retry |
|---|---|---|---|
"""
_TURN: Final = """
## The last turn, from the record

We added the dishonest answer of the last incident with `Store.add`. The record then has the whole turn under its id:

```text
"""
_CLOCK: Final = re.compile(r"\b\d\d:\d\d:\d\d(?:\.\d+)?")
_DATE: Final = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_DURATION: Final = re.compile(r"\b[\d.]+ (?:ms|s|µs)\b")
_REFERENCE: Final = re.compile(r"\b[0-9a-f]{12}\b")
_LONGEST_SHOWN: Final = 160
_LONGEST_ITEMS: Final = 2
_VARIES: Final = ("telemetry",)


def render_story_page(story: Story) -> str:
    """`docs/story.md`."""
    lines = [_INTRO.rstrip("\n")]
    lines += [_overview(one) for one in story.told]
    for number, one in enumerate(story.told, 1):
        lines += ["", *_chapter(number, one)]
    lines += [_TURN.rstrip("\n"), *_turn(story), "```"]
    lines += [_PLAIN.rstrip("\n"), *(_plain_row(one) for one in story.told)]
    return "\n".join(lines) + "\n"


def _turn(story: Story) -> Iterator[str]:
    """The last turn as it was printed, without times."""
    name = f"trace-{len(story.told)}"
    printed = story.last_turn.replace(str(story.told[-1].answers[1].trace_id), name)
    yield f"$ toolvet trace {name} --store calls.db"
    for line in _DATE.sub("…", _CLOCK.sub("hh:mm:ss", _DURATION.sub("…", printed))).rstrip("\n").split("\n"):
        yield line.rstrip()


def _overview(one: Told) -> str:
    client = one.stations[2]
    incident = one.incident
    state = State(incident.state) if incident.state else None
    label = "" if state is None else cause_of(state).answer_label
    kept = f"keeps `{label}`" if label else "keeps no signal"
    return f"| {incident.title} | {_cell(client.word)} | {_cell(client.code)} | {_cell(client.retry)} | {kept} |"


def _chapter(number: int, one: Told) -> Iterator[str]:
    incident = one.incident
    sent = {
        "traceparent": "with the id of the turn in `_meta.traceparent`",
        "trace": 'with an id of the client\'s own in `_meta["dev.toolvet/trace"]`',
        "nothing": "without an id",
    }[incident.sends]
    yield f"## {number}. {incident.title}"
    yield ""
    yield incident.story
    yield ""
    yield f"> {incident.question}"
    yield ""
    yield f"The model calls `{incident.tool} {json.dumps(dict(incident.arguments))}`, {sent}. The client receives:"
    yield ""
    yield from _received(number, one)
    yield ""
    yield "| station | word | code | retry | id |"
    yield "|---|---|---|---|---|"
    yield from _rows(one.stations, number)
    yield ""
    yield "| answer | says | verdict | because |"
    yield "|---|---|---|---|"
    for name, text, quality in zip(("honest", "dishonest"), (incident.honest, one.dishonest), one.answers, strict=True):
        yield f"| {name} | {text} | {quality.action.value}, score {quality.score} | {_because(quality)} |"


def _received(number: int, one: Told) -> Iterator[str]:
    """The envelope, without what varies; without one the first line of the text."""
    if one.envelope:
        document = json.loads(json.dumps(one.envelope))
        for key in _VARIES:
            document["meta"].pop(key, None)
        if document["meta"].get("request_id") == one.answers[0].trace_id:
            document["meta"]["request_id"] = f"trace-{number}"
        flag = "true" if one.result.get("isError") else "false"
        yield "```json"
        yield _REFERENCE.sub("…", json.dumps(_shorten(document), ensure_ascii=False, indent=2))
        yield "```"
        yield ""
        yield f"`isError` is {flag}."
    else:
        yield "```text"
        yield one.text.split("\n", 1)[0]
        yield "```"


def _shorten(value: Any) -> Any:
    """The same value, where long lists have their first items and a count."""
    if isinstance(value, dict):
        return {key: _shorten(each) for key, each in value.items()}
    if isinstance(value, list) and len(value) > _LONGEST_ITEMS + 1:
        return [*map(_shorten, value[:_LONGEST_ITEMS]), f"… and {len(value) - _LONGEST_ITEMS} more"]
    return value


def _rows(stations: Sequence[Station], number: int) -> Iterator[str]:
    """A row for each station; ids by the order in which they are first seen."""
    names: dict[str, str] = {NOTHING: NOTHING}
    for station in stations:
        if station.id.text not in names:
            names[station.id.text] = f"trace-{number}" + ("" if len(names) == 1 else f", other {len(names) - 1}")
        shown = Cell(names[station.id.text])
        cells = (station.word, station.code, station.retry, shown)
        yield f"| {station.name} | {' | '.join(map(_cell, cells))} |"


def _cell(cell: Cell) -> str:
    if cell.text == NOTHING:
        return NOTHING
    return f"*{cell.text}*" if cell.by_table else f"`{cell.text}`"


def _because(quality: AnswerQuality) -> str:
    if not quality.signals:
        return NOTHING
    signal = quality.signals[0]
    against = f"; against: {_short(signal.against)}" if signal.against else ""
    return f"`{signal.label or signal.type.value}`: “{_short(signal.evidence)}”{against}"


def _plain_row(one: Told) -> str:
    verdict: Mapping[str, Any] = one.plain.get("_meta", {}).get("dev.toolvet/verdict", {})
    text = str(one.plain["content"][0]["text"])
    word, retry = verdict.get("state") or NOTHING, verdict.get("retry") or NOTHING
    return f"| {one.incident.title} | {_short(text)} | {_cell(Cell(word))} | {_cell(Cell(retry))} |"


def _short(text: str) -> str:
    """One line of a table: no line breaks, no bars, not too long."""
    line = _REFERENCE.sub("…", " ".join(text.split())).replace("|", "\\|")
    return line if len(line) <= _LONGEST_SHOWN else f"{line[: _LONGEST_SHOWN - 1]}…"


if __name__ == "__main__":
    sys.stdout.write(render_story_page(run_story()))
