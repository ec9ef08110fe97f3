"""Hold every accuracy figure to the best that was reached: `python -m benchmarks.ratchet DATA`, or `make ratchet`.

`accuracy-floors.json` holds `{task: {group: {field: [op, value]}}}`, where `op` is "ge" or "le": the figure must be at
least, or at most, the value. A figure that falls short is printed with its task, data set, value and floor, and the
exit code is 1. `--update` (`make floors`) moves floors to figures that are better and never back: lower a floor by
hand, in the commit that has the reason.

DATA is a folder of labelled JSONL as in `benchmarks/accuracy.py`; the data are not part of the project, and without
them nothing is compared and the exit code is 0. Another scorer that prints figures in the same shape, `{task: {group:
{field: value}}}`, may take them instead: `--figures FILE`.
"""

import argparse
import gzip
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

import jsonschema_rs
from benchmarks.calibration.tables import figures, repair_figures
from benchmarks.tasks import TASKS, Task

from toolvet import SignalType, check_answer, check_arguments, check_result, valid_example
from toolvet.core.turn.check import verdict

FLOORS: Final = Path(__file__).parent.parent / "accuracy-floors.json"
ABOUT: Final = "about"  # The one key of the file that is not a task: a sentence for the reader.
BETTER_UP: Final = frozenset(
    [
        *("f1", "recall", "precision", "accuracy", "balanced_accuracy", "three_way_macro_f1", "auc", "agree", "valid"),
        "in_order",
    ]
)
# An `ece` (calibration error) is in neither: it must stay below its ceiling, and moves a little with every better rule.
BETTER_DOWN: Final = frozenset(["false_alarm_rate", "false_escalation_rate", "share"])
LARGEST_TURN: Final = 400_000  # Characters of results: longer turns are left out, as they take minutes.
WEIGHTY: Final = 0.25
JSON_SCHEMA_7: Final = "http://json-schema.org/draft-07/schema#"

Row = Mapping[str, Any]
Figures = Mapping[str, Mapping[str, Mapping[str, object]]]
Floors = dict[str, dict[str, dict[str, tuple[str, float]]]]


class Short(NamedTuple):
    """A figure that misses its floor; `got` is None where the figure was not taken."""

    task: str
    group: str
    field: str
    got: float | None
    op: str
    floor: float

    def __str__(self) -> str:
        """The sentence that a failed run ends with."""
        side = "below" if self.op == "ge" else "above"
        got = "was not taken" if self.got is None else f"is {self.got:g}, {side}"
        return f"{self.task}, {self.group or 'all rows'}: {self.field} {got} its floor of {self.floor:g}"


def main(words: Sequence[str] | None = None) -> int:
    """Compare, or update; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="a folder of labelled JSONL")
    parser.add_argument("--figures", type=Path, help="figures that another scorer took, as JSON, instead of DATA")
    parser.add_argument("--floors", type=Path, default=FLOORS)
    parser.add_argument("--update", action="store_true", help="raise floors to figures that are better")
    given = parser.parse_args(words)
    figures = json.loads(given.figures.read_text(encoding="utf-8")) if given.figures else taken(given.data)
    if not figures:
        print(f"ratchet: no labelled data in {given.data or 'any folder given'}; nothing was compared")
        return 0
    about, floors = read(given.floors)
    if given.update:
        floors = raised(floors, figures)
        given.floors.write_text(written(about, floors), encoding="utf-8")
    missed = list(short(figures, floors))
    print(*(f"ratchet: {each}" for each in missed), sep="\n", end="\n" if missed else "")
    compared = sum(
        len(fields)
        for task, groups in figures.items()
        for group, fields in floors.get(task, {}).items()
        if group in by_group(groups)
    )
    every = sum(len(fields) for groups in floors.values() for fields in groups.values())
    print(f"ratchet: {compared - len(missed)} of {compared} figures hold; {every - compared} floors were not compared")
    return 1 if missed else 0


# ── floors ──


def read(path: Path) -> tuple[str, Floors]:
    """The sentence about the file, and its floors; none without such a file."""
    table = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    about = str(table.pop(ABOUT, ""))
    return about, {
        task: {
            group: {field: (str(op), float(value)) for field, (op, value) in fields.items()}
            for group, fields in groups.items()
        }
        for task, groups in table.items()
    }


def written(about: str, floors: Floors) -> str:
    """The file, one group on a line, so that a change of one data set is a change of one line."""
    tasks = [
        f"  {json.dumps(task)}: {{\n"
        + ",\n".join(
            f"    {json.dumps(group, ensure_ascii=False)}: {json.dumps(fields, ensure_ascii=False)}"
            for group, fields in groups.items()
        )
        + "\n  }"
        for task, groups in floors.items()
    ]
    return "{\n" + ",\n".join([f"  {json.dumps(ABOUT)}: {json.dumps(about, ensure_ascii=False)}", *tasks]) + "\n}\n"


def short(figures: Figures, floors: Floors) -> Iterator[Short]:
    """Every figure that misses its floor. A task, or a group of it, that was not scored is not compared."""
    for task, groups in figures.items():
        tables = by_group(groups)
        for group, fields in floors.get(task, {}).items():
            if group not in tables:
                continue
            for field, (op, floor) in fields.items():
                got = tables[group].get(field)
                number = float(got) if isinstance(got, (int, float)) else None
                if number is None or (number < floor if op == "ge" else number > floor):
                    yield Short(task, group, field, number, op, floor)


def raised(floors: Floors, figures: Figures) -> Floors:
    """The floors with every better figure in its place, and with those that are new; none is ever lowered."""
    result: Floors = {
        task: {group: dict(fields) for group, fields in groups.items()} for task, groups in floors.items()
    }
    for task, groups in figures.items():
        for group, fields in by_group(groups).items():
            for field, got in fields.items():
                op = "ge" if field in BETTER_UP else "le" if field in BETTER_DOWN else None
                if op is None or not isinstance(got, (int, float)):
                    continue
                before = result.get(task, {}).get(group, {}).get(field, (op, got))[1]
                best = max(before, float(got)) if op == "ge" else min(before, float(got))
                # A floor of nothing, or a ceiling of everything, holds nothing.
                if best != (0 if op == "ge" else 1):
                    result.setdefault(task, {}).setdefault(group, {})[field] = (op, best)
    return result


def by_group(groups: Mapping[str, object]) -> Mapping[str, Mapping[str, object]]:
    """The figures of a task by group; a task without groups is the group with the empty name."""
    tables = {group: fields for group, fields in groups.items() if isinstance(fields, Mapping)}
    return tables or {"": groups}


# ── figures ──


def taken(folder: Path | None) -> dict[str, dict[str, Any]]:
    """The figures of each task that the folder has rows for."""
    if folder is None or not folder.is_dir():
        return {}
    return {task: score(data, folder) for task, (file, score) in SCORES.items() if (data := rows(folder, file))}


def rows(folder: Path, name: str) -> list[Row]:
    """The rows of a file, packed or not, without those that the text alone cannot decide (`meta.contested`)."""
    found: list[Row] = []
    for path, opened in ((folder / f"{name}.jsonl", open), (folder / f"{name}.jsonl.gz", gzip.open)):
        if path.exists():
            with opened(path, "rt", encoding="utf-8") as lines:
                found += [json.loads(line) for line in lines if line.strip()]
    return [row for row in found if not meta(row).get("contested")]


def meta(row: Row) -> Mapping[str, Any]:
    return row.get("meta") or {}


def groups(data: Sequence[Row], keys: Sequence[str] = ("dataset", "lang")) -> Iterator[tuple[str, list[Row]]]:
    """All rows, then the rows of each data set and of each language, if several."""
    yield "ALL", list(data)
    for key in keys:
        parts: dict[str, list[Row]] = defaultdict(list)
        for row in data:
            parts[str(row.get(key))].append(row)
        if len(parts) > 1:
            yield from ((f"{key}={name}", part) for name, part in sorted(parts.items()))


def rates(truth: Sequence[bool], said: Sequence[bool]) -> dict[str, Any]:
    """Precision, recall and what follows from them, to three digits."""
    pairs = list(zip(truth, said, strict=True))
    found, alarms = pairs.count((True, True)), pairs.count((False, True))
    missed, silent = pairs.count((True, False)), pairs.count((False, False))
    precision = found / (found + alarms) if found + alarms else 0.0
    recall = found / (found + missed) if found + missed else 0.0
    return {
        "n": len(pairs),
        "precision": round(precision, 3),
        "recall": round(recall, 3),
        "f1": round(2 * precision * recall / (precision + recall), 3) if precision + recall else 0.0,
        "accuracy": round((found + silent) / len(pairs), 3) if pairs else None,
        "false_alarm_rate": round(alarms / (alarms + silent), 3) if alarms + silent else None,
    }


def signals(task: Task) -> Callable[[Sequence[Row], Path], dict[str, Any]]:
    """How a task of `benchmarks/accuracy.py` is scored: is the signal there where the label says so?"""

    def score(data: Sequence[Row], _folder: Path) -> dict[str, Any]:
        kept = [
            row
            for row in data
            if task.negative is None or row["label"] in task.negative or row["label"] in task.positive
        ]
        said = {row["id"]: task.says(check_answer(row["text"], min_length=task.min_length)) for row in kept}
        return {
            name: rates([row["label"] in task.positive for row in part], [said[row["id"]] for row in part])
            for name, part in groups(kept)
        }

    return score


def false_escalations(data: Sequence[Row], _folder: Path) -> dict[str, Any]:
    """Good answers that would be looked at; one cut by a token limit may be called cut."""
    flagged: dict[str, bool] = {}
    for row in data:
        quality = check_answer(row["text"], min_length=0)
        if meta(row).get("cut"):
            whole = [each for each in quality.signals if each.type is not SignalType.INCOMPLETE_REASONING]
            quality = verdict(whole)
        flagged[row["id"]] = quality.should_escalate
    return {
        name: {"n": len(part), "false_escalation_rate": share(flagged[row["id"]] for row in part)}
        for name, part in groups(data)
    }


def hallucination(data: Sequence[Row], _folder: Path) -> dict[str, Any]:
    """How often a wrong answer scores below a right one."""
    scored = [(check_answer(row["text"]).score, row["label"] == "hallucination") for row in data]
    wrong = [score for score, is_wrong in scored if is_wrong]
    right = [score for score, is_wrong in scored if not is_wrong]
    wins = sum((one < two) + 0.5 * (one == two) for one in wrong for two in right)
    return {"n": len(scored), "auc": round(wins / (len(wrong) * len(right)), 3) if wrong and right else None}


def grounding(data: Sequence[Row], _folder: Path) -> dict[str, Any]:
    """Answers escalated because of the calls of their turn; nearly all of these answers are true."""
    kept = [row for row in data if sum(len(str(call.get("result"))) for call in row["calls"]) <= LARGEST_TURN]
    loud: dict[str, bool] = {}
    for row in kept:
        quality = check_answer(row["text"], calls=[call_of(call) for call in row["calls"]], question=row["question"])
        loud[row["id"]] = quality.should_escalate and any(
            each.source == "calls" and each.weight >= WEIGHTY for each in quality.signals
        )
    figures: dict[str, Any] = {}
    for name, part in groups(kept, ("dataset",)):
        for label, outcome in (("", None), (", passed", 1), (", failed", 0)):
            own = [loud[row["id"]] for row in part if outcome is None or meta(row)["reward"] == outcome]
            if own:
                figures[f"{name}{label}: escalated by grounding"] = {"n": len(own), "share": share(own)}
    return figures


def call_of(call: Row) -> dict[str, Any]:
    whole = {
        "name": call["name"],
        "arguments": call["arguments"],
        "result": call.get("result"),
        "failed": call.get("failed") or call.get("is_error"),
    }
    return {key: value for key, value in whole.items() if value is not None}


def results(data: Sequence[Row], _folder: Path) -> dict[str, Any]:
    """Errors that are announced: of the business, or a failure of the tool? And all three kinds, as they came."""
    told = {row["id"]: kind_of_result(row, is_error=True) for row in data if row["label"] != "success"}
    guess = {row["id"]: kind_of_result(row, is_error=bool(meta(row).get("isError"))) for row in data}
    figures: dict[str, Any] = {}
    for name, part in groups(data):
        errors = [row for row in part if row["label"] != "success"]
        found = rates(
            [row["label"] == "tool_failure" for row in errors], [told[row["id"]] != "business_error" for row in errors]
        )
        alarms = found["false_alarm_rate"]
        if alarms is not None and any(row["label"] == "tool_failure" for row in errors):
            found["balanced_accuracy"] = round((found["recall"] + 1 - alarms) / 2, 3)
        kinds = [kind for kind in KINDS.values() if any(row["label"] == kind for row in part)]
        each = [
            rates([row["label"] == kind for row in part], [guess[row["id"]] == kind for row in part])["f1"]
            for kind in kinds
        ]
        found["three_way_macro_f1"] = round(sum(each) / len(each), 3)
        figures[name] = found
    figures["errors seen without isError"] = rates(
        [row["label"] != "success" for row in data],
        [kind_of_result(row, is_error=False) != "success" for row in data],
    )
    return figures


KINDS: Final = {"business": "business_error", "tool_failure": "tool_failure", "unknown": "unknown", None: "success"}


def kind_of_result(row: Row, *, is_error: bool) -> str:
    tool = {"name": meta(row).get("tool") or "tool", "inputSchema": {"type": "object"}}
    result = {"content": [{"type": "text", "text": row["text"]}], "isError": is_error}
    kind = check_result(tool, {}, result).error_kind
    return KINDS.get(None if kind is None else kind.value, "success")


def schemas(data: Sequence[Row], folder: Path) -> dict[str, Any]:
    """Whether `check_arguments` agrees with the label."""
    shared = stored_schemas(folder)
    agrees: dict[str, bool] = {}
    for row in data:
        schema = row["schema"] if row.get("schema") is not None else shared.get(row.get("schema_ref", ""))
        # The test suite says the draft by its folder.
        if meta(row).get("draft") == "draft7" and isinstance(schema, dict) and "$schema" not in schema:
            schema = {"$schema": JSON_SCHEMA_7, **schema}
        report = check_arguments({"name": "t", "inputSchema": schema}, row["instance"])
        agrees[row["id"]] = report.valid is (row["label"] == "valid")
    suite = [row for row in data if row["dataset"] == "json_schema_test_suite" and not meta(row).get("needs_remote")]
    parts = dict(groups(data))
    for name, optional in (("required", False), ("optional and formats", True)):
        part = [row for row in suite if bool(meta(row).get("optional")) is optional]
        parts |= {f"json_schema_test_suite, {name}, no remote refs": part} if part else {}
    return {name: {"n": len(part), "agree": share(agrees[row["id"]] for row in part)} for name, part in parts.items()}


def made_examples(data: Sequence[Row], folder: Path) -> dict[str, Any]:
    """Whether the example that we make for a schema is valid under it."""
    figures: dict[str, Any] = {}
    for name, all_schemas in (
        ("tools", [row["schema"] for row in data]),
        ("schemastore", list(stored_schemas(folder).values())),
    ):
        usable = [(schema, judge) for schema in all_schemas if (judge := validator(schema)) is not None]
        for kind, required_only in (("required only", True), ("all properties", False)):
            valid = [judge.is_valid(valid_example(schema, required_only=required_only)) for schema, judge in usable]
            if valid:
                figures[f"{name}, {kind}"] = {"schemas": len(valid), "valid": share(valid)}
    return figures


def calibration(_data: Sequence[Row], folder: Path) -> dict[str, Any]:
    """How far the probabilities about answers are from the truth, on parts left out."""
    return figures(folder)


def calibration_of_repairs(_data: Sequence[Row], folder: Path) -> dict[str, Any]:
    """The same for repairs of broken calls."""
    return repair_figures(folder)


def validator(schema: Any) -> jsonschema_rs.Validator | None:
    """The engine itself, so that our examples are not judged by our own reading; None for a schema it does not take."""
    try:
        return jsonschema_rs.validator_for(schema, retriever=refused)
    except (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError):
        return None


def refused(uri: str) -> NoReturn:
    raise ValueError(uri)


def stored_schemas(folder: Path) -> dict[str, Any]:
    path = folder / "schemastore_schemas.json"
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return stored


def share(found: "Iterator[bool] | Sequence[bool]") -> float | None:
    """The part that is true, to four digits; None of nothing."""
    every = list(found)
    return round(sum(every) / len(every), 4) if every else None


# A task to its file, and to what scores its rows.
SCORES: Final[Mapping[str, tuple[str, Callable[[Sequence[Row], Path], dict[str, Any]]]]] = {
    **{task.file: (task.file, signals(task)) for task in TASKS.values() if task.file != "good_answer"},
    "good_answer": ("good_answer", false_escalations),
    "hallucination": ("hallucination", hallucination),
    "grounding": ("grounding", grounding),
    "tool_response": ("tool_response", results),
    "schema": ("schema_validation", schemas),
    "example": ("tool_schema", made_examples),
    "calibration": ("good_answer", calibration),
    "calibration of repairs": ("tool_schema", calibration_of_repairs),
}


if __name__ == "__main__":
    sys.exit(main())
