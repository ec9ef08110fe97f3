"""Valid, but unusual: empty, as large as declared, and full of characters that break careless code."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from toolvet.assess.exchange import PlannedCall, SeededChoice
from toolvet.assess.values import Values
from toolvet.core.json_value import members
from toolvet.core.schema import compiled

ORDER: Final = 3
CATEGORY: Final = "edge_case"

# Each holds what breaks something real: quoting in SQL and shells, templates, line-based protocols, UTF-16, bidi.
SPECIAL: Final = (
    'O\'Brien "quoted" \\ & <b>; -- ${x} {{y}} %s',
    "naïve Ωmega 日本語 🚀 café",
    "line one\nline two\tand a tab",
    "مرحبا שלום Здравствуйте",
)
Change: TypeAlias = Callable[[object, Mapping[str, object]], object]  # An old value and its schema to a new value.
LONG: Final = 256  # Characters of a string whose schema declares no maxLength: long for a field, short enough to show.


def scenarios(values: Values, choose: SeededChoice) -> Iterator[PlannedCall]:
    """One call per kind of value, with every property that can take it; without properties that can, no call."""
    sample = values.all_properties()
    schema, special = compiled(values.tool.input_schema), choose.one(SPECIAL)

    def awkward(old: object, _rules: Mapping[str, object]) -> object:
        return special if isinstance(old, str) else old

    kinds: tuple[tuple[str, Change], ...] = (
        ("empty values", _make_empty),
        ("maximum values", _make_longest),
        ("special characters", awkward),
    )
    for name, change in kinds:
        arguments = dict(sample.arguments)
        for parameter, old in sample.arguments.items():
            changed = change(old, members(values.tool.properties.get(parameter)))
            if schema.is_valid({**arguments, parameter: changed}):
                arguments[parameter] = changed
        if arguments != sample.arguments:
            yield PlannedCall(name=name, category=CATEGORY, arguments=arguments, origin="generator")


def _make_empty(old: object, _rules: Mapping[str, object]) -> object:
    if isinstance(old, str):
        return ""
    if isinstance(old, list):
        return []
    return {} if isinstance(old, dict) else old


def _make_longest(old: object, rules: Mapping[str, object]) -> object:
    """The largest value that the schema declares; other numbers stay: a long duration may cost the server hours."""
    if isinstance(old, str):
        limit = rules.get("maxLength")
        return (old or "x").ljust(min(limit, 100_000) if isinstance(limit, int) else LONG, "x")
    limit = rules.get("maximum")
    return (
        limit if isinstance(old, int | float) and not isinstance(old, bool) and isinstance(limit, int | float) else old
    )
