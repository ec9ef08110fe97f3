"""`Destination`: a platform that takes scores; and `Score`: a verdict as these platforms take it.

Each platform has a file in `destinations`, found because it is there.
"""

import hashlib
import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Literal, Protocol, TypeAlias
from urllib.parse import urlsplit

import msgspec

from toolvet.core.discover import module_names
from toolvet.errors import UsageError
from toolvet.store import VerdictRecord

_FOLDER: Final = "toolvet.server.scores.destinations"


ScoreLabel: TypeAlias = Literal["pass", "warn", "fail"]


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict for another platform.

    `id` is derived from the verdict's id, so a platform takes a score that is sent twice for one. `evaluator` is the
    check (`toolvet.answer`), `version` the release of toolvet that judged. `value` is 0 to 1; `outcome` is the
    verdict's own word. `began` is when the turn began, `at` when this was judged, in seconds since the epoch.
    """

    id: str
    verdict: str
    place: int
    evaluator: str
    version: str
    value: float
    label: ScoreLabel
    outcome: str = ""
    explanation: str = ""
    trace: str | None = None
    conversation: str | None = None
    server: str = ""
    tool: str | None = None
    model: str | None = None
    variant: str | None = None
    state: str | None = None
    signals: tuple[str, ...] = ()
    at: float = 0.0
    began: float = 0.0
    duration: float | None = None

    @property
    def metadata(self) -> Mapping[str, object]:
        """What all platforms keep beside the score: where it came from, and the verdict in short."""
        known: dict[str, object] = {
            "evaluator": self.evaluator,
            "evaluator_version": self.version,
            "toolvet_verdict": self.verdict,
            "toolvet_trace": self.trace,
            "label": self.label,
            "outcome": self.outcome,
            "server": self.server,
            "tool": self.tool,
            "model": self.model,
            "variant": self.variant,
            "state": self.state,
            "signals": list(self.signals),
        }
        return {key: value for key, value in known.items() if value not in (None, "", [])}


class ScoreSender(Protocol):
    """A connection to one project of a platform."""

    @property
    def place(self) -> str:
        """Where it sends to, without secrets: the platform, its address and the project."""
        ...

    @property
    def complaints(self) -> list[str]:
        """What the platform said of scores that it dropped, a sentence each; reading them empties it."""
        ...

    def accepts(self, score: Score) -> bool:
        """Return whether the platform has something that this score can be tied to."""
        ...

    def send(self, scores: Sequence[Score]) -> frozenset[str]:
        """Send scores, and return the ids of those that the platform has when this returns.

        Raises UnreachableError where it does not answer or refuses, AuthenticationError where it wants other keys.
        """
        ...


@dataclass(frozen=True)
class Destination:
    """A platform.

    Attributes:
        title: Its name as a person writes it.
        open: Opens a connection; credentials come from the environment, under the names that the platform's own SDK
            has for them. Leaving the block closes it. Raises UsageError where the SDK or a variable is missing.
        needs: What a verdict must have to be tied to something there, in words.
    """

    title: str
    open: Callable[[], AbstractContextManager[ScoreSender]]
    needs: str


def destination_names() -> tuple[str, ...]:
    """Return the names of the platforms, without importing their SDKs."""
    return module_names(_FOLDER)


def destination(name: str) -> Destination:
    """Return a platform by its name. Raises UsageError for another."""
    if name not in destination_names():
        raise UsageError(f"{name} is none of the destinations: {', '.join(destination_names())}")
    found: Destination = import_module(f"{_FOLDER}.{name}").DESTINATION
    return found


def from_environment(title: str, *names: str) -> list[str]:
    """Return the values of these variables. Raises UsageError that names all which are missing."""
    missing = [name for name in names if not os.environ.get(name)]
    if missing:
        raise UsageError(f"{title} needs {' and '.join(missing)} in the environment")
    return [os.environ[name] for name in names]


def sdk_module(name: str, title: str, extra: str) -> Any:
    """Return a module of a platform's SDK, which is an extra. Raises UsageError where it is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        raise missing_sdk(title, extra, error) from error


def missing_sdk(title: str, extra: str, error: ImportError) -> UsageError:
    """Return the error for a platform whose SDK is not installed."""
    return UsageError(f'{title} needs its SDK ({error.name}): pip install "toolvet[{extra}]"')


def shown_url(url: str) -> str:
    """Return a URL without credentials and query."""
    parts = urlsplit(url)
    port = "" if parts.port is None else f":{parts.port}"
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path.rstrip('/')}"


"""`fail`: what was judged went wrong. `warn`: a person should see it."""

# Every id below is made from this and from an id of ours, so that the same verdict always gets the same one.
_NAMESPACE: Final = uuid.UUID("6f1c4f0e-5d53-5c0e-9d0a-0d6b8f2f7a11")
_MOST_WORDS: Final = 500
_MOST_SIGNALS: Final = 20


def score_of(record: VerdictRecord, began: float | None = None) -> Score:
    """Return a verdict of the store as a score; `began` is when its turn began.

    >>> score_of(VerdictRecord(id="0193", at=1.0, kind="result", failed=True)).label
    'fail'
    """
    evaluator = f"toolvet.{record.kind}"
    score = record.score if record.score is not None else float(not record.failed)
    return Score(
        id=str(uuid.uuid5(_NAMESPACE, f"{record.id}/{evaluator}")),
        verdict=record.id,
        place=record.seq,
        evaluator=evaluator,
        version=record.version,
        value=min(1.0, max(0.0, score)),
        label="fail" if record.failed else "warn" if record.escalate else "pass",
        outcome=record.outcome,
        explanation=(record.reason or "")[:_MOST_WORDS],
        trace=record.trace,
        conversation=record.conversation,
        server=record.server,
        tool=record.tool,
        model=record.model,
        variant=record.variant,
        state=record.state,
        signals=tuple(dict.fromkeys(signal.type for signal in record.signals))[:_MOST_SIGNALS],
        at=record.at,
        began=record.at if began is None else began,
        duration=record.duration,
    )


def trace_id_of(trace: str) -> str:
    """Return a trace id as W3C Trace Context writes it: 32 hexadecimal digits.

    An id of another form becomes the first half of its SHA-256, as `Langfuse.create_trace_id(seed=…)` does.

    >>> trace_id_of("0af7651916cd43dd8448eb211c80319c")
    '0af7651916cd43dd8448eb211c80319c'
    >>> trace_id_of("turn-1") == trace_id_of("turn-1")
    True
    """
    plain = trace.replace("-", "").lower()
    if len(plain) == 32 and set(plain) <= set("0123456789abcdef") and set(plain) != {"0"}:
        return plain
    return hashlib.sha256(trace.encode("utf-8", "replace")).hexdigest()[:32]


def uuid7_of(name: str, at: float) -> str:
    """Return a name as a UUID of version 7, which begins with its time; a name that is one already is kept.

    >>> uuid7_of("0193d5f2-0b6e-7c3a-8f00-1234567890ab", 0.0)
    '0193d5f2-0b6e-7c3a-8f00-1234567890ab'
    >>> uuid7_of("turn-1", 1_700_000_000.0)[:15]
    '018bcfe5-6800-7'
    """
    if is_uuid7(name):
        return str(uuid.UUID(name))
    digest = int.from_bytes(hashlib.sha256(name.encode("utf-8", "replace")).digest()[:10], "big")
    milliseconds = int(at * 1000) & 0xFFFF_FFFF_FFFF
    whole = milliseconds << 80 | 7 << 76 | (digest >> 64 & 0xFFF) << 64 | 2 << 62 | digest & (1 << 62) - 1
    return str(uuid.UUID(int=whole))


def is_uuid7(name: str) -> bool:
    """Whether a name is a UUID of version 7, with or without its hyphens."""
    try:
        return uuid.UUID(name).version == 7
    except ValueError:
        return False
