"""The order in which tools are called: those whose arguments need no guessing first, because their results feed others.

    tools       get_book(book_id), list_books(), review(book_id, text)
    1st wave    list_books                    it needs nothing; its result names a book_id
    2nd wave    get_book                      its only argument is known now
    3rd wave    review                        nothing will ever say what `text` is: guess it

Tools that may change things and that the user asked for are called one by one: what creates after the readers that are
ready, what changes after all readers, what deletes last.

Each tool and each name in the harvest is looked at once, so that a server with 20,000 tools is ordered in the time that
reading its list takes.
"""

from collections import deque
from collections.abc import Mapping, Sequence, Set as AbstractSet

from toolvet.assess.guard import action_of, protected_parameters
from toolvet.assess.harvest import LISTING, Harvest, Name, is_identifier, name_of
from toolvet.assess.options import Arguments
from toolvet.assess.rules import ToolDefinition
from toolvet.assess.values import VALUE_KEYWORDS
from toolvet.core.json_value import members


class Waves:
    """The tools that are still to be called. A tool is known by its position in the sequence that was given."""

    def __init__(
        self,
        tools: Sequence[ToolDefinition],
        harvest: Harvest,
        fixtures: Mapping[str, Sequence[Arguments]],
        known: Arguments,
        changing: AbstractSet[int] = frozenset(),
    ) -> None:
        """`harvest` grows meanwhile; `known` are the user's values per parameter, `changing` positions in `tools`."""
        self._harvest = harvest
        self._names_read = 0
        self._called: set[int] = set()
        self._lacking: list[int] = []
        self._waiting_for: dict[Name, list[int]] = {}
        self._ready: list[int] = []
        actions = {position: action_of(tools[position]) for position in changing}
        needs = {position: len(protected_parameters(tools[position])) for position in changing}
        # A project is created before its tasks, and deleted after them.
        self._creators = deque(sorted((p for p in actions if actions[p] == "creates"), key=lambda p: (needs[p], p)))
        self._deleters = deque(sorted((p for p in actions if actions[p] == "deletes"), key=lambda p: (-needs[p], p)))
        self._changers = deque(sorted(p for p in actions if actions[p] == "changes"))
        # What lists and searches first: with a guessed query it may find nothing, and with luck what others ask for.
        self._listing = {at for at, tool in enumerate(tools) if not LISTING.isdisjoint(name_of(tool.name))}
        self._in_order = deque(
            sorted(
                (position for position in range(len(tools)) if position not in changing),
                key=lambda position: (position not in self._listing, position),
            )
        )
        for position, tool in enumerate(tools):
            lacking: set[Name] = set() if fixtures.get(tool.name) else {*map(name_of, guessed_parameters(tool, known))}
            self._lacking.append(len(lacking))
            if position in changing:
                continue
            for name in lacking:
                self._waiting_for.setdefault(name, []).append(position)
            if not lacking:
                self._ready.append(position)

    def next(self) -> tuple[int, ...]:
        """The tools to call now, in their order. Empty at the end.

        All readers that are ready; else one tool that creates; else the first reader left, then what changes things,
        and what deletes them last, each alone.
        """
        # The tools for which the names that are new in the harvest were the last they waited for.
        names = self._harvest.names
        for name in names[self._names_read :]:
            for position in self._waiting_for.pop(name, ()):
                self._lacking[position] -= 1
                if not self._lacking[position] and position not in self._called:
                    self._ready.append(position)
        self._names_read = len(names)
        # What lists things feeds the optional parameters of the others that are ready.
        lists = [position for position in self._ready if position in self._listing]
        others = [position for position in self._ready if position not in self._listing]
        wave = sorted(lists or others)
        self._ready = others if lists else []
        for queue in (self._creators, self._in_order, self._changers, self._deleters):
            while not wave and queue:
                position = queue.popleft()
                wave = [] if position in self._called else [position]
        self._called.update(wave)
        return tuple(wave)


def guessed_parameters(tool: ToolDefinition, known: Arguments) -> tuple[str, ...]:
    """The required parameters whose values would have to be guessed unless an earlier result has them.

    No guess is needed where the user (`known`) or the schema gives a value, and for kinds that any value serves:
    numbers, booleans, structures, strings of a format; but an identifier is not served by any number.
    """
    guessed: list[str] = []
    for name in tool.required:
        schema = members(tool.properties.get(name))
        if name in known or any(word in schema for word in VALUE_KEYWORDS):
            continue
        # A string, or a list of strings, of which the schema says nothing more.
        one = members(schema.get("items")) if schema.get("type") == "array" else schema
        is_plain = "format" not in one and not any(word in one for word in VALUE_KEYWORDS)
        if is_identifier(name, tool.properties.get(name)) or (one.get("type") == "string" and is_plain):
            guessed.append(name)
    return tuple(guessed)
