"""Bytes of a JSON report in, the report out."""

import msgspec

from toolvet.errors import ConfigError
from toolvet.report.document import COLLECTION_ID, SCHEMA_ID, Report, Reports


class _FormatField(msgspec.Struct):
    """The one field that says what the rest is."""

    schema: str | None = None


def load(content: bytes, file: str) -> tuple[Report, ...]:
    """The reports in a JSON report, one or several; fields that this version does not know are left out.

    `ConfigError` names `file`, and the place in it, when it is no such report.
    """
    try:
        head = msgspec.json.decode(content, type=_FormatField)
        if head.schema == SCHEMA_ID:
            return (msgspec.json.decode(content, type=Report),)
        if head.schema == COLLECTION_ID:
            return tuple(msgspec.json.decode(content, type=Reports).reports)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at ")
        raise ConfigError(f"not a toolvet report: {problem}", file=file, key=place.strip("`") or None) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"not JSON: {error}", file=file, line=_line(content, str(error))) from error
    if head.schema is None:
        raise ConfigError("not a toolvet report: 'schema' is missing", file=file)
    raise ConfigError(
        f"this version of toolvet reads {SCHEMA_ID} and {COLLECTION_ID}, not '{head.schema}'", file=file, key="schema"
    )


def _line(content: bytes, problem: str) -> int | None:
    """The line of the offset that msgspec's message ends with (`… (byte 17)`), or the last when the file is cut off."""
    digits = problem.rpartition("(byte ")[2].rstrip(")")
    if digits.isdigit():
        return content.count(b"\n", 0, int(digits)) + 1
    return content.count(b"\n") + 1 if "truncated" in problem else None
