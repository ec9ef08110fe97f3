"""The messages of the model, and their expected outcome."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

VERDICT, TRACE, REPAIR = "dev.toolvet/verdict", "dev.toolvet/trace", "dev.toolvet/repair"
PREFIX: Final = "q/4f1c:"
Id = int | str
Note = tuple[object, ...]


@dataclass
class Out:
    """A message that must come out. `raw`: exactly these bytes; else `like` looks at it."""

    to: str
    raw: bytes | None = None
    like: Callable[[dict[str, Any]], object] | None = None


@dataclass
class Call:
    """A tools/call, and what became of it."""

    id: Id
    tool: str
    kind: str
    arguments: dict[str, Any]
    meta: dict[str, Any]
    raw: bytes
    is_task: bool = False
    number: int = 0
    started: bool = False
    repaired: bool = False
    would_block: str | None = None

    @property
    def is_modern(self) -> bool:
        return "io.modelcontextprotocol/protocolVersion" in self.meta


@dataclass
class Other:
    """Any other request, or a call that is not a legal one: `method` and what is needed of it."""

    id: Id
    method: str
    raw: bytes
    cursor: str | None = None
    generation: int = 0


@dataclass
class Reading:
    """The proxy's own reading of the tool list."""

    question: str
    generation: int
    cursor: str | None = None
    restarts: int = 0


@dataclass
class Steps:
    """What must happen."""

    messages: list[Out] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def __add__(self, other: "Steps") -> "Steps":
        return Steps([*self.messages, *other.messages], [*self.notes, *other.notes])


def to_server(raw: bytes) -> Steps:
    return Steps([Out("server", raw)])


def to_client(raw: bytes) -> Steps:
    return Steps([Out("client", raw)])


def noted(*notes: Note) -> Steps:
    return Steps([], list(notes))


@dataclass
class Unchecked:
    """Several answers under one id that pass as they are."""

    answers: int
