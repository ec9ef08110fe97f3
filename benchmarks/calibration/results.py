"""How often the `certainty` of `check_result` is true: that an error is business logic, or the tool's failure."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.calibration.reliability import Judged

from toolvet import check_result

KINDS = {"business_error": "business", "business": "business", "tool_failure": "tool_failure"}


def results(path: Path) -> Iterator[Judged]:
    """Each labelled error, flagged as one."""
    file = path / "tool_response.jsonl" if path.is_dir() else path
    for line in file.read_text(encoding="utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        kind = KINDS.get(row.get("kind") or row.get("label") or "")
        meta = row.get("meta") or {}
        if kind is None or meta.get("contested"):
            continue
        tool = {"name": row.get("tool") or meta.get("tool") or "tool"}
        answer = {"isError": True, "content": [{"type": "text", "text": row["text"]}]}
        verdict = check_result(tool, row.get("arguments") or {}, answer)
        source = str(row.get("dataset") or row.get("source", "").split(" ")[0] or file.stem)
        yield Judged(source, verdict.certainty or 0.0, verdict.error_kind == kind)
