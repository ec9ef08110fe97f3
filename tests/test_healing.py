"""The benchmark of words: its healers on small texts, its data set, its page, and libraries that are installed here."""

import asyncio
import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Literal

import pytest
from benchmarks.healing import calls, libraries, page, rules, search
from benchmarks.healing.edits import edits
from benchmarks.healing.model import Model
from benchmarks.healing.ranker import Example, Ranker
from benchmarks.healing.study import HEALERS, Outcome, Study, as_meant
from benchmarks.healing.values import as_type, instants, likeness, written
from pydantic import BaseModel, ConfigDict, Field

from toolvet.core.json_value import same

PYDANTIC = """2 validation errors for Arguments
limit
  Input should be a valid integer, unable to parse string as an integer [type=int_parsing, input_value='5']
    For further information visit https://errors.pydantic.dev/2.14/v/int_parsing
qery
  Extra inputs are not permitted [type=extra_forbidden, input_value='x', input_type=str]
    For further information visit https://errors.pydantic.dev/2.14/v/extra_forbidden
query
  Field required [type=missing, input_value={'qery': 'x'}, input_type=dict]"""
TYPESCRIPT = (
    "Input validation error: Invalid arguments for tool : query: Invalid input: expected string, received undefined, "
    'limit: Invalid input: expected number, received string, Unrecognized key: "qery"'
)
LANGCHAIN = """Error invoking tool '' with kwargs {'qery': 'x', 'limit': '5'} with error:
 query: Field required
limit: Input should be a valid integer, unable to parse string as an integer
qery: Extra inputs are not permitted
 Please fix the error and try again."""
ZOD = """[
  {"expected": "string", "path": ["query"], "message": "Invalid input: expected string, received undefined"},
  {"code": "unrecognized_keys", "keys": ["qery"], "path": [], "message": "Unrecognized key: \\"qery\\""},
  {"expected": "number", "path": ["limit"], "message": "Invalid input: expected number, received string"}
]"""
PRETTY = """✖ Unrecognized key: "qery"
✖ Invalid input: expected string, received undefined
  → at query
✖ Invalid input: expected number, received string
  → at limit"""
AJV_TEXT = (
    "data must have required property 'query', data must NOT have additional properties, data/limit must be integer"
)
AJV_JSON = """[
  {"instancePath": "", "params": {"missingProperty": "query"}, "message": "must have required property 'query'"},
  {"instancePath": "", "params": {"additionalProperty": "qery"}, "message": "must NOT have additional properties"},
  {"instancePath": "/limit", "params": {"type": "integer"}, "message": "must be integer"}
]"""
TOOLVET = """❌ Tool '' received invalid arguments. 3 validation error(s) found.

## Issues Found:

1. **qery**: Unknown field
   - Received: "x"
   - Fix: Rename 'qery' to 'query', or remove it.
   - Did you mean: "query"

2. **query**: Required
   - Expected: string

3. **limit**: Expected integer, received string
   - Expected: integer
"""
TEXTS = [PYDANTIC, TYPESCRIPT, LANGCHAIN, ZOD, PRETTY, AJV_TEXT, AJV_JSON, TOOLVET]


@pytest.mark.parametrize("text", TEXTS)
def test_the_rules_understand_every_library(text: str) -> None:
    assert rules.heal({"qery": "x", "limit": "5"}, text) == {"query": "x", "limit": 5}


@pytest.mark.parametrize("text", ["An error occurred while running the tool. Please try again.", "", "[\n  {"])
def test_the_rules_leave_a_call_alone_that_the_text_says_nothing_of(text: str) -> None:
    assert rules.heal({"query": "x"}, text) == {"query": "x"}


def test_the_rules_keep_what_the_text_hides() -> None:
    text = '## Corrected Call:\n\n```json\n{"password": "[redacted]", "age": 3}\n```\n'
    assert rules.heal({"args": '{"Password": "a-secret", "age": 3}'}, text) == {"password": "a-secret", "age": 3}


@pytest.mark.parametrize(
    ("text", "sent", "healed"),
    [
        ("limit: Input should be less than or equal to 10", {"limit": 50}, {"limit": 10}),
        ("sort: Input should be 'asc' or 'desc'", {"sort": "ASC"}, {"sort": "asc"}),
        ("data/sort must be equal to one of the allowed values", {"sort": "ASC"}, {"sort": "asc"}),
        ("day: Input should be a valid date", {"day": "5 March 2024"}, {"day": "2024-03-05"}),
        ("params: Unrecognized key", {"params": {"a": 1}}, {"a": 1}),
    ],
)
def test_the_rules_change_values(text: str, sent: Any, healed: Any) -> None:
    assert rules.heal(sent, text) == healed


@pytest.mark.parametrize(
    ("text", "sent", "healed"),
    [
        ("limit: integer", {"limit": "5"}, {"limit": 5}),
        ("Expected one of 'asc', 'desc' at sort", {"sort": "ASC"}, {"sort": "asc"}),
        ("There is no `qery`, but there is `query`", {"qery": "x"}, {"query": "x"}),
        ('Try\n{"query": "x"}', {"arguments": {"query": "x"}}, {"query": "x"}),
    ],
)
def test_the_search_knows_no_phrases_and_takes_what_the_text_names(text: str, sent: Any, healed: Any) -> None:
    assert search.heal(sent, text, {written(sent)}) == healed


def test_the_search_never_tries_the_same_call_twice() -> None:
    sent = {"limit": "5"}
    assert search.heal(sent, "limit: integer", {written(sent), written({"limit": 5})}) not in (sent, {"limit": 5})


def test_the_ranker_learns_from_other_words_what_a_word_asks_for() -> None:
    def example(sent: Any, text: str, meant: Any) -> Example:
        return Example(sent, [(edit, edit.call == meant) for edit in edits(sent, text)])

    learned = Ranker()
    seen = [example({name: 1, "b": 2}, f"{name}: superfluous", {"b": 2}) for name in ("foo", "bar", "qux")]
    seen += [example({name: 1, "b": 2}, f"{name}: textual", {name: "1", "b": 2}) for name in ("foo", "bar", "qux")]
    learned.train(seen, 1)
    assert learned.heal({"new": 1, "c": 3}, "new: superfluous", []) == {"c": 3}
    assert learned.heal({"new": 1, "c": 3}, "new: textual", []) == {"new": "1", "c": 3}


def test_values_are_converted_only_where_there_is_a_plain_way() -> None:
    assert as_type("yes", "boolean") is True
    assert as_type("a, b", "array") == ["a", "b"]
    assert as_type("[1, 2]", "array") == [1, 2]
    assert as_type({"value": "5"}, "integer") == 5
    assert not as_type("plenty", "integer")
    assert likeness("qery", "query") > 0.8 > likeness("query", "limit")
    assert "2024-03-05T13:15:00Z" in instants("2024-03-05 1:15 PM")


class Reply(BaseHTTPRequestHandler):
    """Answers like a model's endpoint; a stand-in that knows one sentence."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == "/v1/chat/completions"
        assert self.headers["Authorization"] == "Bearer key"
        assert "limit must be integer" in asked["messages"][0]["content"]
        reply = {"choices": [{"message": {"content": 'Sure:\n```json\n{"limit": 5}\n```'}}]}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(reply).encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the standard library
        """Say nothing."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Reply)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_model_is_asked_over_http_and_its_json_taken(endpoint: str) -> None:
    assert Model(endpoint, "stand-in", "key").heal({"limit": "5"}, "limit must be integer") == {"limit": 5}


# ── the data set ──


def test_the_data_set_is_the_same_each_time_and_every_sent_call_is_wrong(tmp_path: Path) -> None:
    pools = calls.own()
    rows = calls.build(pools, 300)
    assert rows == calls.build(calls.own(), 300)
    assert calls.write(rows, pools, tmp_path / "one") == calls.write(rows, pools, tmp_path / "other")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    assert {row.fault for row in rows} == set(calls.FAULTS) == set(page.SOURCES)
    assert len(rows) == 300
    assert not any(same(row.sent, row.call) for row in rows)


def test_only_members_that_the_sent_call_does_not_determine_are_open() -> None:
    missing = calls.Broken(0, "missing_unknown", "missing", {"a": 1, "b": 2}, {"b": 2}, undetermined=True)
    assert missing.open_members() == {"a"}
    assert as_meant({"a": 7, "b": 2}, missing.call, {"a"})
    assert not as_meant({"a": 7, "b": 3}, missing.call, {"a"})
    assert not as_meant({"b": 2}, missing.call, {"a"})
    assert not as_meant({"a": True, "b": 2}, missing.call, set())


# ── whole ──


def study(of: Callable[[str], bool], total: int = 60) -> tuple[Study, list[list[Outcome]]]:
    pools = calls.own()
    tools = [tool for tool, _ in pools]
    found = [each for each in libraries.of_toolvet(tools) if of(each.name)]
    run = Study(tools, calls.build(pools, total), found)

    async def whole() -> list[list[Outcome]]:
        return [await run.outcomes(library, lambda _: HEALERS["rules"]) for library in found]

    return run, asyncio.run(whole())


def test_toolvets_text_heals_most_calls_and_its_words_alone_hardly_fewer() -> None:
    _, (whole, alone) = study(lambda name: name != "toolvet, no call to copy")
    assert sum(each.meant for each in whole) >= 0.85 * len(whole)
    assert sum(each.meant for each in alone) >= 0.8 * len(alone)
    assert not any(each.step == 0 for each in whole)


def test_without_the_calls_no_call_can_be_copied() -> None:
    text = (
        "a\n\n## Corrected Call:\n\n```json\n{}\n```\n\n## Tool Schema:\n\nb\n\n## Valid Example:\n\n```json\n{}\n```\n"
    )
    assert libraries.without_calls(text) == "a\n\n## Tool Schema:\n\nb\n\n"
    assert libraries.issues_alone("## Issues Found:\n\n1. **a**: x\n   - Example: 1\n\n## Suggestions:\n") == (
        "## Issues Found:\n\n1. **a**: x\n\n"
    )


class Search(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: str
    limit: int = Field(default=3, le=10)
    sort: Literal["asc", "desc"] = "asc"


def test_pydantic_and_fastmcp_are_called_for_real() -> None:
    pytest.importorskip("fastmcp")

    async def judged() -> list[libraries.Judged]:
        async with libraries.of_fastmcp([Search]) as fastmcp:
            each = [fastmcp, libraries.of_pydantic([Search])]
            sent: list[dict[str, Any]] = [{"query": "x", "limit": "5"}, {"query": "x", "limit": 50}]
            return [await library.judge(0, arguments) for library in each for arguments in sent]

    lenient, too_many, also_lenient, also_too_many = asyncio.run(judged())
    assert lenient.received == also_lenient.received == {"query": "x", "limit": 5, "sort": "asc"}
    assert "less than or equal to 10" in str(too_many.text)
    assert rules.heal({"query": "x", "limit": 50}, str(also_too_many.text)) == {"query": "x", "limit": 10}


def test_the_page_has_the_figures_of_the_file() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.render(page.read())


def test_the_figures_are_of_the_whole_data_set() -> None:
    figures = page.read()
    assert figures["calls"] == calls.CALLS
    assert list(figures["libraries"]) == libraries.ORDER
    for entry in figures["libraries"].values():
        assert entry["refused"] + entry["at once, as meant"] + entry["at once, not as meant"] == calls.CALLS
        for counts in entry["healers"].values():
            assert counts["in one"] <= counts["in three"] <= figures["refused by all"] - counts["not as meant"]
            assert sum(counts["faults"].values()) == counts["in three"]
