"""The records of a store: `VerdictRecord`, `EventRecord`, `AssessmentRecord` and `ItemRecord`, as lines of JSON.

    {"type":"verdict","id":"0193…","at":1795357000.0,"kind":"call","tool":"find_book",…}

Records are redacted before they are made: nothing here looks for secrets.
"""

import json
import os
import random
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec

from toolvet.core.json_value import elements, is_array, is_endless, is_object, members
from toolvet.core.redact import REDACTED

if TYPE_CHECKING:
    from toolvet.core.messages import ToolCall

VerdictKind: TypeAlias = Literal["call", "arguments", "result", "envelope", "answer"]
"""The kind of input that was judged. A `call` is a whole call as the proxy saw it: its arguments and its result."""

EMPTY_DOCUMENT: Final = msgspec.Raw(b"{}")
CUT: Final = " … (cut)"
"""The end of what was too long to be kept."""
_LEFT_OUT: Final = (CUT.encode(), REDACTED.encode())


class SignalRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """One reason for a verdict: an issue of arguments, a state of a result, a finding, a signal of an answer.

    `level` is its weight or severity in words (`error`, `warning`, `info`); `certainty` (0 to 1) is None if it was
    never measured.
    """

    type: str
    level: str = ""
    certainty: float | None = None


class VerdictRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag="verdict"):
    """One verdict with what was judged.

    `at` is when the call began or the verdict was made, in seconds since the epoch; `duration` is in seconds, `size` in
    bytes. `score` is 0 to 1. `failed` says whether what was judged went wrong; `escalate` whether a person should see
    it. `variant` names a prompt or a configuration that is compared with others. `text` is what was judged (an answer),
    None if only the verdict is kept. `document` is the rest of the verdict as JSON, `detail` the same decoded.
    `seq` is the place in the store, 0 before it has one.
    """

    id: str
    at: float
    kind: VerdictKind
    trace: str | None = None
    conversation: str | None = None
    server: str = ""
    connection: str = ""
    request_id: str | None = None
    tool: str | None = None
    model: str | None = None
    variant: str | None = None
    era: str | None = None
    outcome: str = ""
    failed: bool = False
    classification: str | None = None
    state: str | None = None
    blocked: str | None = None
    score: float | None = None
    escalate: bool = False
    confidence: float | None = None
    reason: str | None = None
    duration: float | None = None
    size: int = 0
    text: str | None = None
    document: msgspec.Raw = EMPTY_DOCUMENT
    version: str = ""
    signals: tuple[SignalRecord, ...] = ()
    seq: int = 0

    @property
    def detail(self) -> Mapping[str, object]:
        """The rest of the verdict: members that have no field of their own. Each access decodes the document."""
        return in_present_names(decode_document(self.document))


class EventRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag="event"):
    """Another event: a schema that does not compile, a list that could not be read, records that were dropped."""

    id: str
    at: float
    kind: str
    message: str
    server: str = ""
    connection: str = ""
    tool: str | None = None


class AssessmentRecord(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag="assessment"
):
    """One assessment of a server. `document` is the report (`toolvet-report/1`) as JSON, `detail` the same decoded.

    `target` is how the server was reached, without secrets. `counts` are the numbers of findings by severity.
    """

    id: str
    at: float
    server: str
    target: str = ""
    score: float | None = None
    status: str = ""
    counts: Mapping[str, int] = {}
    version: str = ""
    document: msgspec.Raw = EMPTY_DOCUMENT

    @property
    def detail(self) -> Mapping[str, object]:
        """The report. Decoded each time."""
        return decode_document(self.document)


class ItemChange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One change. `before` and `after` are labels as JSON; `undoes` is the number of the change that it takes back."""

    reviewer: str
    at: float
    action: str
    before: str = ""
    after: str = ""
    undoes: int | None = None


class ItemLabel(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One reviewer's label of one item, and when it was given (in seconds since the epoch)."""

    reviewer: str
    value: str
    at: float
    note: str = ""
    signals: Mapping[str, str] = {}


class ItemRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag="item"):
    """One item of the review queue. `id` is that of its verdict, `wanted` how many reviewers it wants.

    `skips` are reviewers who do not want it, `changes` what was done with it, the oldest
    first. `final` is the label that decides where they differ, as JSON.
    """

    id: str
    at: float
    rule: str
    priority: int = 0
    wanted: int = 1
    labels: tuple[ItemLabel, ...] = ()
    skips: tuple[str, ...] = ()
    final: str = ""
    changes: tuple[ItemChange, ...] = ()


StoreRecord: TypeAlias = VerdictRecord | EventRecord | AssessmentRecord | ItemRecord
"""Any record of a store."""

# Ids have to differ, and need not be hard to guess. A forked process must not go on with the same numbers.
_DICE: Final = random.Random()  # noqa: S311 - as said
if sys.platform != "win32":
    os.register_at_fork(after_in_child=_DICE.seed)

_ENCODER: Final = msgspec.json.Encoder(enc_hook=str)
_DECODER: Final = msgspec.json.Decoder(StoreRecord)


def new_id(at: float | None = None) -> str:
    """Return a new id: 32 hexadecimal digits that sort by time (a UUID of version 7).

    `at` is the time in seconds since the epoch; None is now.
    """
    milliseconds = int((time.time() if at is None else at) * 1000) & 0xFFFF_FFFF_FFFF
    # Each byte of a call into the kernel would be as good, and cost as much as all the rest of a call's record.
    dice = _DICE.getrandbits(74)
    return f"{milliseconds << 80 | 7 << 76 | dice >> 62 << 64 | 2 << 62 | dice & (1 << 62) - 1:032x}"


def encode_document(value: object) -> msgspec.Raw:
    """Return a value as JSON. Total: what JSON cannot hold is written as text, lone surrogates are replaced."""
    if is_endless(value):
        return msgspec.Raw(b'{"unwritable": "it contains itself, or its own parts too often"}')
    return encode_parsed(value)


def encode_parsed(value: object) -> msgspec.Raw:
    """Return a value that came from JSON as JSON. Total, and without the look for a value that has no end."""
    try:
        return msgspec.Raw(_ENCODER.encode(value))
    except (UnicodeEncodeError, msgspec.MsgspecError, TypeError, ValueError, RecursionError, OverflowError):
        try:
            read: object = json.loads(json.dumps(value, default=str, skipkeys=True), parse_constant=str)
            return msgspec.Raw(json.dumps(_without_surrogates(read)).encode())
        except (TypeError, ValueError, RecursionError) as error:
            return msgspec.Raw(json.dumps({"unwritable": str(error)}).encode())


def _without_surrogates(value: object) -> object:
    if isinstance(value, str):
        return clean_text(value)
    if is_object(value):
        return {clean_text(key): _without_surrogates(item) for key, item in value.items()}
    return [_without_surrogates(item) for item in elements(value)] if is_array(value) else value


def clean_text(text: str) -> str:
    """Return a text that every database takes: lone surrogates and NUL are replaced."""
    if "\x00" in text:
        text = text.replace("\x00", "�")
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def decode_document(document: msgspec.Raw) -> Mapping[str, object]:
    """Return the object in a document; an empty one for anything else."""
    try:
        value: object = msgspec.json.decode(document)
    except (msgspec.MsgspecError, ValueError):
        value = json.loads(bytes(document) or b"{}")
    return members(value)


# How versions up to 0.1 spelled members of verdicts. Their documents stay in stores and exports as they are.
_FORMER: Final = {
    "isValid": "is_valid",
    "isError": "is_error",
    "responseMetadata": "metadata",
    "contentTypes": "content_types",
    "textBlockCount": "text_block_count",
    "imageCount": "image_count",
    "resourceCount": "resource_count",
    "audioCount": "audio_count",
    "otherCounts": "other_counts",
    "hasStructuredContent": "has_structured_content",
    "hasMeta": "has_meta",
    "outputSchemaValidation": "output_schema_validation",
    "hasOutputSchema": "has_output_schema",
    "contentFidelity": "content_fidelity",
    "droppedContentIds": "dropped_content_ids",
    "takenFor": "taken_for",
    "likelyGood": "likely_good",
    "shouldEscalate": "should_escalate",
    "assessmentConfidence": "assessment_confidence",
    "failedCalls": "failed_calls",
    "partialCalls": "partial_calls",
    "validExample": "valid_example",
}
# The members that are parts of a verdict. All others hold words and values of clients and servers.
_OWN_PARTS: Final = frozenset({"verdict", "metadata", "output_schema_validation", "error"})


def in_present_names(document: Mapping[str, object]) -> Mapping[str, object]:
    """Return a verdict's document, of any version, with the names that its members have today.

    >>> in_present_names({"verdict": {"isValid": True}, "arguments": {"isValid": 1}})
    {'verdict': {'is_valid': True}, 'arguments': {'isValid': 1}}
    """
    found: dict[str, object] = {}
    for name, value in document.items():
        now = _FORMER.get(name, name)
        found[now] = in_present_names(value) if now in _OWN_PARTS and is_object(value) else value
    return found


def encode_lines(records: Iterable[StoreRecord]) -> bytes:
    """Return a line of JSON for each record, each with its line end."""
    lines: list[bytes] = []
    for record in records:
        try:
            lines.append(_ENCODER.encode(record))
        except (UnicodeEncodeError, msgspec.MsgspecError, TypeError, ValueError):
            fields = {name: getattr(record, name) for name in record.__struct_fields__}
            cleaned = {name: clean_text(value) for name, value in fields.items() if isinstance(value, str)}
            lines.append(_ENCODER.encode(msgspec.structs.replace(record, **cleaned)))
    return b"".join(line + b"\n" for line in lines)


def decode_lines(lines: bytes) -> Iterator[StoreRecord | None]:
    """Yield the record of each line, None for a line that is none, as half a line where a process was killed."""
    for line in lines.split(b"\n"):
        if line.strip():
            try:
                yield _DECODER.decode(line)
            except (msgspec.MsgspecError, ValueError):
                yield None


class RecordedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """The verdicts under one trace id, in the order in which they happened."""

    trace: str
    verdicts: tuple[VerdictRecord, ...] = ()

    @property
    def began(self) -> float:
        """When the first call began or the first verdict was made, in seconds since the epoch."""
        return min(verdict.at for verdict in self.verdicts)

    @property
    def calls(self) -> tuple[VerdictRecord, ...]:
        """The calls."""
        return tuple(verdict for verdict in self.verdicts if verdict.kind == "call")

    @property
    def answers(self) -> tuple[VerdictRecord, ...]:
        """The answers that were handed in."""
        return tuple(verdict for verdict in self.verdicts if verdict.kind == "answer")

    @property
    def tool_calls(self) -> "tuple[ToolCall, ...]":
        """The calls as `check_answer` takes them; of records without a whole call, those of results."""
        results = (verdict for verdict in self.verdicts if verdict.kind == "result" and verdict.tool)
        return tuple(map(_tool_call, self.calls or results))


def _tool_call(record: VerdictRecord) -> "ToolCall":
    """A result of which something was left out (a secret, its end, all of it) is not known."""
    from toolvet.core.messages import UNKNOWN, ToolCall  # noqa: PLC0415 - the proxy starts without it

    detail = record.detail
    result = detail.get("result")
    if result is None or any(mark in bytes(encode_parsed(result)) for mark in _LEFT_OUT):
        result = UNKNOWN
    return ToolCall(record.tool or "", detail.get("arguments"), result, failed=record.failed or None)


class VerdictFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which verdicts are wanted: those for which all members that are given hold.

    `signal` is the type of one of its signals, `signals_from` … see `toolvet store`. `since` and `until` are seconds
    since the epoch, `until` excluded. `text` are words to search for. `trace` and `conversation` are whole ids.
    """

    kind: VerdictKind | None = None
    server: str | None = None
    tool: str | None = None
    model: str | None = None
    variant: str | None = None
    signal: str | None = None
    outcome: str | None = None
    state: str | None = None
    failed: bool | None = None
    escalated: bool | None = None
    blocked: bool | None = None
    min_score: float | None = None
    max_score: float | None = None
    since: float | None = None
    until: float | None = None
    text: str | None = None
    trace: str | None = None
    conversation: str | None = None


EVERYTHING = VerdictFilter()
"""No condition."""
