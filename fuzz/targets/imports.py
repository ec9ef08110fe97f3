"""Files that `toolvet store import` takes: what is read is kept whole, inserted or refused, and can be shown."""

import json
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import msgspec
from fuzz.draw import Draw
from fuzz.holds import holds
from sqlalchemy.exc import DataError, IntegrityError, StatementError

from toolvet import UsageError
from toolvet.errors import StoreError
from toolvet.server.dashboard.api.stored import show_assessment, show_event, show_verdict
from toolvet.server.dashboard.view.entries import entry_view
from toolvet.server.failures import json_response
from toolvet.server.review import mark_evidence, review_signals
from toolvet.store.database import memory_engine
from toolvet.store.export import read_file
from toolvet.store.inserting import insert_records
from toolvet.store.reading import read_assessment, read_events, read_verdict
from toolvet.store.records import (
    AssessmentRecord,
    EventRecord,
    StoreRecord,
    VerdictRecord,
    decode_lines,
    encode_document,
    encode_lines,
)

_FOLDER = tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)  # noqa: S108 - memory.
_ENGINE = memory_engine()
# Without pyarrow no table is read.
HAS_TABLES = find_spec("pyarrow") is not None
# Errors that the database writer takes for a refusal of the database.
REFUSALS = (DataError, IntegrityError, StatementError, OverflowError)
MOMENTS = (1_795_000_000.0, 0, -5.5, 5, 1e18, 1e306, -1e308, 10**30, True, None, "yesterday", 2**63)
KINDS = ("call", "arguments", "result", "envelope", "answer", "own", "", None, 5)
TEXTS = ("trace", "conversation", "server", "connection", "request_id", "tool", "model", "variant", "era", "outcome")
MORE_TEXTS = ("classification", "state", "blocked", "reason", "text", "version", "message", "status", "target")
NUMBERS = ("score", "confidence", "duration", "size")


def check(draw: Draw) -> None:
    """Lines of JSON, a table, or any value as a document."""
    match draw.byte() % 8:
        case 0:
            _document(draw)
        case 1 if HAS_TABLES:
            _imported(_table(draw))
        case _:
            path = Path(_FOLDER.name, "a.jsonl")
            lines = [_line(draw) for _ in range(1 + draw.byte() % 4)]
            path.write_bytes(draw.one((b"\n", b"\r\n", b"\n\n")).join(lines))
            _imported(path)


def _document(draw: Draw) -> None:
    value = draw.value()
    document = bytes(encode_document({"a": value}))
    holds(b"\n" not in document, "a document has two lines")
    json.loads(document)


def _line(draw: Draw) -> bytes:
    kind = draw.byte()
    if kind > 240:
        return draw.piece(80)
    fields = _fields(draw)
    if kind < 120:
        line: dict[str, object] = {"type": draw.one(("verdict", "verdict", "event", "assessment", "own")), **fields}
        line["document"] = draw.json(2)
    else:
        row = {**fields, "detail": _detail(draw), "escalate": draw.byte() % 3}
        line = {draw.one(("call", "answer", "event", "own")): row}
    data = json.dumps(line, default=str, skipkeys=True).encode()
    if draw.byte() > 230:
        at = draw.byte() % (len(data) + 1)
        data = data[:at] + draw.piece(5) + data[at + draw.byte() % 3 :]
    return data


def _fields(draw: Draw) -> dict[str, object]:
    fields: dict[str, object] = {
        "id": draw.one(("0" * 31 + "1", "0" * 31 + "2", "a", "", 5)) if draw.byte() > 200 else f"{draw.byte():032x}",
        "at": draw.one(MOMENTS) if draw.byte() > 150 else 1_795_000_000.5 + draw.byte(),
        "kind": draw.one(KINDS) if draw.byte() > 200 else draw.one(KINDS[:5]),
    }
    for names, make in ((TEXTS, draw.text), (MORE_TEXTS, draw.text), (NUMBERS, draw.number)):
        for name in draw.several(lambda names=names: draw.one(names), 3):  # type: ignore[misc]
            fields[name] = make() if draw.byte() < 220 else draw.json(3)
    for name in draw.several(lambda: draw.one(("failed", "escalate")), 2):
        fields[name] = draw.flag()
    if draw.flag():
        types = ("refusal", "type", "unreachable")
        fields["signals"] = [
            {"type": draw.one(types), **draw.keyed({"level": draw.text, "certainty": draw.number})}
            for _ in range(draw.byte() % 3)
        ]
    if draw.flag():
        fields["document"] = _detail(draw)
    return fields


def _detail(draw: Draw) -> dict[str, object]:
    """The metadata of verdicts, with members of other types here and there."""
    text = draw.one(("I cannot help.", "a", "Error: not found", ""))

    def signal() -> object:
        position = draw.byte() - 20 if draw.flag() else draw.number()
        return {"type": "refusal", "evidence": text, "position": position, "weight": draw.number(), **draw.members()}

    detail = draw.keyed(
        {
            "signals": lambda: draw.several(signal, 3) if draw.byte() < 230 else draw.json(),
            "verdict": lambda: draw.keyed({"issues": draw.words, "confidence": draw.number, "state": draw.text}),
            "issues": lambda: draw.several(draw.members, 2) if draw.flag() else draw.json(),
            "arguments": draw.json,
            "result": draw.result if draw.byte() < 60 else draw.json,
            "calls": lambda: draw.several(lambda: {"tool": draw.text(), "result": draw.json()}, 2),
            "question": draw.text,
            "why": draw.text,
        }
    )
    return json.loads(json.dumps(detail, default=str, skipkeys=True))


def _table(draw: Draw) -> Path:
    """A table that `toolvet store export` wrote, with one changed cell."""
    import pyarrow as pa  # noqa: PLC0415 - the lines need none of it
    from pyarrow import parquet  # noqa: PLC0415 - as above

    path = Path(_FOLDER.name, "a.parquet")
    names = [name for name in VerdictRecord.__struct_fields__ if name not in ("seq", "signals", "document")]
    row: dict[str, object] = dict.fromkeys(names)
    row |= {"id": f"{draw.byte():032x}", "at": 1_795_000_000.5, "kind": draw.one(KINDS[:5]), "server": "", "text": "a"}
    row |= {"connection": "", "outcome": "", "failed": False, "escalate": False, "size": 1, "version": ""}
    row |= {"detail": json.dumps(_detail(draw), indent=draw.one((None, None, 1))), "signals": []}
    for name in draw.several(lambda: draw.one(tuple(row)), 3):
        row[name] = draw.one((None, 5, 1.5, "", "a\nb", float("nan"), float("inf"), True, "{", [], "\x00"))
    for name in draw.several(lambda: draw.one(tuple(row)), 1):
        del row[name]
    try:
        parquet.write_table(pa.Table.from_pylist([row]), path)
    except (pa.ArrowException, ValueError, TypeError):
        path.write_bytes(draw.raw())
    return path


def _imported(path: Path) -> None:
    try:
        batches = list(read_file(path))
    except (UsageError, StoreError) as error:
        holds(path.name in str(error), "the message does not name the file")
        return
    for record in [record for batch in batches for record in batch]:
        kept = list(decode_lines(encode_lines([record])))
        holds(len(kept) == 1 and kept[0] is not None, "a record is lost on its way through the spool")
        _inserted([each for each in kept if each is not None])


def _inserted(records: Sequence[StoreRecord]) -> None:
    with _ENGINE.connect() as connection:
        transaction = connection.begin()
        try:
            insert_records(connection, records)
            for record in records:
                if isinstance(record, VerdictRecord):
                    found = read_verdict(connection, record.id)
                    holds(found is not None and found.kind == record.kind, "what was inserted is not found")
                    assert found is not None  # noqa: S101 - for the type checkers
                    _shown(found)
                elif isinstance(record, EventRecord):
                    json_response(show_event(read_events(connection, 1)[0]))
                elif isinstance(record, AssessmentRecord):
                    assessment = read_assessment(connection, record.id)
                    holds(assessment is not None, "what was inserted is not found")
                    json_response(show_assessment(assessment, with_report=True))  # type: ignore[arg-type]
        except REFUSALS as error:
            # The database writer puts such a record aside, and tries any other again for ever.
            is_final = getattr(error, "orig", None) is None or isinstance(error, DataError | IntegrityError)
            holds(is_final, "a record holds up those behind it")
        finally:
            transaction.rollback()


def _shown(verdict: VerdictRecord) -> None:
    try:
        json_response(show_verdict(verdict))
        entry_view(verdict)
        signals = review_signals(verdict)
        text = verdict.text or ""
        holds("".join(part.text for part in mark_evidence(text, signals)) == text, "marking changes the text")
        msgspec.to_builtins(signals)
    except REFUSALS as error:
        raise TypeError(f"what was inserted cannot be shown: {error!r}") from error
