"""Arguments for a tool, from the best source there is.

In this order: the user's fixtures, the schema's own examples and defaults, results of earlier calls, the generator.
The arguments satisfy the tool's inputSchema wherever that schema compiles.

    schema         book_id: string, copies: integer with minimum 1, both required; note: string
    generator      {"book_id": "hello world", "copies": 1, "note": "hello world"}
    harvest        ("book", "id") → "b-17"
    required_only  {"book_id": "b-17", "copies": 1}, origin "earlier result (book_id), schema"
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from toolvet.assess.folder import Folder
from toolvet.assess.guard import ArgumentGuard
from toolvet.assess.harvest import Harvest
from toolvet.assess.lessons import Lesson, enough_items, learn as learn_from
from toolvet.assess.options import Arguments
from toolvet.assess.rules import ObservedCall, ToolDefinition
from toolvet.assess.rules.ending import words_of
from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.core.redact import word_segments
from toolvet.core.schema import compiled, valid_example, values_for_name
from toolvet.core.tool_rules import writing_parameters
from toolvet.errors import Unsatisfiable

# Keywords by which a schema gives a value itself.
VALUE_KEYWORDS: Final = ("examples", "example", "default", "const", "enum")
MOST_RETRIES: Final = 3  # Attempts per tool that obey a refusal.
_MATTER: Final = [
    (word,) for word in ("code", "content", "data", "expression", "input", "source", "string", "text", "token", "value")
]
_KINDS: Final = (
    "json",
    "jwt",
    "cron",
    "base 64",
    "xml",
    "yaml",
    "csv",
    "html",
    "css",
    "markdown",
    "mermaid",
    "sql",
    "regex",
    "uuid",
    "cidr",
    "hex",
    "url",
)
_CODE: Final = frozenset({"function", "method", "symbol"})
_NAMING: Final = frozenset({"code", "file", "filename", "id", "key", "path", "slug", "uri", "uuid"})
_LONGEST_SAID: Final = 200
_NOT_THERE: Final = re.compile(r"(?i)(?:\b|_)not[ _](?:found|in|exist)|\bno such\b|\bunknown\b|doesn't exist")
_ABSENT: Final = object()


@dataclass(frozen=True)
class Sample:
    """Arguments and, in words, where they came from."""

    arguments: dict[str, object]
    origin: str


class Values:
    """Valid arguments of one tool, from the best source there is at this moment.

    `learn` receives what a call showed, and then `best` is the widest call that succeeded, and `retry` what a refusal
    asked for.
    """

    def __init__(
        self,
        tool: ToolDefinition,
        harvest: Harvest,
        fixture: Arguments | None = None,
        known: Arguments | None = None,
        *,
        folder: Folder | None = None,
        guard: ArgumentGuard | None = None,
        others: Collection[str] = (),
    ) -> None:
        """Generate the arguments that `tool` needs. Raises Unsatisfiable if nothing satisfies its inputSchema.

        `fixture` and `known` are the user's good values, of this tool and per parameter of any tool. `guard` has the
        only values that some parameters of a tool that may change things may have; `others` are the tools that may be
        called first where this one asks for it.
        """
        self._known = known or {}
        self._guard = guard
        self._others = set(others)
        self.folder = folder
        # Optional places to write, unless the user gave a value, and what is guarded are not sent:
        # `search(query, output_file?)` becomes `search(query)`, so that a reader leaves no file behind.
        withheld = {name for name in writing_parameters(tool) if name not in self._known}
        if guard is not None:
            withheld |= {name for name in guard.protected if name not in guard.approved and name not in tool.required}
        if withheld:
            kept = {name: declared for name, declared in tool.properties.items() if name not in withheld}
            tool = msgspec.structs.replace(tool, input_schema={**members(tool.input_schema), "properties": kept})
        self.tool = tool
        self.fixture = dict(fixture) if fixture is not None else None
        self._harvest = harvest
        self._accepted: dict[str, object] | None = None
        self._before: dict[str, object] | None = None
        self._last: tuple[Arguments, str] | None = None
        self._retries = 0
        self.is_refused = False
        self.tried: set[str] = set()
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
        """Every property that the schema declares, or those that the tool took; a fixture is taken as it is."""
        if self.fixture is not None:
            return Sample(self.fixture, "fixture")
        if self._accepted is not None:
            return Sample(dict(self._accepted), "accepted before")
        return self._enrich(self._all)

    @property
    def is_guarded(self) -> bool:
        """Whether the tool may change things."""
        return self._guard is not None

    @property
    def has_success(self) -> bool:
        """Whether a call has succeeded, or is expected to."""
        return self._accepted is not None

    def best(self) -> dict[str, object]:
        """The arguments of the widest call that succeeded, or else what the schema needs."""
        return dict(self._accepted) if self._accepted is not None else self.required_only().arguments

    def seen(self, name: str) -> object | None:
        """The value that an earlier result has for a parameter, or None."""
        return self._harvest.value(name, self.tool.name)

    def knows(self, name: str, value: object) -> bool:
        """Whether an earlier result held this value under the name of a parameter."""
        return self._harvest.knows(name, value)

    def permits(self, arguments: Mapping[str, object]) -> bool:
        """Whether a call may be made with these arguments (see `ArgumentGuard`)."""
        return self._guard is None or self._guard.permits(arguments)

    def optional(self) -> tuple[str, ...]:
        """The optional parameters with values, plain ones first; none if a fixture says what to send."""
        if self.fixture is not None:
            return ()
        base = self.best()
        names = [name for name in self._all if name not in base]
        return tuple(sorted(names, key=lambda name: isinstance(self._all[name], Mapping | list)))

    def widen(self, names: Sequence[str]) -> Sample | None:
        """The best call with these optional parameters as well; None if the schema forbids that."""
        self.tried.update(names)
        more = self._enrich({name: self._all[name] for name in names}, self.best())
        return more if compiled(self.tool.input_schema).is_valid(more.arguments) else None

    def expect(self, arguments: Arguments) -> None:
        """Take a call for a success, as long as `learn` does not say otherwise."""
        self._last = None
        self._before, self._accepted = self._accepted, dict(arguments)
        self.is_refused = False

    def learn(self, call: ObservedCall) -> None:
        """Correct what `expect` took for granted of the call that was just made."""
        if not call.accepted:
            self._accepted, self.is_refused = self._before, True
            self._last = (members(call.arguments), words_of(call))

    def retry(self) -> Lesson | None:
        """The next attempt after a refusal that says what it wanted; None otherwise, and after `MOST_RETRIES`."""
        if self._last is None or self._retries >= MOST_RETRIES or self.fixture is not None:
            return None
        arguments, words = self._last
        wider = self._enrich(self._all).arguments
        lesson = learn_from(self.tool, arguments, words, wider=wider, folder=self.folder, others=self._others)
        texts = [name for name in self.tool.required if isinstance(arguments.get(name), str)]
        listed = self._harvest.value("result")
        if lesson is None and len(texts) == 1 and isinstance(listed, str) and _NOT_THERE.search(words):
            # A search that names no noun ({"results": ["core.load"]}) may have listed what this tool asks for.
            lesson = Lesson({**arguments, texts[0]: listed}, "not found") if arguments[texts[0]] != listed else None
        if lesson is None or not compiled(self.tool.input_schema).is_valid(lesson.arguments):
            return None
        self._retries += 1
        self._others.discard(lesson.first)  # A second time would not help.
        return lesson

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

    def _enrich(self, generated: Mapping[str, object], base: Mapping[str, object] | None = None) -> Sample:
        """The generated arguments with what earlier results know better, each checked; `base` stays as it is."""
        arguments, origins = {**(base or {}), **generated}, dict[str, list[str]]()
        schema = compiled(self.tool.input_schema)
        for name, declared in self.tool.properties.items():
            if name not in generated:
                continue
            found, origin = self._find_better(name, declared, arguments[name])
            if is_array(value := arguments[name] if found is None else found):
                longer = enough_items(value, str(members(declared).get("description") or ""))
                found, origin = (longer, origin or "description") if len(longer) > len(value) else (found, origin)
            if found is not None and schema.is_valid({**arguments, name: found}):
                arguments[name] = found
                origins.setdefault(origin, []).append(name)
        sources = [f"{origin} ({', '.join(names)})" for origin, names in origins.items()]
        return Sample(arguments, ", ".join([*sources, "schema"]))

    def _find_better(
        self, name: str, declared: object, generated: object, tool: ToolDefinition | None = None
    ) -> tuple[object | None, str]:
        """A better value for a parameter or, with `tool`, for a member of one: `request.path` is a path, too."""
        tool = tool or self.tool
        if self._guard is not None and name in self._guard.protected:
            return self._guard.value(name), "settings" if name in self._known else "made in this run"
        if name in self._known:
            return self._known[name], "settings"
        if is_object(declared) and any(declared.get(word) not in (None, "") for word in VALUE_KEYWORDS):
            return None, ""
        if is_object(generated) or is_object(next(iter(elements(generated)), None)):
            return self._fill(tool, declared, generated)
        said = word_segments(str(members(declared).get("description") or "")[:_LONGEST_SAID])
        # "Domain config filename" is a file name, and not the first thing that a listing has of a domain.
        named = (self._harvest.value(f"{name}_{word}") for word in said if word in _NAMING)
        found = next((value for value in named if value is not None), None) or self._harvest.value(name, tool.name)
        if found is None and self.folder is not None and generated == "example" and word_segments(name)[0] in _CODE:
            return self.folder.function(), "working folder"
        table = self._harvest.value("table")
        if isinstance(generated, str) and generated.split(" ")[0] == "SELECT" and isinstance(table, str):
            # A name with other signs would have to be quoted, as each database has it.
            return (f"SELECT * FROM {table}" if table.isidentifier() else None), "earlier result"  # noqa: S608 - a name
        path = self.folder.value(tool, name) if self.folder is not None else None
        if path is not None and (found is None or self._folder_has(path)):
            return path, "working folder"
        path = self.folder.listed(tool, name) if self.folder is not None else None
        if path is not None and (found is None or self._folder_has(path)):
            return [path], "working folder"
        if found is None and isinstance(generated, str) and word_segments(name)[-1:] in _MATTER:
            # `json_format(data)` works on JSON, `cron_parse(expression)` on a schedule.
            kinds = (kind for kind in _KINDS if f" {kind} " in f" {' '.join(word_segments(tool.name))} ")
            return next((value for kind in kinds for value in values_for_name(kind, "string")), None), "kind"
        if found is not None and isinstance(generated, list):
            return [found], "earlier result"
        return (found if isinstance(found, type(generated)) else None), "earlier result"

    def _fill(self, tool: ToolDefinition, declared: object, generated: object) -> tuple[object | None, str]:
        """A structure, or the first one in a list, with better values for its members."""
        first, *others = elements(generated) or [generated]
        one, properties = members(first), members(tool.single(declared).get("properties"))
        part = msgspec.structs.replace(tool, input_schema={**members(tool.input_schema), "properties": properties})
        filled, origins = dict(one), list[str]()
        for name, value in one.items():
            better, origin = self._find_better(name, tool.opened(properties.get(name)), value, part)
            if better is not None:
                filled[name] = better
                origins.append(origin)
        if not origins:
            return None, ""
        return ([filled, *others] if is_array(generated) else filled), origins[0]

    def _folder_has(self, path: str) -> bool:
        return self.folder is not None and any(path in (name, self.folder.join(name)) for name in self.folder.files)


def _object(value: object) -> dict[str, object]:
    return dict(members(value))
