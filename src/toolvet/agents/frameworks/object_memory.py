"""`ObjectMemory`: what is known of a framework's objects, such as its agents and runs, by identity."""

from collections import OrderedDict
from typing import Final, Generic, TypeVar

V = TypeVar("V")

_MOST: Final = 1_000


class ObjectMemory(Generic[V]):
    """A value for each of the last thousand objects that were used, which may have no hash.

    It holds the objects, too: the `id` of one that is gone soon belongs to another. A run that ends in an error
    is never taken out, so the oldest go.

    Example:
        >>> memory, agent = ObjectMemory[str](), ["no hash"]
        >>> memory.put(agent, "clerk")
        >>> memory.get(agent), memory.get(["no hash"]), memory.pop(agent), memory.get(agent)
        ('clerk', None, 'clerk', None)
    """

    def __init__(self) -> None:
        self._held: OrderedDict[int, tuple[object, V]] = OrderedDict()

    def put(self, key: object, value: V) -> None:
        """Keep a value for this object."""
        self._held[id(key)] = (key, value)
        self._held.move_to_end(id(key))
        if len(self._held) > _MOST:
            self._held.popitem(last=False)

    def get(self, key: object) -> V | None:
        """Return the value of this object; None where there is none."""
        found = self._held.get(id(key))
        return None if found is None else found[1]

    def pop(self, key: object) -> V | None:
        """Return the value of this object, and forget it."""
        found = self._held.pop(id(key), None)
        return None if found is None else found[1]
