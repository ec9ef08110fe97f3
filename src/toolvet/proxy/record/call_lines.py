"""The record of a finished call as a line of the store: its words, without secrets.

    FinishedCall → {"type":"verdict","id":"0193…","at":1795357000.0,"kind":"call","tool":"find_book",…}

Nearly all calls are plain (`PlainKind`): the lines of a kind differ in ten values only, such as a number, an id and a
trace id. The text that they share is made once for each tool and verdict, which takes 50 µs, and then filled in, which
takes 4 µs of the processor; a record that is built and encoded takes 13.
"""

import re
from typing import Final, NamedTuple, TypeAlias

import msgspec

from toolvet.core.causes import GOOD_OUTCOMES
from toolvet.core.checks import ResultVerdict
from toolvet.core.json_value import EMPTY, elements, is_object, members
from toolvet.core.redact import SecretMask
from toolvet.proxy.record.calls import FinishedCall
from toolvet.proxy.session import CallEnded
from toolvet.proxy.session.trace import TraceSource
from toolvet.store.judged import short_verdict
from toolvet.store.records import SignalRecord, VerdictRecord, clean_text, encode_lines, encode_parsed, new_id
from toolvet.version import __version__

_Key: TypeAlias = tuple[object, ...]

# These have columns of their own in the record.
_COLUMNS: Final = frozenset({"event", "id", "tool", "era", "outcome", "blocked", "size", "trace_id"})
# Servers with more tools and kinds of verdicts than that are rare; what is forgotten is only made again.
_MOST: Final = 1024
_NO_TRACES: Final = TraceSource()
_NO_CALL: Final = b'{"call":0,'
# A trace id of W3C Trace Context, or one of ours: its digits are generated, and do not look like a secret.
_HEXADECIMAL: Final = re.compile(r"[0-9a-f]{32}")
_TEXT: Final = msgspec.json.Encoder()
# How every line of a verdict begins.
_HEAD: Final = b'{"type":"verdict","id":"","at":0.0,'
_FILLED: Final = (
    b'{"type":"verdict","id":"%%b","at":%%b,"trace":"%%b","server":%%b,"connection":%%b,"request_id":"%%b",'
    b'"duration":%%b,"size":%%d,"document":{"call":%%d,%b%%b%b,%b'
)


class RenderedCall(NamedTuple):
    """The parts of a record that have words of the client or the server in them, redacted."""

    trace: str
    request_id: str
    tool: str
    reason: str | None
    document: msgspec.Raw


class PlainKind(msgspec.Struct, frozen=True, eq=False):
    """The parts that the records of plain calls of one kind share."""

    tool: str
    reason: str | None
    before_trace: bytes
    after_trace: bytes


class CallRenderer:
    """Renders calls for a record. `known` are secrets that the user gave."""

    def __init__(self, known: SecretMask) -> None:
        self._known = known
        # None for a kind of calls that cannot be filled in.
        self._kinds: dict[_Key, PlainKind | None] = {}

    def render(self, ended: CallEnded) -> RenderedCall:
        """Return what the record shows of this call."""
        mask = ended.mask | self._known
        masked = msgspec.structs.replace(ended, mask=mask) if self._known else ended
        detail = masked.to_dict()
        why, verdict = detail.get("why"), members(detail.get("verdict"))
        if isinstance(why, str):
            reason: str | None = why
        else:
            said = elements(verdict.get("issues")) or (elements(verdict.get("evidence")) if has_failed(ended) else ())
            reason = "; ".join(each for each in said if isinstance(each, str)) or None
        # The store keeps verdicts in a shorter form.
        document = {
            key: short_verdict(value) if is_object(value) and "factors" in value else value
            for key, value in detail.items()
            if key not in _COLUMNS
        }
        return RenderedCall(
            mask.text(str(detail["trace_id"])),
            mask.text(str(detail["id"])),
            mask.text(str(detail["tool"])),
            reason,
            encode_parsed(document),
        )

    def plain(self, ended: CallEnded) -> tuple[PlainKind, str, str] | None:
        """Return the kind of a plain call, its trace id and its request id; None for a call that has to be rendered."""
        verdict = ended.verdict
        if type(ended.id) is not int or verdict is None or not _is_plain(ended):
            return None
        trace = ended.trace_id
        if not _HEXADECIMAL.fullmatch(trace) or not _is_good(verdict):
            return None
        key = (ended.tool, ended.era, ended.outcome, verdict.classification, verdict.confidence, verdict.evidence)
        if key not in self._kinds:
            if len(self._kinds) >= _MOST:
                self._kinds.clear()
            nameless = msgspec.structs.replace(ended, call=0, id=0, meta=EMPTY, traces=_NO_TRACES)
            # The own values of others go where those of the nameless call are; None if that cannot be done.
            made: PlainKind | None = None
            shown, trace_of_nobody = self.render(nameless), _NO_TRACES.id_of(EMPTY, 0).encode()
            document = bytes(shown.document)
            if document.startswith(_NO_CALL) and document.count(trace_of_nobody) == 1:
                before, after = document[len(_NO_CALL) :].split(trace_of_nobody)
                made = PlainKind(shown.tool, shown.reason, before, after)
            self._kinds[key] = made
        kind = self._kinds[key]
        return None if kind is None else (kind, trace, str(ended.id))

    def without_known(self, redacted: str) -> str:
        """Return a text without the secrets that the user gave."""
        return self._known.text(redacted) if self._known else redacted


def has_failed(ended: CallEnded) -> bool:
    """Whether a call failed, as the protocol or its verdict says."""
    verdict = ended.verdict
    return ended.outcome not in GOOD_OUTCOMES or (verdict is not None and verdict.error_without_flag)


def _is_plain(ended: CallEnded) -> bool:
    """Whether nothing was changed, blocked, quoted or kept of a call."""
    return not (
        ended.mask
        or ended.unjudged
        or ended.issues
        or ended.repaired is not None
        or ended.blocked
        or ended.would_block
        or ended.why
        or ended.changed
        or ended.code is not None
        or ended.arguments is not None
        or ended.result is not None
        or ended.hidden
    )


def _is_good(verdict: ResultVerdict) -> bool:
    """Whether a verdict holds nothing but its class, its confidence and its evidence."""
    about = verdict.metadata
    return (
        verdict.is_valid
        and not (verdict.reports_error or verdict.error_kind or verdict.error_code)
        and not (verdict.issues or verdict.state or verdict.retry or verdict.factors or verdict.leaks)
        and not (verdict.framework or verdict.trace_id or verdict.certainty is not None)
        and not (about.warnings or about.pagination is not None or about.content_fidelity)
    )


class CallLines:
    """Writes lines. `name` is the server's name in the record, `known` are secrets that the user gave."""

    def __init__(self, name: str, known: SecretMask) -> None:
        self._name = name
        self._renderer = CallRenderer(known)
        # The line of each kind of plain calls, with gaps for the values of one call.
        self._forms: dict[PlainKind, bytes] = {}
        # The server and the connection of a call, encoded.
        self._origins: dict[tuple[str, str], tuple[bytes, bytes]] = {}

    def line_of(self, call: FinishedCall) -> bytes:
        """Return the record of this call, with its line end."""
        return self.plain_line_of(call) or encode_lines([self.record_of(call)])

    def plain_line_of(self, call: FinishedCall) -> bytes:
        """Return the record of a plain call in 4 µs; b"" for any other."""
        plain = self._renderer.plain(call.ended)
        if plain is None:
            return b""
        kind, trace, request_id = plain
        form = self._forms.get(kind)
        if form is None:
            if len(self._forms) >= _MOST:
                self._forms.clear()
            form = self._forms[kind] = _form(kind, call)
        at = call.began / 1e9
        source = (self._name or call.origin.server, call.origin.connection)
        origin = self._origins.get(source)
        if origin is None:
            if len(self._origins) >= _MOST:
                self._origins.clear()
            origin = self._origins[source] = (_encode(source[0]), _encode(source[1]))
        server, connection = origin
        return form % (
            new_id(at).encode(),
            repr(at).encode(),
            self._renderer.without_known(trace).encode(),
            server,
            connection,
            self._renderer.without_known(request_id).encode(),
            b"null" if call.duration is None else repr(call.duration).encode(),
            call.ended.size,
            call.ended.call,
            trace.encode(),
        )

    def record_of(self, call: FinishedCall) -> VerdictRecord:
        """Return the record of this call, made from its parts: 50 µs, for calls that are not plain."""
        ended, shown = call.ended, self._renderer.render(call.ended)
        verdict = ended.verdict
        at = call.began / 1e9
        signals = [SignalRecord(issue.keyword, "error") for issue in ended.issues]
        if verdict is not None and (verdict.reports_error or not verdict.is_valid):
            from toolvet.store.signals import result_signals  # noqa: PLC0415 - only for what went wrong

            signals += result_signals(verdict)
        return VerdictRecord(
            id=new_id(at),
            at=at,
            kind="call",
            trace=shown.trace,
            server=self._name or call.origin.server,
            connection=call.origin.connection,
            request_id=shown.request_id,
            tool=shown.tool,
            era=ended.era,
            outcome=ended.outcome,
            failed=has_failed(ended),
            classification=None if verdict is None else verdict.classification.value,
            state=None if verdict is None or verdict.state is None else verdict.state.value,
            blocked=ended.blocked,
            score=None if verdict is None else verdict.confidence / 100,
            confidence=None if verdict is None else verdict.certainty,
            reason=shown.reason,
            duration=call.duration,
            size=ended.size,
            document=shown.document,
            version=__version__,
            signals=tuple(signals),
        )


def _form(kind: PlainKind, call: FinishedCall) -> bytes:
    """Return the line of this kind, with gaps; `call` is any call of the kind."""
    ended = call.ended
    verdict = ended.verdict
    common = VerdictRecord(
        id="",
        at=0.0,
        kind="call",
        tool=kind.tool,
        era=ended.era,
        outcome=ended.outcome,
        failed=ended.outcome not in GOOD_OUTCOMES,
        classification=None if verdict is None else verdict.classification.value,
        score=None if verdict is None else verdict.confidence / 100,
        reason=kind.reason,
        version=__version__,
    )
    parts = (kind.before_trace, kind.after_trace, encode_lines([common]).removeprefix(_HEAD))
    return _FILLED % tuple(part.replace(b"%", b"%%") for part in parts)


def _encode(text: str) -> bytes:
    return _TEXT.encode(clean_text(text))
