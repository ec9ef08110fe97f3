"""What a session waits for, beside the answers to calls."""

from collections.abc import Mapping

import msgspec

from toolvet.session.note import Era


class Listed(msgspec.Struct, frozen=True):
    """A page of the tool list that the client asked for, and the state of the catalogue at that time."""

    cursor: object
    generation: int


class Opened(msgspec.Struct, frozen=True):
    """The server's answer to `initialize` or `server/discover`."""

    era: Era


class AmbiguousAnswers(msgspec.Struct):
    """As many answers under one id: which is whose, nobody can tell. They pass."""

    answers: int


class ListRequest(msgspec.Struct):
    """The tool list being read by us: the question that is out, and what the list is read for."""

    id: str
    meta: Mapping[str, object]
    generation: int
    cursor: str | None = None
    pages: int = 1
    restarts: int = 0
