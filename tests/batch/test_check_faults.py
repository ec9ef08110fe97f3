"""An exception of a check in a batch: its row has a problem, and the others their verdicts."""

import pyarrow as pa
import pytest

from toolvet.batch import BatchCheck
from toolvet.core.checks import ArgumentCheck


def test_the_row_gets_a_problem_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    real = ArgumentCheck.__call__

    def check(self: ArgumentCheck, tool: object, sent: object, **more: object) -> object:
        if "odd" in str(sent):
            raise KeyError("secret")
        return real(self, tool, sent, **more)  # type: ignore[arg-type]  # handed on

    monkeypatch.setattr(ArgumentCheck, "__call__", check)
    judge = BatchCheck("arguments", tools=[{"name": "sail", "inputSchema": {"required": ["port"]}}])
    rows = judge(pa.record_batch({"arguments": ["{}", '{"odd": 1}', '{"port": "Lisbon"}']})).to_pylist()
    assert [row["valid"] for row in rows] == [False, None, True]
    assert rows[1]["problem"].startswith("could not be checked, because of a bug in toolvet: KeyError at ")
