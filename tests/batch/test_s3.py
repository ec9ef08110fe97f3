"""A bucket is read and written as a folder is, against a server of S3 in this process."""

import json
from pathlib import Path
from typing import Any

import pyarrow.fs as pafs
import pytest
from tests.batch.conftest import GOOD, REFUSAL, Judge, rows_of

from toolvet.batch.location import locate
from toolvet.batch.summary.describe import SummaryOptions, summarise


def test_a_bucket_is_an_input_and_an_output(
    s3: Any, tmp_path: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    s3.create_dir("bucket")
    for name, text in (("a", GOOD), ("b", REFUSAL)):
        with s3.open_output_stream(f"bucket/logs/{name}.jsonl") as stream:
            stream.write(f"{json.dumps({'text': text})}\n".encode())
    outcome = judge("s3://bucket/logs", "s3://bucket/verdicts.parquet")
    assert outcome.is_complete
    (tmp_path / "out.parquet").write_bytes(s3.open_input_stream("bucket/verdicts.parquet").read())
    assert [row["score"] for row in rows_of(tmp_path / "out.parquet")] == [1.0, 0.25]
    (found,) = summarise([locate("s3://bucket/verdicts.parquet")], SummaryOptions(), source="out").signals
    assert (found.name, found.examples[0].file) == ("refusal", "s3://bucket/logs/b.jsonl")
    names = [each.path for each in s3.get_file_info(pafs.FileSelector("bucket"))]
    assert sorted(names) == ["bucket/logs", "bucket/verdicts.parquet"]
