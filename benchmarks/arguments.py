"""Measure `check_arguments` beside its peers: valid calls, wrong ones, their texts; with a handle and without.

The schemas are those of 268 real tools beside the project (`shared/data`) where they stand, else the project's own; a
figure is the geometric mean over those that every peer takes and agrees on. The peers run as fast as they can:
validators are compiled beforehand. What each of them leaves out is counted over the same wrong calls.

python -m benchmarks.arguments [--without-node]
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, Literal, cast

import fastjsonschema
import jsonschema  # type: ignore[import-untyped]
import jsonschema_rs
import pydantic
from benchmarks.harness import Report, Way
from benchmarks.node import NodeProcess, node
from tests.core.schema.repair.breaking import real_schemas
from tests.core.schema.repair.own_schemas import OWN_SCHEMAS

import toolvet
from toolvet import check_arguments
from toolvet.core.checks.arguments.guide import _guide
from toolvet.core.schema import compiled, invalid_examples, valid_example
from toolvet.core.schema.compilation import _CACHE, _KNOWN

DRAFT: Final = jsonschema.Draft202012Validator
JSON_SCHEMA_7: Final = "http://json-schema.org/draft-07/schema#"
TYPES: Final[dict[str, Any]] = {
    "string": pydantic.StrictStr,
    "integer": pydantic.StrictInt,
    "number": pydantic.StrictInt | pydantic.StrictFloat,
    "boolean": pydantic.StrictBool,
    "object": dict[str, Any],
    "null": None,
}
AJV: Final = """
const {default: Ajv} = await import("ajv/dist/2020.js");
const {default: formats} = await import("ajv-formats");
const ready = given.map(({schema: {$schema, ...schema}}) => {
  const ajv = new Ajv({allErrors: true, strict: false}); formats(ajv); return ajv.compile(schema); });
return {
  valid: (n) => ready[n](given[n].value),
  one: (n) => { ready[n](given[n].one); return ready[n].errors.length; },
  several: (n) => { ready[n](given[n].several); return ready[n].errors.length; },
};
"""
# Twenty lines of an order: where calls grow, the fixed cost of a report no longer counts.
LINE: Final = {
    "type": "object",
    "properties": {
        "sku": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"},
        "count": {"type": "integer", "minimum": 1, "maximum": 99},
        "gift": {"type": "boolean"},
    },
    "required": ["sku", "count"],
    "additionalProperties": False,
}
ORDER: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"customer": {"$ref": "#/$defs/person"}, "lines": {"type": "array", "minItems": 1, "items": LINE}},
    "required": ["customer", "lines"],
    "$defs": {"person": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
}
LINES: Final = {"customer": {"name": "Ada"}, "lines": [{"sku": f"AB-{1000 + n}", "count": 1 + n} for n in range(20)]}


class Sample:
    """A tool with a valid call, a call with one error and one with several, ready for all who judge them."""

    def __init__(self, number: int, schema: Any) -> None:
        self.tool = {"name": f"tool_{number}", "description": "A tool", "inputSchema": schema}
        self.handle = toolvet.tool(self.tool)
        self.schema = schema
        self.value = cast("dict[str, Any]", valid_example(schema))
        self.one = invalid_examples(schema)[0].instance
        self.several = {name: 7 if isinstance(value, str) else "seven?" for name, value in self.value.items()}
        self.engine = jsonschema_rs.validator_for(schema, validate_formats=True)
        self.slow = DRAFT(schema, format_checker=DRAFT.FORMAT_CHECKER)
        # It knows draft 7 at most, and writes defaults into the value unless `use_default` is off.
        self.generated = fastjsonschema.compile({**schema, "$schema": JSON_SCHEMA_7}, use_default=False)
        self.model = model_of(schema)

    def agreed(self) -> bool:
        """Whether all peers take the one call and refuse the others."""
        calls = ((self.value, True), (self.one, False), (self.several, False))
        return all(
            (not errors) == valid
            for call, valid in calls
            for errors in (self.by_engine(call), self.by_slow(call), self.by_generated(call), self.by_model(call))
        )

    def by_engine(self, call: Any) -> Sequence[object]:
        return list(self.engine.iter_errors(call))

    def by_slow(self, call: Any) -> Sequence[object]:
        return list(self.slow.iter_errors(call))

    def by_generated(self, call: Any) -> Sequence[object]:
        try:
            self.generated(call)
        except fastjsonschema.JsonSchemaValueException as error:
            return [error]
        return []

    def by_model(self, call: Any) -> Sequence[object]:
        try:
            self.model.model_validate(call)
        except pydantic.ValidationError as error:
            return error.errors()
        return []

    def issues(self, call: Any) -> Sequence[object]:
        return check_arguments(self.handle, call).issues

    def issues_of_definition(self, call: Any) -> Sequence[object]:
        return check_arguments(self.tool, call).issues

    def text(self, call: Any) -> str:
        return check_arguments(self.handle, call).to_text()

    def text_without_repair(self, call: Any) -> str:
        return check_arguments(self.handle, call).without_repair().to_text()

    def text_of_definition(self, call: Any) -> str:
        return check_arguments(self.tool, call).to_text()


Wrong = tuple[Sample, Any]
"""A sample, and a wrong call of its tool."""


def model_of(schema: Any) -> type[pydantic.BaseModel]:
    """The model that a person would write for these arguments: types, enumerations, what is required."""
    fields: dict[str, Any] = {}
    for name, each in schema.get("properties", {}).items():
        kind = type_of(each)
        needed = name in schema.get("required", ())
        fields[f"field_{len(fields)}"] = (
            kind if needed else kind | None,
            pydantic.Field(... if needed else None, alias=name),
        )
    extra: Literal["forbid", "allow"] = "forbid" if schema.get("additionalProperties") is False else "allow"
    return pydantic.create_model("Arguments", __config__=pydantic.ConfigDict(extra=extra), **fields)


def type_of(schema: Any) -> Any:
    """The type of one field."""
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    if schema.get("type") == "array":
        return list[type_of(schema["items"])] if schema.get("items") else list[Any]  # type: ignore[misc]
    return TYPES[schema["type"]] if isinstance(schema.get("type"), str) else Any


def samples(schemas: Sequence[Any]) -> list[Sample]:
    """Those that every peer takes and agrees on."""
    found = []
    for number, schema in enumerate(schemas):
        try:
            sample = Sample(number, schema)
            agreed = sample.agreed()
        except Exception:  # noqa: BLE001, S112 - Whatever a peer raises, a schema that one cannot take compares nothing.
            continue
        if agreed:
            found.append(sample)
    return found


def compare(report: Report, found: list[Sample], script: NodeProcess | None) -> None:
    title = "Checking the arguments of a call"
    about = f"geometric mean over {len(found)} schemas of tools; all are compiled beforehand"

    def beside(case: str, *ways: Way, ajv: Sequence[str] = (), lost: str = "") -> None:
        extra = []
        if script is not None and ajv:
            clocks = [script.clock(name, number) for name in ajv for number in range(len(found))]
            script.warm(clocks)
            extra.append(Way.timed("ajv (Node)", clocks, lost=lost))
        report.compare(title, case, [*ways, *extra], about=about, slice_s=0.1, case_s=30)

    def many(job: Callable[[Sample], Callable[[], object]]) -> list[Callable[[], object]]:
        return [job(sample) for sample in found]

    beside(
        "a valid call",
        Way("toolvet, with a handle", many=many(lambda each: partial(check_arguments, each.handle, each.value))),
        Way("toolvet, with the definition", many=many(lambda each: partial(check_arguments, each.tool, each.value))),
        Way("jsonschema-rs", many=many(lambda each: partial(each.engine.is_valid, each.value)), lost="the floor"),
        Way("fastjsonschema", many=many(lambda each: partial(each.generated, each.value)), lost="drafts after 7"),
        Way("pydantic", many=many(lambda each: partial(each.model.model_validate, each.value)), lost="limits, formats"),
        Way("jsonschema", many=many(lambda each: partial(each.slow.is_valid, each.value))),
        ajv=["valid"],
    )
    # The goals are about a wrong call of either kind: the last row of each.
    kinds = {"with one": ["one"], "with several": ["several"], "of either kind": ["one", "several"]}
    for kind, names in kinds.items():
        calls = [(sample, getattr(sample, name)) for name in names for sample in found]
        ours = sum(len(sample.issues(value)) for sample, value in calls)

        def way(name: str, judge: str, calls: Sequence[Wrong] = calls, ours: int = ours, *, lost: str = "") -> Way:
            jobs = [partial(getattr(sample, judge), value) for sample, value in calls]
            told = sum(len(job()) for job in jobs)
            counted = "" if told == ours else f"{told} told where toolvet tells {ours}; "
            return Way(name, many=jobs, lost=(counted + lost).rstrip("; "))

        beside(
            f"all errors of a call {kind}",
            way("toolvet, with a handle", "issues"),
            way("toolvet, with the definition", "issues_of_definition"),
            way("jsonschema-rs", "by_engine", lost="advice"),
            way("fastjsonschema", "by_generated", lost="advice"),
            way("pydantic", "by_model", lost="advice, limits, formats"),
            way("jsonschema", "by_slow", lost="advice"),
            ajv=names,
            lost="advice",
        )
    for kind, names in kinds.items():

        def told(judge: str, names: Sequence[str] = names) -> list[Callable[[], object]]:
            return [partial(getattr(sample, judge), getattr(sample, name)) for name in names for sample in found]

        beside(
            f"the text for a model, of a call {kind}",
            Way("toolvet, with a handle", many=told("text")),
            Way("toolvet, without the correction", many=told("text_without_repair"), lost="the corrected call"),
            Way("toolvet, with the definition", many=told("text_of_definition")),
        )


def compare_once(report: Report, sample: Sample) -> None:
    """The cost that arises once for each schema, and a long call."""
    title = "Arguments: once for each schema, and long calls"
    order = {"name": "order", "description": "Order books", "inputSchema": ORDER}
    handle, slow = toolvet.tool(order), DRAFT(ORDER)
    generated = fastjsonschema.compile({**ORDER, "$schema": JSON_SCHEMA_7}, use_default=False)

    def text_anew() -> str:
        forget()
        _guide.cache_clear()
        return sample.text_of_definition(sample.one)

    report.compare(
        title,
        "a valid call of twenty lines",
        [
            Way("toolvet, with a handle", partial(check_arguments, handle, LINES)),
            Way("fastjsonschema", partial(generated, LINES), lost="drafts after 7"),
            Way("jsonschema", partial(slow.is_valid, LINES)),
        ],
    )
    report.compare(
        title,
        "compiling a schema",
        [
            Way("toolvet", partial(compile_anew, sample.schema)),
            Way("jsonschema-rs", partial(jsonschema_rs.validator_for, sample.schema)),
            Way("fastjsonschema", partial(fastjsonschema.compile, {**sample.schema, "$schema": JSON_SCHEMA_7})),
        ],
    )
    report.compare(title, "the first text of a schema", [Way("toolvet", text_anew)])


def forget() -> None:
    """Make every schema a new one."""
    _CACHE.clear()
    _KNOWN.clear()


def compile_anew(schema: Any) -> object:
    forget()
    return compiled(schema)


def main() -> None:
    schemas = real_schemas() or OWN_SCHEMAS
    found = samples(schemas)
    print(f"{len(found)} of {len(schemas)} schemas are taken by every peer, with the same verdicts")
    given = [{"schema": each.schema, "value": each.value, "one": each.one, "several": each.several} for each in found]
    peers = ["jsonschema", "jsonschema-rs", "fastjsonschema", "pydantic"]
    with Report("arguments", peers=peers) as report:
        if "--without-node" in sys.argv:
            compare(report, found, None)
        else:
            with node(AJV, given, packages=["ajv@8", "ajv-formats@3"]) as script:
                compare(report, found, script)
        compare_once(report, found[0])


if __name__ == "__main__":
    main()
