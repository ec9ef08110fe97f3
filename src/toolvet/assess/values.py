"""Arguments for a tool, from the best source there is.

In this order: the user's fixtures, the schema's own examples and defaults, results of earlier calls, the generator.
What is returned satisfies the tool's inputSchema wherever that schema compiles.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from toolvet.assess.harvest import Harvest
from toolvet.assess.options import Arguments
from toolvet.errors import Unsatisfiable
from toolvet.rules import ToolDefinition
from toolvet.schema import compiled, valid_example

_SPOKEN = ("examples", "example", "default", "const", "enum")  # Keywords by which a schema gives a value itself.


@dataclass(frozen=True)
class Sample:
    """Arguments and, in words, where they came from."""

    arguments: dict[str, object]
    origin: str


class Values:
    """Valid arguments of one tool, from the best source there is at this moment.

    Raises `toolvet.errors.Unsatisfiable` at construction when nothing satisfies the schema.
    """

    def __init__(self, tool: ToolDefinition, harvest: Harvest, fixture: Arguments | None) -> None:
        self.tool = tool
        self.fixture = dict(fixture) if fixture is not None else None
        self._harvest = harvest
        schema = tool.input_schema if isinstance(tool.input_schema, Mapping) else {"type": "object"}
        self._required = _object(valid_example(schema, required_only=True))
        try:
            self._all = _object(valid_example(schema))
        except Unsatisfiable:
            # All properties together may be impossible where each alone is not.
            self._all = self._required

    def required_only(self) -> Sample:
        """Only what the schema needs."""
        if self.fixture is not None:
            needed = {name: value for name, value in self.fixture.items() if name in self._required}
            if compiled(self.tool.input_schema).is_valid(needed):
                return Sample(needed, "fixture")
        return self._enriched(self._required)

    def all_properties(self) -> Sample:
        """Every property that the schema declares; a fixture is taken as it is."""
        if self.fixture is not None:
            return Sample(self.fixture, "fixture")
        return self._enriched(self._all)

    def simple(self) -> Sample:
        """The required properties and the optional ones that are no objects or lists."""
        needed = self.required_only()
        extra = {
            name: value
            for name, value in self.all_properties().arguments.items()
            if name not in needed.arguments and not isinstance(value, Mapping | list)
        }
        arguments = {**needed.arguments, **extra}
        if extra and compiled(self.tool.input_schema).is_valid(arguments):
            return Sample(arguments, self.all_properties().origin)
        return needed

    def transplanted(self, instance: object, base: Mapping[str, object]) -> dict[str, object] | None:
        """What `instance` changed against the generated example, done to `base`; None when that is not possible.

        So an error case differs from a call that is known to be good in one place, and nothing else explains its error.
        """
        if not isinstance(instance, Mapping):
            return None
        result = dict(base)
        for name in {**self._all, **instance}:
            if name not in instance:
                result.pop(name, None)
            elif (
                name not in self._all
                or instance[name] != self._all[name]
                or type(instance[name]) is not type(self._all[name])
            ):
                result[name] = instance[name]
        return result

    def _enriched(self, generated: Mapping[str, object]) -> Sample:
        """The generated arguments with what earlier results know better, one value at a time, each checked."""
        arguments, used = dict(generated), list[str]()
        schema = compiled(self.tool.input_schema)
        for name, declared in self.tool.properties.items():
            if name not in arguments or (isinstance(declared, Mapping) and any(word in declared for word in _SPOKEN)):
                continue
            found = self._harvest.value(name)
            if isinstance(arguments[name], list) and found is not None:
                found = [found]
            if found is not None and type(found) is type(arguments[name]):
                changed = {**arguments, name: found}
                if schema.is_valid(changed):
                    arguments, used = changed, [*used, name]
        return Sample(arguments, f"earlier result ({', '.join(used)}), schema" if used else "schema")


def settled(tool: ToolDefinition, harvest: Harvest, fixtures: object) -> bool:
    """Whether the tool's required arguments need no guessing: calling it later could not make them better.

    A value is settled when the user or the schema gives it, when an earlier result knows it, or when it is of a kind
    that any value serves (numbers, booleans, structures).
    """
    if fixtures:
        return True
    for name in tool.required:
        declared = tool.properties.get(name)
        if not isinstance(declared, Mapping) or any(word in declared for word in _SPOKEN):
            continue
        if declared.get("type") == "string" and "format" not in declared and harvest.value(name) is None:
            return False
    return True


def _object(value: object) -> dict[str, object]:
    return {str(key): entry for key, entry in value.items()} if isinstance(value, Mapping) else {}
