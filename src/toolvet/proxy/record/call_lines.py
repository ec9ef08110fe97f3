"""The record of a finished call as a line of the store.

    FinishedCall → {"type":"verdict","id":"0193…","at":1795357000.0,"kind":"call","tool":"find_book",…}

Nearly all calls are of a few plain kinds (`shown`): the lines of a kind differ in ten values only. What they have in
common is written once, and then filled in, which takes 4 µs of the processor; a record that is built and encoded, 13.
"""

from typing import TYPE_CHECKING, Final

import msgspec

from toolvet.core.causes import GOOD_OUTCOMES
from toolvet.core.redact import SecretMask
from toolvet.proxy.record.calls import FinishedCall
from toolvet.proxy.record.shown import CallRenderer, PlainKind, has_failed
from toolvet.store.records import SignalRecord, VerdictRecord, clean_text, encode_lines, new_id
from toolvet.version import __version__

if TYPE_CHECKING:
    from toolvet.core.checks import ResultVerdict

# As many as there are kinds (`shown`).
_MOST: Final = 1024
_TEXT: Final = msgspec.json.Encoder()
# How every line of a verdict begins.
_HEAD: Final = b'{"type":"verdict","id":"","at":0.0,'
_FILLED: Final = (
    b'{"type":"verdict","id":"%%b","at":%%b,"trace":"%%b","server":%%b,"connection":%%b,"request_id":"%%b",'
    b'"duration":%%b,"size":%%d,"document":{"call":%%d,%b%%b%b,%b'
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
        server, connection = self._origin_of(call)
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

    def _origin_of(self, call: FinishedCall) -> tuple[bytes, bytes]:
        key = (self._name or call.origin.server, call.origin.connection)
        found = self._origins.get(key)
        if found is None:
            if len(self._origins) >= _MOST:
                self._origins.clear()
            found = self._origins[key] = (_encode(key[0]), _encode(key[1]))
        return found

    def record_of(self, call: FinishedCall) -> VerdictRecord:
        """Return the record of this call, made from its parts: 50 µs, for calls that are not plain."""
        ended, shown = call.ended, self._renderer.render(call.ended)
        verdict = ended.verdict
        at = call.began / 1e9
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
            signals=_signals(call, verdict),
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


def _signals(call: FinishedCall, verdict: "ResultVerdict | None") -> tuple[SignalRecord, ...]:
    found = [SignalRecord(issue.keyword, "error") for issue in call.ended.issues]
    if verdict is not None and (verdict.reports_error or not verdict.is_valid):
        from toolvet.store.signals import result_signals  # noqa: PLC0415 - only for what went wrong

        found += result_signals(verdict)
    return tuple(found)
