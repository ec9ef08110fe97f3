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
from toolvet.assess.harvest import Harvest, Name, is_identifier, name_of
from toolvet.assess.options import Arguments
from toolvet.assess.rules import ToolDefinition
from toolvet.assess.values import VALUE_KEYWORDS
from toolvet.core.json_value import is_object, members


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
        """Order `tools`.

        Args:
            tools: The tools to call.
            harvest: What calls returned; it grows meanwhile.
            fixtures: The user's arguments per tool.
            known: The user's values per parameter.
            changing: The positions of the tools that may change things.
        """
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
        self._in_order = deque(position for position in range(len(tools)) if position not in changing)
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
        self._read_harvest()
        wave = sorted(self._ready)
        self._ready.clear()
        for queue in (self._creators, self._in_order, self._changers, self._deleters):
            while not wave and queue:
                position = queue.popleft()
                wave = [] if position in self._called else [position]
        self._called.update(wave)
        return tuple(wave)

    def _read_harvest(self) -> None:
        """Find the tools for which the names that are new in the harvest were the last they waited for."""
        names = self._harvest.names
        for name in names[self._names_read :]:
            for position in self._waiting_for.pop(name, ()):
                self._lacking[position] -= 1
                if not self._lacking[position] and position not in self._called:
                    self._ready.append(position)
        self._names_read = len(names)


def guessed_parameters(tool: ToolDefinition, known: Arguments) -> tuple[str, ...]:
    """The required parameters whose values would have to be guessed unless an earlier result has them.

    No guess is needed where the user (`known`) or the schema gives a value, and for kinds that any value serves:
    numbers, booleans, structures, strings of a format; but an identifier is not served by any number.
    """
    return tuple(name for name in tool.required if name not in known and _needs_guess(name, tool.properties.get(name)))


def _needs_guess(name: str, declared: object) -> bool:
    if _is_free_text(declared):
        return True
    return is_identifier(name, declared) and not any(word in members(declared) for word in VALUE_KEYWORDS)


def _is_free_text(declared: object) -> bool:
    """Whether a parameter is a string, or a list of strings, of which the schema says nothing more."""
    if not is_object(declared) or any(word in declared for word in VALUE_KEYWORDS):
        return False
    one = members(declared.get("items")) if declared.get("type") == "array" else declared
    return one.get("type") == "string" and "format" not in one and not any(word in one for word in VALUE_KEYWORDS)
