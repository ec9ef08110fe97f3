"""The values allowed for a tool that the user included although it may change things: nothing that was there before.

    tools       create_task(title), delete_task(task_id), kill_process(pid)
    1st         create_task("…")         returns {"id": 7}: made in this run
    last        delete_task(7)           and never the task 1 that list_tasks showed
    skipped     kill_process             "… made nothing that could be given as 'pid': give it a fixture"

A parameter that names a thing, or aims at a program, a machine or a person, takes the user's own values and things made
in this run: `format_disk(device)` is not called at all without a device from the user. Descriptive values (a title, a
colour, a number) may be generated.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final, Literal

import msgspec

from toolvet.assess.folder import FRESH, Folder, path_kind, spoken_extensions
from toolvet.assess.harvest import Harvest, Name, is_identifier, name_of
from toolvet.assess.rules import ObservedCall, ToolDefinition
from toolvet.assess.rules.ending import words_of
from toolvet.core.discover import read_toml
from toolvet.core.json_value import elements, is_object, members, whole
from toolvet.core.redact import word_segments

ActionKind = Literal["creates", "changes", "deletes"]

_WRAPPERS: Final = frozenset({"result", "data", "item", "object", "response", "created"})
_NOTHING: Final = object()
_ID_IN_TEXT: Final = (
    r"(?i)\b{noun}\b(?:[ _]?id)?[^\w\n]{{1,4}}(?:(?:with|has|the|id|is)\W+){{0,3}}(#?\d[\w-]*|[\w-]*\d[\w-]*)"
)
_ANY_ID_IN_TEXT: Final = re.compile(r"(?i)\bid\b\W{0,4}(?:is\W+)?([\w-]*\d[\w-]*)")


class ActionWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`actions.toml` as written."""

    creates: frozenset[str]
    deletes: frozenset[str]
    aims: frozenset[str]
    targets: frozenset[str]
    describes: frozenset[str]
    names: frozenset[str]
    prose: frozenset[str]
    matter: frozenset[str]
    ends: frozenset[str]


def action_of(tool: ToolDefinition) -> ActionKind:
    """Return what a changing tool does to the thing it is about, by the words of its name; deleting outweighs all."""
    words = word_segments(tool.name)
    if _says_delete(tool) or tool.annotations.get("destructiveHint") is True:
        return "creates" if words[:1] and words[0] in _words().creates else "deletes"
    return "creates" if any(word in _words().creates for word in words[:2]) else "changes"


def _says_delete(tool: ToolDefinition) -> bool:
    return any(word in _words().deletes for word in word_segments(tool.name))


def protected_parameters(tool: ToolDefinition) -> tuple[str, ...]:
    """Return the parameters of a changing tool that take no guessed or harvested value."""
    inner: dict[str, list[str]] = {}
    for name, _ in tool.parameters():
        outer, _, rest = name.partition(".")
        if rest and outer in tool.properties:
            inner.setdefault(outer, []).append(rest.rpartition(".")[2])
    return tuple(
        name
        for name, declared in tool.properties.items()
        if _is_protected(tool, name, declared) or any(_names_another(tool, each) for each in inner.get(name, ()))
    )


@dataclass(frozen=True)
class ArgumentGuard:
    """The values that the protected parameters of one tool may have.

    `approved` holds them by parameter; `missing` are required parameters for which there is none.
    """

    protected: tuple[str, ...]
    approved: Mapping[str, tuple[object, ...]] = field(default_factory=dict[str, tuple[object, ...]])
    missing: tuple[str, ...] = ()

    def value(self, parameter: str) -> object | None:
        """The first approved value, or None."""
        return next(iter(self.approved.get(parameter, ())), None)

    def permits(self, arguments: Mapping[str, object]) -> bool:
        """Whether a call gives every protected parameter an approved value, and leaves none out that has one.

        A destructive tool without its target may take all for its target: "required" is not tried out here.
        """
        for name in self.protected:
            value = arguments.get(name, _NOTHING)
            if value is _NOTHING and not self.approved.get(name):
                continue
            if not any(value == one and type(value) is type(one) for one in self.approved.get(name, ())):
                return False
        return True


def guard_of(
    tool: ToolDefinition,
    harvest: Harvest,
    *,
    known: Mapping[str, object],
    fixtures: Iterable[Mapping[str, object]],
    folder: Folder | None,
) -> ArgumentGuard:
    """Collect the approved values of a changing tool.

    Args:
        tool: The tool.
        harvest: The things that this run has seen and made.
        known: The user's values per parameter.
        fixtures: The user's arguments for this tool.
        folder: The server's working folder, for paths of things that are to be made.
    """
    protected, approved, given = protected_parameters(tool), dict[str, tuple[object, ...]](), tuple(fixtures)
    for name in protected:
        values = [fixture[name] for fixture in given if name in fixture]
        if name in known:
            values.insert(0, known[name])
        if not values:
            made = _make(tool, name, harvest, folder)
            values = [] if made is None else [made]
        if values:
            approved[name] = tuple(values)
    missing = () if given else tuple(name for name in protected if name in tool.required and name not in approved)
    return ArgumentGuard(protected, approved, missing)


def note_creations(harvest: Harvest, calls: Iterable[ObservedCall]) -> None:
    """Keep what the successful calls of a creating tool have made, by their answers and by the names they were given.

    Call this before the harvest reads the same answers: what it has seen already was there before.
    """
    for call in calls:
        if not call.accepted or call.intended is not None or action_of(call.tool) != "creates":
            continue
        noun, given = _noun(call.tool), list(members(call.arguments).values())
        for name, value in members(call.arguments).items():
            if path_kind(call.tool, name) is not None:
                harvest.note_made([("path",)], value)
            elif _names_itself(call.tool, name) and isinstance(value, str | int):
                harvest.note_made([(noun, *name_of(name)[-1:]), (noun,)], value)
        for key, value in _top_scalars(call.result, noun):
            own = name_of(key)
            # A given value (the project of a new task) is not the thing that was made.
            if value in given or not (len(own) == 1 or own[:-1] == (noun,)):
                continue
            if own[-1] == "id" or own[-1] in _words().names:
                harvest.note_made([(noun, own[-1]), (noun,)], value)
        for found in _ids_in_text(call, noun):
            if found not in given and str(found) not in given:
                harvest.note_made([(noun, "id"), (noun,)], found)


def _make(tool: ToolDefinition, name: str, harvest: Harvest, folder: Folder | None) -> object | None:
    kind, noun, own = path_kind(tool, name), _noun(tool), name_of(name)
    creates = action_of(tool) == "creates"
    declared = members(tool.properties.get(name))
    if kind is not None:
        made, spoken = harvest.made(("path",)), spoken_extensions(tool, name)
        suited = [path for path in made if not spoken or str(path).lower().endswith(spoken)]
        # A tool that moves or copies puts what is at another of its paths there: `destination` beside `source`.
        ends = _words().ends
        is_destination = not ends.isdisjoint(word_segments(name)) and any(
            other != name and path_kind(tool, other) is not None and ends.isdisjoint(word_segments(other))
            for other in tool.properties
        )
        if folder is not None and is_destination:
            # It gets another path than its source: one that does not exist yet.
            _, dot, extension = str(next(iter(suited or made), "")).rpartition("/")[2].rpartition(".")
            return folder.join(f"{FRESH}-moved{dot}{extension if dot else ''}")
        if suited or not creates:
            return next(iter(suited or made), None)
        return folder.fresh(tool, name) if folder is not None else None
    if creates and _names_itself(tool, name):
        return FRESH if declared.get("type", "string") == "string" else None
    aims = own[-1:] and own[-1] in _words().aims and not is_identifier(name, declared)
    if aims:
        return None
    names: list[Name] = [own] if len(own) > 1 else [(noun, *own), own]
    item = members(declared.get("items")) if declared.get("type") == "array" else declared
    for found in harvest.made(*names):
        fitting = _fit(found, item.get("type"))
        if fitting is not None:
            return [fitting] if item is not declared else fitting
    return None


def _fit(value: object, kind: object) -> object | None:
    if kind == "string":
        return str(value)
    if kind in ("integer", "number"):
        return whole(value) if isinstance(value, str) else value if isinstance(value, int) else None
    return value if kind is None else None


def _is_protected(tool: ToolDefinition, name: str, declared: object) -> bool:
    words, schema, table = word_segments(name), tool.single(declared), _words()
    if not words:
        return True
    if schema.get("type") == "boolean":
        return False
    if words[-1] in table.targets or (words[-1] in table.names and not table.targets.isdisjoint(words)):
        return True
    if any(key in schema for key in ("enum", "const")):
        return False
    if is_identifier(name, declared) or path_kind(tool, name) is not None or words[-1] in table.aims | {"id", "ids"}:
        return True
    if words[-1] in table.names and words[-1] not in {"title", "label"}:
        return True
    if _says_delete(tool):
        return schema.get("type") != "number" and words[-1] not in table.prose
    is_its_noun = len(words) == 1 and name_of(name) == (_noun(tool),) and words[-1] not in table.matter
    is_text = schema.get("type", "string") == "string" and "format" not in schema
    describes = table.describes | table.prose | table.matter | {"label"}
    return action_of(tool) == "changes" and (is_its_noun or (is_text and describes.isdisjoint(words[-1:])))


def _names_another(tool: ToolDefinition, inner: str) -> bool:
    words = word_segments(inner)
    if not words or (action_of(tool) == "creates" and _names_itself(tool, inner)):
        return False
    return is_identifier(inner, {}) or words[-1] in _words().aims | _words().targets | {"name", "path"}


def _names_itself(tool: ToolDefinition, name: str) -> bool:
    own, noun = name_of(name), _noun(tool)
    naming = own[-1:] and (
        own[-1] in {"name", "id", "slug", "title", "username", "filename", "branch", "table", "label", "key"}
    )
    is_its_noun = own == (noun,) and noun not in _words().matter | _words().prose
    return is_its_noun or (bool(naming) and (len(own) == 1 or own[:-1] == (noun,)))


def _noun(tool: ToolDefinition) -> str:
    table = _words()
    words = [word for word in name_of(tool.name) if word not in table.creates and word not in table.deletes]
    return words[-1] if words else ""


def _top_scalars(result: object, noun: str) -> Iterator[tuple[str, object]]:
    """The scalars of an answer that is one object, also inside one wrapper; of lists nothing, which may be old."""
    from_text: list[object] = []
    structured = members(result).get("structuredContent")
    if structured is None:
        for block in elements(members(result).get("content")):
            text = members(block).get("text")
            if isinstance(text, str) and text.lstrip().startswith("{"):
                try:
                    from_text.append(msgspec.json.decode(text))
                except (msgspec.DecodeError, RecursionError):
                    continue
    for payload in [structured] if structured is not None else from_text:
        inner = (value for key, value in members(payload).items() if key in _WRAPPERS or name_of(key) == (noun,))
        layers = [members(payload), *(members(value) for value in inner if is_object(value))]
        for layer in layers:
            for key, value in layer.items():
                if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
                    yield key, value


def _ids_in_text(call: ObservedCall, noun: str) -> Iterator[object]:
    """The ids in a sentence: "Created task 7", "Task created with ID: a-7"."""
    text = words_of(call)[:2_000]
    if text.lstrip().startswith(("{", "[")):
        return
    found = [*re.findall(_ID_IN_TEXT.format(noun=re.escape(noun)), text)] if noun else []
    found += _ANY_ID_IN_TEXT.findall(text)
    for one in dict.fromkeys(word.lstrip("#") for word in found):
        yield int(one) if one.isdecimal() and not one.startswith("0") else one


@cache
def _words() -> ActionWords:
    return read_toml("toolvet.assess", "actions.toml", ActionWords)
