"""Measure a schema beside its peers: valid and wrong values, compiling, and examples made of it.

The schemas are those of 268 real tools beside the project (`shared/data`) where they stand, and the project's own; a
figure is the geometric mean. `jsonschema-rs` is the engine below ours: what it takes is the floor.

python -m benchmarks.schema [FOLDER of *.json schemas]
"""

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import fastjsonschema
import jsonschema  # type: ignore[import-untyped]
import jsonschema_rs
from benchmarks.harness import Report, Way, here, quartiles
from tests.core.schema.repair.breaking import real_schemas
from tests.core.schema.repair.own_schemas import OWN_SCHEMAS

from toolvet.core.schema import Schema, compiled, invalid_examples, valid_example
from toolvet.core.schema.compilation import _CACHE
from toolvet.errors import Unsatisfiable

DRAFT = jsonschema.Draft202012Validator
JSON_SCHEMA_7 = "http://json-schema.org/draft-07/schema#"


class Sample:
    """A schema with a value that it takes and one that it does not, ready for all who judge them."""

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self.value = valid_example(schema)
        self.wrong = invalid_examples(schema)[0].instance
        self.ours = compiled(schema)
        self.engine = jsonschema_rs.validator_for(schema)
        self.slow = DRAFT(schema)
        # It knows draft 7 at most, and writes defaults into the value unless `use_default` is off.
        self.generated = fastjsonschema.compile({**schema, "$schema": JSON_SCHEMA_7}, use_default=False)

    def first_error(self) -> object:
        try:
            return self.generated(self.wrong)
        except fastjsonschema.JsonSchemaValueException as error:
            return error

    def errors(self, judge: Any) -> list[object]:
        return list(judge.iter_errors(self.wrong))


def samples(schemas: list[Any]) -> list[Sample]:
    """Those that every peer takes and agrees on."""
    found = []
    for schema in schemas:
        try:
            sample = Sample(schema)
            sample.generated(sample.value)
        except Exception:  # noqa: BLE001, S112 - Whatever a peer raises, a schema that one cannot take compares nothing.
            continue
        if sample.slow.is_valid(sample.value) and not sample.slow.is_valid(sample.wrong):
            found.append(sample)
    return found


def compare(report: Report, found: list[Sample]) -> None:
    about = f"geometric mean over {len(found)} schemas of tools; all are compiled beforehand"
    title = "Judging values by a schema"

    def many(job: Callable[[Sample], Callable[[], object]]) -> list[Callable[[], object]]:
        return [job(sample) for sample in found]

    def beside(case: str, *ways: Way) -> None:
        report.compare(title, case, ways, about=about, slice_s=0.1, case_s=10)

    beside(
        "a valid value",
        Way("toolvet", many=many(lambda each: partial(each.ours.is_valid, each.value))),
        Way("jsonschema-rs", many=many(lambda each: partial(each.engine.is_valid, each.value)), lost="the floor"),
        Way("jsonschema", many=many(lambda each: partial(each.slow.is_valid, each.value))),
        Way("fastjsonschema", many=many(lambda each: partial(each.generated, each.value)), lost="newer drafts"),
    )
    beside(
        "all errors of a wrong value",
        Way("toolvet", many=many(lambda each: partial(each.ours.violations, each.wrong))),
        Way("jsonschema-rs", many=many(lambda each: partial(each.errors, each.engine)), lost="advice"),
        Way("jsonschema", many=many(lambda each: partial(each.errors, each.slow)), lost="advice"),
        Way("fastjsonschema", many=many(lambda each: each.first_error), lost="all errors but the first; newer drafts"),
    )
    beside(
        "compiling",
        Way("toolvet", many=many(lambda each: partial(fresh, each.schema))),
        Way("jsonschema-rs", many=many(lambda each: partial(jsonschema_rs.validator_for, each.schema))),
        Way(
            "jsonschema", many=many(lambda each: partial(jsonschema.Draft202012Validator, each.schema)), lost="is lazy"
        ),
    )
    beside(
        "compiled before, found by its content", Way("toolvet", many=many(lambda each: partial(compiled, each.schema)))
    )


def fresh(schema: Any) -> Schema:
    """Compile as if it were new."""
    _CACHE.clear()
    return compiled(schema)


def examples(report: Report, schemas: list[Any]) -> None:
    """`valid_example` over many schemas: how many get one, and how long one takes (compiling apart)."""
    usable = [schema for schema in schemas if compiled(schema).problem is None]
    rows = []
    for required_only in (True, False):
        taken, found = [], 0
        for schema in usable:
            try:
                valid_example(schema, required_only=required_only)
                found += 1
            except Unsatisfiable:
                continue
            taken.append(here(partial(valid_example, schema, required_only=required_only))(3).cpu / 3 * 1e3)
        low, middle, high = quartiles(taken)
        late = sorted(taken)[int(len(taken) * 0.95)]
        rows.append(
            [
                "what is required" if required_only else "all properties",
                f"{found} of {len(usable)}",
                f"{middle:.2f} ms ({low:.2f} to {high:.2f})",
                f"{late:.2f} ms",
            ]
        )
    columns = ["`valid_example`", "made", "CPU time, median (quartiles)", "95 of 100 below"]
    report.table("Examples made of a schema", columns, rows)


def main() -> None:
    given = [json.loads(path.read_bytes()) for folder in sys.argv[1:] for path in sorted(Path(folder).rglob("*.json"))]
    schemas = given or real_schemas() or OWN_SCHEMAS
    with Report("schema", peers=["jsonschema", "jsonschema-rs", "fastjsonschema"]) as report:
        compare(report, samples(schemas))
        examples(report, schemas)


if __name__ == "__main__":
    main()
