"""The kernels of results, arguments, envelopes and conversations give each row the verdict of the checks."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.batch.conftest import Judge, rows_of
from tests.labelled import DATA

from toolvet import check_arguments, check_conversation, check_result
from toolvet.batch.kernel.arguments import ArgumentsKernel
from toolvet.batch.kernel.conversations import ConversationsKernel
from toolvet.batch.kernel.envelopes import EnvelopesKernel
from toolvet.batch.kernel.results import ResultsKernel
from toolvet.batch.plan import read_tools
from toolvet.core.checks.arguments import ArgumentCheck
from toolvet.core.checks.result import ResultCheck
from toolvet.core.envelope import check_envelope
from toolvet.core.envelope.check import EnvelopeVerdict
from toolvet.core.turn import ConversationCheck

ERROR = {"isError": True, "content": [{"type": "text", "text": "connect ECONNREFUSED 127.0.0.1:5432"}]}
SUCCESS = {"content": [{"type": "text", "text": "42"}]}
TOOL = {
    "name": "sail",
    "inputSchema": {"type": "object", "required": ["port"], "properties": {"port": {"enum": ["Lisbon", "Porto"]}}},
}
MESSAGES = [
    {"role": "user", "content": "Please mail the report to Ann."},
    {"role": "assistant", "content": "Done, I have sent the report to Ann."},
]


def json_column(values: list[object]) -> Any:
    texts = [None if value is None else json.dumps(value) for value in values]
    return pa.ExtensionArray.from_storage(pa.json_(), pa.array(texts, pa.string()))


def assert_result(row: dict[str, Any], result: object) -> None:
    wanted = check_result({"name": "tool"}, {}, result).to_dict()
    metadata: Any = wanted.pop("metadata")
    assert {name: row[name] for name in wanted} == wanted
    assert row["content_types"] == metadata["content_types"]
    assert row["taken_for"] == metadata.get("taken_for")
    assert row["problem"] is None


def test_results_of_every_kind_of_column_are_judged() -> None:
    results = [ERROR, SUCCESS, "just a text", None, {"content": []}]
    kernel = ResultsKernel(ResultCheck())
    for row, result in zip(kernel(pa.record_batch({"result": json_column(results)})).to_pylist(), results, strict=True):
        assert_result(row, result)
    nested = kernel(pa.record_batch({"result": pa.array([ERROR, ERROR])})).to_pylist()
    assert_result(nested[1], ERROR)
    texts = kernel(pa.record_batch({"result": [json.dumps(ERROR), "no JSON", "{broken"]})).to_pylist()
    for row, result in zip(texts, [ERROR, "no JSON", "{broken"], strict=True):
        assert_result(row, result)


@pytest.mark.labelled
def test_labelled_results_have_the_verdicts_of_check_result() -> None:
    records = [json.loads(line) for line in (DATA / "tool_response.jsonl").read_bytes().split(b"\n") if line][::4]
    results = [record["text"] for record in records]
    rows = ResultsKernel(ResultCheck())(pa.record_batch({"result": json_column(results)})).to_pylist()
    for row, result in zip(rows, results, strict=True):
        assert_result(row, result)


def test_arguments_are_held_against_the_schema_of_their_tool() -> None:
    kernel = ArgumentsKernel(ArgumentCheck(), {"sail": TOOL}, {"tool": "tool", "schema": "schema"})
    sent = [{"port": "Lisbon"}, {"port": "lisbon"}, {}, {"n": 1}, {"port": "Porto"}]
    schema = {"type": "object", "properties": {"n": {"type": "string"}}}
    batch = pa.record_batch(
        {
            "arguments": json_column([*sent]),
            "tool": ["sail", "sail", None, None, "fly"],
            "schema": json_column([None, None, None, schema, None]),
        }
    )
    rows = kernel(batch).to_pylist()
    reports = [check_arguments(TOOL, each) for each in sent[:3]] + [check_arguments(schema, sent[3])]
    assert [row["valid"] for row in rows] == [*(report.valid for report in reports), None]
    for row, report in zip(rows, reports, strict=False):
        assert [each["problem"] for each in row["violations"]] == [issue.problem for issue in report.issues]
        assert [each["pointer"] for each in row["violations"]] == [issue.pointer for issue in report.issues]
    assert json.loads(rows[1]["repaired"]) == {"port": "Lisbon"}
    assert rows[4]["problem"] == "there is no definition of the tool 'fly'"


def test_envelopes_have_their_findings() -> None:
    envelopes: list[Any] = [{"success": "yes"}, {"envelope": {"success": True, "data": {}, "meta": {}}}, 12]
    rows = EnvelopesKernel()(pa.record_batch({"envelope": json_column(envelopes)})).to_pylist()
    for row, envelope in zip(rows, [envelopes[0], envelopes[1]["envelope"]], strict=False):
        document: Any = EnvelopeVerdict(check_envelope(envelope)).to_dict()
        assert row["valid"] is document["valid"]
        assert row["findings"] == document["findings"]
    assert rows[2]["problem"] == "must be a JSON object, not int"


def test_conversations_are_judged_turn_by_turn() -> None:
    anthropic = [
        {"role": "user", "content": "Mail it."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "sail", "input": {"port": "Rome"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "is_error": True, "content": "boom"}]},
        {"role": "assistant", "content": "Done, I have sent it."},
    ]
    kernel = ConversationsKernel(ConversationCheck(), {"tools": "tools"})
    batch = pa.record_batch(
        {"messages": json_column([MESSAGES, anthropic, "no messages"]), "tools": json_column([None, [TOOL], None])}
    )
    rows = kernel(batch).to_pylist()
    for row, messages, tools in zip(rows, [MESSAGES, anthropic], [None, [TOOL]], strict=False):
        verdict = check_conversation(messages, tools=tools)
        answers = [each.answer for each in verdict.turns if each.answer is not None]
        assert row["should_escalate"] is verdict.should_escalate
        assert row["score"] == min(answer.score for answer in answers)
        assert [each["label"] for each in row["answers"][0]["signals"]] == [each.label for each in answers[0].signals]
        assert [each["tool"] for each in row["failed_calls"]] == [each.call.name for each in verdict.failed_calls]
    assert rows[1]["failed_calls"][0]["valid"] is False
    assert rows[2]["problem"].startswith("messages must be a list of messages, not str")


def test_lines_are_judged_as_they_are_where_no_member_is_named(tmp_path: Path, judge: Judge) -> None:
    given: dict[str, list[object]] = {
        "results": [ERROR, {"id": "b", "result": SUCCESS, "tool": "get_answer"}, "a text"],
        "arguments": [{"port": "Lisbon"}, {"arguments": {"port": "Rome"}, "tool": "sail", "id": "b"}],
        "envelopes": [{"success": "yes"}, {"id": "b", "envelope": {"success": "yes"}}],
        "conversations": [MESSAGES, {"id": "b", "messages": MESSAGES}, {"contents": MESSAGES}],
    }
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([TOOL]), encoding="utf-8")
    judged = {}
    for kind, records in given.items():
        source = tmp_path / f"{kind}.jsonl"
        source.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
        known = read_tools(str(tools)) if kind == "arguments" else None
        judge(source, tmp_path / "out.parquet", kind=kind, tools=known)
        judged[kind] = rows_of(tmp_path / "out.parquet")
        assert [row["problem"] for row in judged[kind]] == [None] * len(records), kind
        assert judged[kind][1]["id"] == "b"
    assert [row["classification"] for row in judged["results"]] == ["error", "fully_working", "fully_working"]
    assert [row["valid"] for row in judged["arguments"]] == [True, False]
    assert [row["valid"] for row in judged["envelopes"]] == [False, False]
    assert [row["should_escalate"] for row in judged["conversations"]] == [True, True, True]


def test_a_result_that_leaves_the_contract_of_its_tool_has_an_issue() -> None:
    contracts = {"count": {"name": "count", "outputSchema": {"type": "object", "required": ["total"]}}}
    wrong, good = ({"content": [{"type": "text", "text": json.dumps(each)}]} for each in ({"sum": 3}, {"total": 3}))
    kernel = ResultsKernel(ResultCheck(), {"tool": "tool"}, contracts)
    batch = pa.record_batch(
        {
            "result": json_column([wrong, {"sum": 3}, '{"sum": 3}', good, wrong, {**wrong, "isError": True}]),
            "tool": json_column(["count", {"name": "count"}, "count", "count", "other", "count"]),
        }
    )
    left = [[issue for issue in row["issues"] if issue.startswith("Contract: ")] for row in kernel(batch).to_pylist()]
    assert [len(each) for each in left] == [1, 1, 1, 0, 0, 0]
    assert '"total" is a required property' in left[0][0]
