"""A plain install has no database and no HTTP: what needs them says how to install them."""

import subprocess
import sys
from pathlib import Path

import pytest

from toolvet.errors import MissingExtraError

_PLAIN = """
import sys
for name in ("aiohttp", "alembic", "daft", "distributed", "duckdb", "httpx2", "joserfc", "numpy", "opentelemetry",
             "prometheus_client", "pyarrow", "sqlalchemy", "starlette", "uvicorn"):
    sys.modules[name] = None
from toolvet.cli import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("check answer --store new.db answers.txt", "store"),
        ("review list --store old.db", "store"),
        ("store send langfuse --store old.db", "store"),
        ("proxy --store new.db -- cat", "store"),
        ("trace --store old.db", "store"),
        ("assess http://127.0.0.1:9/mcp", "http"),
        ("proxy http://127.0.0.1:9/mcp", "http"),
        ("proxy --listen 127.0.0.1:0 http://127.0.0.1:9/mcp", "http"),
        ("proxy --metrics 127.0.0.1:0 -- cat", "http"),
        ("proxy --otel -- cat", "otel"),
        ("serve", "serve"),
        ("serve token ada", "serve"),
        ("batch answers answers.txt out.parquet", "batch"),
    ],
)
def test_a_command_names_the_extra_that_it_needs(command: str, extra: str, tmp_path: Path) -> None:
    (tmp_path / "answers.txt").write_text("I cannot help with that.\n")
    (tmp_path / "old.db").touch()
    done = subprocess.run(
        [sys.executable, "-c", _PLAIN, *command.split()],
        cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert f"toolvet[{extra}]" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "new.db").exists()


@pytest.mark.parametrize("command", ["check answer answers.txt", "check answer --store calls.jsonl answers.txt"])
def test_a_plain_install_checks_answers(command: str, tmp_path: Path) -> None:
    (tmp_path / "answers.txt").write_text("I cannot help with that.\n")
    done = subprocess.run(
        [sys.executable, "-c", _PLAIN, *command.split()],
        cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "")


def test_the_library_raises_an_import_error_that_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    from toolvet.store import Store  # noqa: PLC0415 - where SQLAlchemy is missing

    with pytest.raises(MissingExtraError, match=r"toolvet\[store\]"):
        Store("calls.db")
    assert issubclass(MissingExtraError, ImportError)
