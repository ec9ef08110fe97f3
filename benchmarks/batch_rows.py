"""The rows that benchmarks of `toolvet batch` judge.

    write("real", 1_000_000, path)   good answers of 500 to 4,000 characters, 1,300 in the mean, each with its number
    write("clean", 1_000_000, path)  one short sentence each
    write("results", …), write("arguments", …), write("envelopes", …), write("conversations", …)

Where labelled data stands beside the project, its rows are taken, again and again; else the project's own prose, and
made ones.
"""

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.real_answers import DATA, PROJECT

SHORT: Final = "The museum opens at nine and closes at six, and room {} is the one with the maps."
PART: Final = 20_000  # Rows that are made at once: a million of them as objects would take gigabytes.

Columns = dict[str, list[Any]]


def lines(name: str) -> list[dict[str, Any]]:
    """The labelled rows of a file beside the project; none if it is missing."""
    path = DATA / name
    if not path.exists():
        return []
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in content.split(b"\n") if line]


def good_answers() -> list[str]:
    """Good answers, or the project's own prose in pieces of their length."""
    found = [row["text"] for row in lines("good_answer.jsonl") if 500 <= len(row["text"]) <= 4_000]
    if found:
        return found
    pages = "\n".join(page.read_text(encoding="utf-8") for page in sorted(PROJECT.glob("docs/*.md")))
    paragraphs = [each for each in pages.split("\n\n") if len(each) > 300]
    return ["\n\n".join(paragraphs[at : at + 3]) for at in range(0, len(paragraphs), 3)]


def _answers(numbers: Sequence[int]) -> Columns:
    texts = good_answers()
    # No two rows are alike, as in a log; the number stands where it changes no verdict.
    return {"text": [f"Answer {number}: {texts[number % len(texts)]}" for number in numbers]}


def _clean(numbers: Sequence[int]) -> Columns:
    return {"text": [SHORT.format(number) for number in numbers]}


def _results(numbers: Sequence[int]) -> Columns:
    texts = [row["text"] for row in lines("tool_response.jsonl")] or ['{"content": [{"type": "text", "text": "42"}]}']
    return {"result": [texts[number % len(texts)] for number in numbers]}


def _arguments(numbers: Sequence[int]) -> Columns:
    known = [row for row in lines("schema_validation.jsonl") if str(row["dataset"]).startswith("bfcl")] or [
        {"instance": {"port": "Lisbon"}, "schema": {"type": "object", "required": ["port"]}}
    ]
    chosen = [known[number % len(known)] for number in numbers]
    return {name: [json.dumps(row[found]) for row in chosen] for name, found in ARGUMENTS.items()}


ARGUMENTS: Final = {"arguments": "instance", "schema": "schema"}


def _envelopes(numbers: Sequence[int]) -> Columns:
    made = ({"success": number % 10 != 0, "data": {"items": [number, "found"]}, "error": None} for number in numbers)
    return {"envelope": [json.dumps(each) for each in made]}


def _conversations(numbers: Sequence[int]) -> Columns:
    known = [_messages(row) for row in lines("grounding.jsonl.gz")] or [
        _messages({"question": "When?", "calls": [], "text": SHORT.format(7)})
    ]
    return {"messages": [known[number % len(known)] for number in numbers]}


def _messages(row: dict[str, Any]) -> str:
    """A turn as the messages of a chat API."""
    calls = [
        {"id": f"c{number}", "type": "function", "function": _function(call)}
        for number, call in enumerate(row["calls"])
    ]
    results = [
        {"role": "tool", "tool_call_id": f"c{number}", "content": json.dumps(call.get("result"))}
        for number, call in enumerate(row["calls"])
    ]
    asked = [{"role": "assistant", "content": None, "tool_calls": calls}] if calls else []
    said = {"role": "assistant", "content": row["text"]}
    return json.dumps([{"role": "user", "content": row["question"]}, *asked, *results, said])


def _function(call: dict[str, Any]) -> dict[str, str]:
    return {"name": str(call.get("name", "tool")), "arguments": json.dumps(call.get("arguments") or {})}


MAKERS: Final[dict[str, tuple[str, Callable[[Sequence[int]], Columns]]]] = {
    "real": ("answers", _answers),
    "clean": ("answers", _clean),
    "results": ("results", _results),
    "arguments": ("arguments", _arguments),
    "envelopes": ("envelopes", _envelopes),
    "conversations": ("conversations", _conversations),
}
"""For each sort of rows, the kind that `toolvet batch` takes them for, and what makes those with these numbers."""


def batches(name: str, count: int) -> Iterator[pa.RecordBatch]:
    """Rows with their ids, in batches of `PART`."""
    for first in range(0, count, PART):
        numbers = range(first, min(count, first + PART))
        yield pa.record_batch({"id": list(numbers), **MAKERS[name][1](numbers)})


def write(name: str, count: int, path: Path) -> tuple[int, int]:
    """Write a file of Parquet, and return the bytes of its texts and those of the file."""
    size = 0
    writer = None
    for batch in batches(name, count):
        writer = writer or pq.ParquetWriter(path, batch.schema, compression="zstd")
        writer.write_batch(batch)
        size += sum(batch.column(place).nbytes for place in range(1, batch.num_columns))
    assert writer is not None
    writer.close()
    return size, path.stat().st_size
