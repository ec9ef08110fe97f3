"""One thing wrong at a time: a call for each kind of violation that the schema can express."""

from collections.abc import Iterator, Mapping
from typing import Final

from toolvet.assess.exchange import PlannedCall, SeededChoice
from toolvet.assess.rules import IntendedViolation
from toolvet.assess.values import Values
from toolvet.core.schema import InvalidExample, compiled, invalid_examples

ORDER: Final = 5
CATEGORY: Final = "error_case"
UNKNOWN: Final = "toolvet_unknown_argument"


def scenarios(values: Values, choose: SeededChoice) -> Iterator[PlannedCall]:
    """One call per keyword (the seed chooses the place), and one with an unknown argument, forbidden or not."""
    schema = compiled(values.tool.input_schema)
    base = values.all_properties().arguments
    groups: dict[str, list[tuple[InvalidExample, Mapping[str, object]]]] = {}
    for example in invalid_examples(values.tool.input_schema):
        arguments = values.transplant(example.instance, base)
        if arguments is not None and [violation.keyword for violation in schema.violations(arguments)] == [
            example.keyword
        ]:
            groups.setdefault(example.keyword, []).append((example, arguments))
    for keyword, examples in groups.items():
        example, broken = choose.one(examples)  # The first is nearest to the root and says most.
        yield PlannedCall(
            name=f"{keyword}: {example.detail}",
            category=CATEGORY,
            arguments=broken,
            origin="generator",
            intended=IntendedViolation(
                keyword=keyword, pointer=example.pointer, property=example.property, detail=example.detail
            ),
        )
    with_unknown = {**values.required_only().arguments, UNKNOWN: "toolvet"}
    if not {"additionalProperties", "unevaluatedProperties"} & set(groups) and schema.is_valid(with_unknown):
        yield PlannedCall(
            name=f"unknown argument: {UNKNOWN}",
            category=CATEGORY,
            arguments=with_unknown,
            origin="generator",
            intended=IntendedViolation(
                keyword="additionalProperties", property=UNKNOWN, detail=f"unknown argument '{UNKNOWN}'", declared=False
            ),
        )
