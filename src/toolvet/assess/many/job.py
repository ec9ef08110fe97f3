"""A worker's input and its outcome: `AssessmentJob`, `AssessmentLimits` and `AssessmentOutcome`."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Literal, cast

import msgspec

from toolvet.assess.options import Options
from toolvet.core.checks import ResultCheck
from toolvet.mcp.transport import Target
from toolvet.version import __version__

# How an assessment ended: `limit` is a limit of ours that the server went over, `crashed` a fault of toolvet.
Ending = Literal["assessed", "unreachable", "unauthorized", "unusable", "limit", "crashed", "interrupted"]


@dataclass(frozen=True, kw_only=True)
class AssessmentLimits:
    """The limits on the assessment of one server.

    Attributes:
        seconds: Wall time. A run that reaches it ends with what was seen until then; one that does not end is killed.
        memory_mib: Memory of the worker, the server and everything the server starts, in MiB. Measured on Linux and
            macOS; Windows has no such limit.
        output_mib: The most that the server may write to its pipes in all, and the size of any file it writes, in MiB.
    """

    seconds: float = 600.0
    memory_mib: int = 2048
    output_mib: int = 1024


@dataclass(frozen=True)
class AssessmentJob:
    """One server to assess."""

    name: str
    target: Target
    options: Options

    @property
    def key(self) -> str:
        """A hash of the target, the options and the version of toolvet: while it is the same, a report stays valid.

        The journal holds this hash, and not the target, whose command or headers may have secrets.
        """
        words = repr((__version__, type(self.target).__name__, _plain(self.target), _plain(self.options)))
        return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class AssessmentOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one server. `problem` is why there is no report, in a sentence; empty if there is one.

    `file` is the name of its report in the results folder, without the suffix. `exit_code` is the one of
    `toolvet assess` for such a problem.
    """

    name: str
    file: str
    key: str
    ending: Ending
    problem: str = ""
    exit_code: int = 0
    seconds: float = 0.0
    peak_mib: int = 0


class WorkerAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The output of a worker: a report, or (`report` is null then) the error of which `ending` is the kind."""

    report: msgspec.Raw = msgspec.Raw(b"null")
    is_interrupted: bool = False
    ending: Ending = "assessed"
    problem: str = ""
    exit_code: int = 0


def _plain(value: object) -> object:
    if isinstance(value, ResultCheck):
        return _plain(msgspec.to_builtins(value.settings))
    if is_dataclass(value) and not isinstance(value, type):
        return tuple((item.name, _plain(getattr(value, item.name))) for item in fields(value))
    if isinstance(value, Mapping):
        members = cast("Mapping[object, object]", value)
        return tuple(sorted((repr(_plain(key)), repr(_plain(item))) for key, item in members.items()))
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return tuple(_plain(item) for item in cast("Sequence[object]", value))
    return value
