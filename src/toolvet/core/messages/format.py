"""A family of formats: how its messages and blocks are known, and what reads each. A file in `formats/` is one."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Protocol

import msgspec

from toolvet.core.discover import modules
from toolvet.core.messages.call import UNKNOWN
from toolvet.core.messages.parts import Parts, first_in, first_of, inner, text_in


class Receiver(Protocol):
    """The parts that a format passes on: who said what, which tools were called, and what they returned."""

    @property
    def nested(self) -> bool:
        """Whether the item at hand is inside of a message: alone, a block may as well be the result of a tool."""
        ...

    def said(self, text: object, speaker: str | None = None) -> None:
        """Take a text of `speaker`, "user", "assistant" or "system"; None for the speaker of the message around it."""

    def called(
        self, name: str, arguments: object, id_: str = "", *, result: object = UNKNOWN, failed: bool | None = None
    ) -> None:
        """Take a call, with its result if the same item has it."""

    def returned(self, result: object, *, id_: str = "", name: str = "", failed: bool | None = None) -> None:
        """Take a result: of the call with this id, else of this name, else of the oldest that waits."""

    def stopped(self, reason: object) -> None:
        """Take the reason why the model stopped."""

    def message(self, parts: Parts, speaker: str) -> None:
        """Read a message of `speaker`: its content, and the members beside it."""

    def within(self, item: object, speaker: str | None = None) -> bool:
        """Read the content of the item at hand. Return whether a format knows it."""
        ...


Read = Callable[[Parts, Receiver], bool]
"""Reads a message, an item or a block; False for one that is of another format after all."""


class MessageFormat(msgspec.Struct, frozen=True, kw_only=True):
    """How to recognize the messages of one family.

    Attributes:
        name: the family, for the error that lists what can be read.
        types: readers by the value of `type`.
        endings: readers by the end of the value of `type`.
        members: readers by a member that is present and not None.
        beside: readers by a member next to the content of a message with a role.
    """

    name: str
    types: Mapping[str, Read] = {}
    endings: Mapping[str, Read] = {}
    members: Mapping[str, Read] = {}
    beside: Mapping[str, Read] = {}


class FormatTable(msgspec.Struct, frozen=True):
    """The readers of all formats by how they are known."""

    names: tuple[str, ...]
    types: Mapping[str, tuple[Read, ...]]
    endings: Mapping[str, tuple[Read, ...]]
    members: Mapping[str, tuple[Read, ...]]
    beside: Mapping[str, tuple[Read, ...]]


@cache
def format_table() -> FormatTable:
    """Return the readers of every file in `formats/`."""
    found: list[MessageFormat] = [module.FORMAT for module in modules("toolvet.core.messages.formats")]
    return FormatTable(
        tuple(each.name for each in found),
        _merged(each.types for each in found),
        _merged(each.endings for each in found),
        _merged(each.members for each in found),
        _merged(each.beside for each in found),
    )


def _merged(tables: Iterable[Mapping[str, Read]]) -> Mapping[str, tuple[Read, ...]]:
    """The readers under each key: several formats may know one, and the first whose it is reads it."""
    merged: dict[str, tuple[Read, ...]] = {}
    for table in tables:
        for key, read in table.items():
            merged[key] = (*merged.get(key, ()), read)
    return merged


def known_formats() -> str:
    """Return the names of the formats that can be read, for a message."""
    return ", ".join(sorted(format_table().names))


def said(parts: Parts, to: Receiver) -> bool:
    """Read a block of text."""
    if to.nested:
        to.said(parts.get("text"))
    return to.nested


def call_reader(*arguments: str, ids: tuple[str, ...] = ("id",), under: tuple[str, ...] = ()) -> Read:
    """Return the reader of a call, which is one only with a name.

    Args:
        arguments: the members of which the first that is there has the arguments.
        ids: those of which the first text that is not empty is the id.
        under: those of which the first that is not empty holds the call; none if it is the block itself.

    Example:
        >>> read = call_reader("arguments", under=("function_call",))
    """

    def read(parts: Parts, to: Receiver) -> bool:
        call: object = None
        for key in under:
            call = call or parts.get(key)
        held = inner(call) if under else parts
        name = text_in(held, "name")
        if name:
            to.called(name, first_in(held, arguments), text_in(held, *ids))
        return bool(name)

    return read


def response_reader(choices: str, message: str, *reasons: str) -> Read:
    """Return the reader of a whole response: of several choices the first counts, as SDKs and users take it.

    `choices` is the member with the list, and of each choice `message` holds what was said, one of `reasons` why the
    model stopped.
    """

    def read(parts: Parts, to: Receiver) -> bool:
        choice = first_of(parts[choices])
        known = to.within(choice.get(message), "assistant")
        to.stopped(first_in(choice, reasons) if known else None)
        return known

    return read


def ignored(_parts: Parts, to: Receiver) -> bool:
    """Read nothing from a block without words: images, reasoning."""
    return to.nested


def ignored_item(_parts: Parts, _to: Receiver) -> bool:
    """Read nothing from an item in the place of a message: reasoning, events."""
    return True
