"""`BatchCheck`: what our engine writes on the same rows, whatever kind of batch it is given."""

import json
import pickle
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.batch.conftest import GOOD, REFUSAL, Judge, rows_of

from toolvet.batch import BatchCheck, check as checking
from toolvet.core.checks.answer.custom import BadOption
from toolvet.errors import UsageError

TOOL = {"name": "sail", "inputSchema": {"type": "object", "required": ["port"]}}
MESSAGES = [{"role": "user", "content": "May I?"}, {"role": "assistant", "content": REFUSAL}]
ROWS: dict[str, dict[str, list[Any]]] = {
    "answers": {"text": [GOOD, REFUSAL, None], "problem": ["of the caller's", None, None]},
    "results": {"result": [json.dumps({"content": [{"type": "text", "text": "42"}]}), '{"isError": true}', "text"]},
    "arguments": {"arguments": ["{}", '{"port": "Lisbon"}'], "tool": ["sail", "row"]},
    "envelopes": {"envelope": ['{"success": "yes"}', "no envelope"]},
    "conversations": {"messages": [json.dumps(MESSAGES)]},
}


@pytest.mark.parametrize("kind", ROWS)
def test_the_verdicts_of_each_kind_are_those_of_the_command(kind: Any, tmp_path: Path, judge: Judge) -> None:
    rows = ROWS[kind]
    table = pa.table({"id": [f"row {row}" for row in range(len(next(iter(rows.values()))))], **rows})
    pq.write_table(table, tmp_path / "in.parquet")
    judge(tmp_path / "in.parquet", tmp_path / "out.parquet", kind=kind, tools={"sail": TOOL})
    wanted = [
        {name: value for name, value in row.items() if name != "row"} for row in rows_of(tmp_path / "out.parquet")
    ]
    check = BatchCheck(kind, tools=[TOOL])
    verdicts = check(table)
    assert verdicts.to_pylist() == wanted
    assert verdicts.schema == check.schema(table.schema)
    travelled = pickle.loads(pickle.dumps(check))  # noqa: S301 - ours
    assert travelled(table.to_batches()[0]).to_pylist() == wanted


def test_options_and_columns_are_those_of_the_caller(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text("[checks.answer]\nmin_length = 5\n", encoding="utf-8")
    columns = {"text": "said", "id": "uuid"}
    check = BatchCheck(
        "answers", columns=columns, keep=["model"], settings=tmp_path / "own.toml", weights={"refusal": 0}
    )
    (tmp_path / "own.toml").unlink()
    batch = pa.record_batch({"uuid": [1, 2], "model": ["a", "b"], "said": ["It is 42.", REFUSAL], "more": [None, None]})
    verdicts = pickle.loads(pickle.dumps(check))(batch)  # noqa: S301 - ours
    assert verdicts.schema.names[:4] == ["id", "model", "length", "likely_good"]
    assert verdicts.column("score").to_pylist() == [1.0, 1.0]
    assert BatchCheck("answers", columns=columns)(batch).column("score").to_pylist() == [0.2, 0.25]


def test_what_cannot_be_used_is_said_where_it_is_given() -> None:
    with pytest.raises(UsageError, match="there is no kind 'answer'; there are answers, results"):
        BatchCheck("answer")  # type: ignore[arg-type]
    with pytest.raises(BadOption):
        BatchCheck("answers", threshold=7)
    check = BatchCheck("answers", columns={"text": "words"}, keep=["model"])
    with pytest.raises(UsageError, match=r"the batch has no column 'words' \(--text\)"):
        check.schema(pa.schema({"text": pa.string(), "model": pa.string()}))
    with pytest.raises(UsageError, match="has no column 'model'"):
        check.schema(pa.schema({"words": pa.string()}))
    with pytest.raises(UsageError, match="a column 'score' of its own"):
        BatchCheck("answers", keep=["score"]).schema(pa.schema({"text": pa.string(), "score": pa.int8()}))
    with pytest.raises(TypeError, match="holds int64, not texts"):
        BatchCheck("answers")(pa.record_batch({"text": [1]}))


@pytest.mark.parametrize(
    "form", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
)
def test_a_batch_of_any_size_is_judged_in_parts(form: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"{GOOD} {GOOD}", REFUSAL, None, GOOD] * 30
    batch = pa.record_batch({"text": pa.array(texts, pa.string()).cast(form), "id": range(120)})
    check = BatchCheck("answers", keep=["text"])
    whole = check(batch)
    monkeypatch.setattr(checking, "_MOST_BYTES", 600)
    parts = [*check.each([batch])]
    assert 3 < len(parts) < 60
    assert [row for part in parts for row in part.to_pylist()] == whole.to_pylist()
    assert check(batch) == whole
    assert whole.schema == check.schema(batch.schema)


def test_no_rows_are_no_verdicts() -> None:
    check = BatchCheck("answers")
    batch = pa.record_batch({"text": pa.array([], pa.string())})
    assert check(batch).num_rows == 0
    assert check(batch).schema == check(pa.Table.from_batches([], batch.schema)).schema == check.schema(batch.schema)


def test_a_model_is_read_here_and_not_by_a_worker(tmp_path: Path) -> None:
    file = tmp_path / "own.bin"
    file.write_bytes((files("toolvet.core.checks.answer.model") / "weights.bin").read_bytes())
    check = BatchCheck("answers", columns={"text": "text"}, model=str(file))
    file.unlink()
    again = pickle.loads(pickle.dumps(check))  # noqa: S301 - what we just made
    assert again(pa.table({"text": ["I cannot help with that request."]})).column("should_escalate").to_pylist() == [
        True
    ]
