"""`Job`: says how rows are judged, in a form that goes to other processes; and `RowKind`, which says what a row is."""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import msgspec

from toolvet.batch.arrow import ArrowSchema, RecordBatch
from toolvet.core.settings import CheckSettings
from toolvet.errors import UsageError


class Kernel(Protocol):
    """Judges a batch: a record batch in, one with as many rows out."""

    @property
    def schema(self) -> ArrowSchema:
        """The columns of the verdicts."""
        ...

    def __call__(self, batch: RecordBatch, /) -> RecordBatch:
        """Return the verdicts."""
        ...


class RowKind(msgspec.Struct, frozen=True):
    """A kind of input.

    `main` is the purpose of the column that is judged, `purposes` has the usual names of the columns for each purpose,
    the first of them the commonest. Rows whose column `flag` has one of the values `flagged` are what one looks for.
    `is_whole` says that a JSON record without such a member is itself what is judged.
    """

    name: str
    main: str
    purposes: Mapping[str, Sequence[str]]
    flag: str
    flagged: Sequence[object]
    is_whole: bool = False

    def columns(self, there: Sequence[str], given: Mapping[str, str], *, source: str) -> dict[str, str]:
        """Return the column for each purpose: the one that is `given`, else the first of a usual name.

        Raises UsageError, which lists the columns, where a given one is missing, or none is found for the main purpose.
        """
        found: dict[str, str] = {}
        lower = {column.strip().lower(): column for column in reversed(there)}
        for purpose, usual in self.purposes.items():
            wanted = given.get(purpose)
            if wanted is not None:
                if wanted not in there:
                    raise UsageError(f"{source} has no column '{wanted}' (--{_flag(purpose)}); {_has(there)}")
                found[purpose] = wanted
                continue
            name = next((lower[each] for each in usual if each in lower), None)
            if name is not None:
                found[purpose] = name
        if self.main not in found and not self.is_whole:
            flag = f"--{_flag(self.main)}"
            raise UsageError(f"{source}: which column has the {self.main}? Give {flag} NAME; {_has(there)}")
        return found


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """How rows are judged.

    `columns` are the names that the user gave for purposes, `keep` the columns that go into the output as they are.
    `checks` are the settings of the checks, `options` those of the check that the flags give; `tools` are definitions
    of tools by name, for results their contracts. `sample` is the share of the rows that are judged. All of it is
    content, not names of files: other machines do not have these, and a run that goes on sees that one changed.
    """

    kind: str
    columns: Mapping[str, str] = {}
    keep: tuple[str, ...] = ()
    checks: CheckSettings = CheckSettings()
    options: Mapping[str, object] = {}
    tools: Mapping[str, object] | None = None
    sample: float | None = None

    @property
    def subject(self) -> RowKind:
        """The kind of the rows."""
        return KINDS[self.kind]


_MOST_SHOWN: Final = 40


def _flag(purpose: str) -> str:
    return purpose.replace("_", "-")


def _has(there: Sequence[str]) -> str:
    return f"it has {', '.join(there[:_MOST_SHOWN])}{', …' if len(there) > _MOST_SHOWN else ''}"


_ID: Final = ("id",)
_TOOL: Final = ("tool", "name", "tool_name")

KINDS: Final[Mapping[str, RowKind]] = {
    kind.name: kind
    for kind in (
        RowKind(
            "answers",
            "text",
            {
                "text": ("answer", "text", "response", "content"),
                "id": _ID,
                "question": ("question",),
                "calls": ("calls", "tool_calls"),
                "finish_reason": ("finish_reason", "stop_reason"),
            },
            "should_escalate",
            (True,),
        ),
        RowKind(
            "results",
            "result",
            {"result": ("result", "response"), "id": _ID, "tool": _TOOL, "arguments": ("arguments",)},
            "classification",
            ("error", "broken"),
            is_whole=True,
        ),
        RowKind(
            "arguments",
            "arguments",
            {
                "arguments": ("arguments", "input", "args"),
                "id": _ID,
                "tool": _TOOL,
                "schema": ("schema", "inputschema"),
            },
            "valid",
            (False,),
            is_whole=True,
        ),
        RowKind(
            "envelopes", "envelope", {"envelope": ("envelope", "response"), "id": _ID}, "valid", (False,), is_whole=True
        ),
        RowKind(
            "conversations",
            "messages",
            {
                "messages": ("messages", "conversation", "conversations"),
                "id": _ID,
                "tools": ("tools",),
                "system": ("system",),
            },
            "should_escalate",
            (True,),
            is_whole=True,
        ),
    )
}
"""The kinds of input by name."""
