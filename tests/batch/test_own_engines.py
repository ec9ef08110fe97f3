"""The programs of docs/batch.md, as printed there: other engines write the verdicts that ours writes."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.batch.conftest import GOOD, REFUSAL, Judge

PAGE = Path(__file__).parents[2] / "docs" / "batch.md"
SECTION = PAGE.read_text(encoding="utf-8").partition("\n## In your own engine\n")[2].partition("\n## ")[0]
PROGRAMS = dict(re.findall(r"^### (.+?)\n\n```python\n(.+?)^```", SECTION, re.MULTILINE | re.DOTALL))
MODULES = {"Polars": "polars", "DuckDB": "duckdb", "Spark": "pyspark", "Ray Data": "ray"}
HEAVY = ("Spark", "Ray Data")


def test_each_program_is_short_and_known() -> None:
    assert set(PROGRAMS) == {*MODULES, "Daft"}  # Daft's is a function on a column, and no program.
    assert max(len(program.splitlines()) for program in PROGRAMS.values()) <= 20


@pytest.mark.timeout(900)
@pytest.mark.parametrize("engine", MODULES)
def test_another_engine_writes_the_verdicts_of_ours(engine: str, tmp_path: Path, judge: Judge) -> None:
    if engine in HEAVY and os.environ.get("TOOLVET_ENGINES") != "required":
        pytest.skip(f"{engine} takes a minute to start: `make engines` runs it")
    if find_spec(MODULES[engine]) is None and os.environ.get("TOOLVET_ENGINES") != "required":
        pytest.skip(f"{MODULES[engine]} is not installed")
    texts = [REFUSAL if row % 10 == 0 else None if row == 7 else f"{GOOD} Room {row}." for row in range(300)]
    table = pa.table({"id": range(300), "response": texts, "model": ["m"] * 300})
    pq.write_table(table, tmp_path / "logs.parquet", row_group_size=100)
    judge(tmp_path / "logs.parquet", tmp_path / "ours.parquet")
    (tmp_path / "program.py").write_text(PROGRAMS[engine], encoding="utf-8")
    own = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        check=False,
    )
    written = next(tmp_path.glob("verdicts*"), None)
    assert done.returncode == 0, done.stderr
    assert written is not None, done.stderr
    found = pq.read_table(written).to_pylist()
    wanted = pq.read_table(tmp_path / "ours.parquet").drop_columns(["row"]).to_pylist()
    assert sorted(found, key=lambda row: int(row["id"])) == wanted
    assert [*found[0]] == [*wanted[0]]
