"""Arguments for a tool, from the best source there is.

In this order: the user's fixtures, the schema's own examples and defaults, results of earlier calls, the generator.
What is returned satisfies the tool's inputSchema wherever that schema compiles.

    schema         book_id: string, copies: integer with minimum 1, both required; note: string
    generator      {"book_id": "hello world", "copies": 1, "note": "hello world"}
    harvest        ("book", "id") → "b-17"
    required_only  {"book_id": "b-17", "copies": 1}, origin "earlier result (book_id), schema"
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from toolvet.assess.harvest import Harvest
from toolvet.assess.options import Arguments
from toolvet.errors import Unsatisfiable
from toolvet.rules import ToolDefinition
from toolvet.rules.consent import writing_parameters
from toolvet.schema import compiled, valid_example
from toolvet.schema.json_value import is_object, members

# Keywords by which a schema gives a value itself.
VALUE_KEYWORDS: Final = ("examples", "example", "default", "const", "enum")
_ABSENT: Final = object()


@dataclass(frozen=True)
class Sample:
    """Arguments and, in words, where they came from."""

    arguments: dict[str, object]
    origin: str


class Values:
    """Valid arguments of one tool, from the best source there is at this moment."""

    def __init__(
        self, tool: ToolDefinition, harvest: Harvest, fixture: Arguments | None = None, known: Arguments | None = None
    ) -> None:
        """Generate the arguments that `tool` needs, to be replaced by better ones.

        Args:
            tool: The definition of the tool.
            harvest: What earlier calls returned.
            fixture: Known good arguments of this tool, from the user.
            known: Known good values per parameter of any tool, from the user.

        Raises:
            Unsatisfiable: Nothing satisfies the tool's inputSchema.
        """
        self._known = known or {}
        self.tool = _without_places_to_write(tool, self._known)
        self.fixture = dict(fixture) if fixture is not None else None
        self._harvest = harvest
        schema = members(self.tool.input_schema) or {"type": "object"}
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
        return self._enrich(self._required)

    def all_properties(self) -> Sample:
        """Every property that the schema declares; a fixture is taken as it is."""
        if self.fixture is not None:
            return Sample(self.fixture, "fixture")
        return self._enrich(self._all)

    def simple(self) -> Sample:
        """The required properties and the optional ones that are not objects or lists."""
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

    def transplant(self, instance: object, base: Mapping[str, object]) -> dict[str, object] | None:
        """`base` with what `instance` changes in the generated example; None when `instance` is not an object.

        So an error case differs from a call that is known to be good in one place, and nothing else explains its error.

            generated  {"book_id": "hello world", "copies": 1}
            instance   {"book_id": "hello world", "copies": 0}
            base       {"book_id": "b-17", "copies": 1}
            returns    {"book_id": "b-17", "copies": 0}
        """
        if not is_object(instance):
            return None
        result, given = dict(base), instance
        for name in self._all:
            if name not in given:
                result.pop(name, None)
        for name, value in given.items():
            old = self._all.get(name, _ABSENT)
            if value != old or type(value) is not type(old):
                result[name] = value
        return result

    def _enrich(self, generated: Mapping[str, object]) -> Sample:
        """The generated arguments with what earlier results know better, one value at a time, each checked."""
        arguments, origins = dict(generated), dict[str, list[str]]()
        schema = compiled(self.tool.input_schema)
        for name, declared in self.tool.properties.items():
            if name not in arguments:
                continue
            found, origin = self._find_better(name, declared, arguments[name])
            if found is not None and schema.is_valid({**arguments, name: found}):
                arguments[name] = found
                origins.setdefault(origin, []).append(name)
        sources = [f"{origin} ({', '.join(names)})" for origin, names in origins.items()]
        return Sample(arguments, ", ".join([*sources, "schema"]))

    def _find_better(self, name: str, declared: object, generated: object) -> tuple[object | None, str]:
        """A value that the user or an earlier result knows, and which of them; None when neither knows a better one."""
        if name in self._known:
            return self._known[name], "settings"
        if isinstance(declared, Mapping) and any(word in declared for word in VALUE_KEYWORDS):
            return None, ""
        found = self._harvest.value(name)
        if found is not None and isinstance(generated, list):
            return [found], "earlier result"
        return (found if isinstance(found, type(generated)) else None), "earlier result"


def _without_places_to_write(tool: ToolDefinition, known: Arguments) -> ToolDefinition:
    """The tool without the optional parameters that name a place to write, unless the user gave a value for them.

    `search(query, output_file?)` becomes `search(query)`: a call that a reader makes must not leave a file behind.
    """
    withheld = {name for name in writing_parameters(tool) if name not in known}
    if not withheld:
        return tool
    kept = {name: declared for name, declared in tool.properties.items() if name not in withheld}
    return msgspec.structs.replace(tool, input_schema={**members(tool.input_schema), "properties": kept})


def _object(value: object) -> dict[str, object]:
    return dict(members(value))
