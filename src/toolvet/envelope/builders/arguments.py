"""What callers say about a response → `meta`, checked by the contract itself."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeGuard, cast

import msgspec

from toolvet.envelope.contract.table import META
from toolvet.envelope.json_copy import plain
from toolvet.envelope.request import current_request_id, named_id
from toolvet.envelope.contract.shapes import Shape
from toolvet.envelope.contract.vocabulary import FIDELITY_VERSION, VERSION, ContentFidelity, WarningCode
from toolvet.errors import EnvelopeError, EnvelopeTypeError


class WarningDetail(msgspec.Struct, frozen=True):
    """A warning with its code. `severity` is the usual one of a documented code where it is not given."""

    message: str
    code: str | None = None
    severity: str | None = None
    context: Mapping[str, object] | None = None


def base(meta: Mapping[str, object] | None, request_id: str | None) -> dict[str, Any]:
    """`meta` to begin with: the version, which nothing overrides, the request's id, and what the caller adds."""
    built: dict[str, Any] = {"version": VERSION}
    if meta:
        built |= mapping(meta, "meta")
        built["version"] = VERSION
        given(built, "meta")
    chosen = request_id if request_id is not None else built.get("request_id") or current_request_id()
    if chosen is not None:
        built["request_id"] = named_id(chosen, "request_id")
    return built


def given(built: Mapping[str, object], argument: str) -> None:
    """Raises EnvelopeError for a reserved member that is not as the contract has it."""
    obey(META, built, argument)


def obey(shape: Shape, value: object, argument: str) -> None:
    """Raises EnvelopeError, naming the argument, where the contract does not allow `value`."""
    if not shape.holds(value):
        breach = next(iter(shape.breaches(value, f"/{argument}")))
        place = breach.pointer[1:]
        raise EnvelopeError(place, breach.problem.removeprefix(f"{place.rpartition('/')[2]} "))


def mapping(value: object, argument: str) -> dict[str, Any]:
    """A copy of an object. Raises EnvelopeTypeError for anything else, EnvelopeError for what JSON cannot hold."""
    if not _is_mapping(value):
        raise EnvelopeTypeError(argument, f"must be an object (a dict), not {type(value).__name__}")
    copy: dict[str, Any] = plain(value, argument)
    return copy


def text(value: object, argument: str) -> str:
    """A copy of a string that says something."""
    if not isinstance(value, str):
        raise EnvelopeTypeError(argument, f"must be a string, not {type(value).__name__}")
    if not value or value.isspace():
        raise EnvelopeError(argument, "must not be empty: say it in a sentence")
    if value.isascii():
        return str.__str__(value)
    copy: str = plain(value, argument)
    return copy


def texts(value: object, argument: str) -> list[str]:
    """Copies of several strings."""
    items = list(several(value, argument))
    if set(map(type, items)) == {str}:
        told = cast("list[str]", items)
        # Thousands of ids are usually such texts.
        if all(map(str.strip, told)) and "".join(told).isascii():
            return told
    return [text(item, f"{argument}/{index}") for index, item in enumerate(items)]


def limits(value: object) -> dict[str, Any]:
    """`rate_limit` as the contract has it: epoch seconds and datetimes are accepted for `reset_at`."""
    if not _is_mapping(value):
        raise EnvelopeTypeError("rate_limit", f"must be an object (a dict), not {type(value).__name__}")
    reset = value.get("reset_at")
    if reset is not None and not isinstance(reset, str):
        value = {**value, "reset_at": _moment(reset)}
    return described("rate_limit", value)


def described(name: str, value: object) -> dict[str, Any]:
    """A member of `meta` that is an object."""
    copy = mapping(value, name)
    obey(META.fields[name].shape, copy, name)
    return copy


def details(value: object) -> list[dict[str, Any]]:
    """`warning_details`: WarningDetail or objects, with the usual severity of a documented code filled in."""
    written: list[dict[str, Any]] = []
    for index, item in enumerate(several(value, "warning_details")):
        place = f"warning_details/{index}"
        parts: object = item
        if isinstance(item, WarningDetail):
            parts = {name: part for name, part in msgspec.structs.asdict(item).items() if part is not None}
        detail = mapping(parts, place)
        code = detail.get("code")
        if "severity" not in detail and isinstance(code, str) and code in _SEVERITIES:
            detail["severity"] = _SEVERITIES[code]
        written.append(detail)
    obey(META.fields["warning_details"].shape, written, "warning_details")
    return written


_SEVERITIES = {code.value: code.severity.value for code in WarningCode}


def fidelity(
    level: str | None, version: str | None, dropped: object, hashes: Mapping[str, str] | None
) -> dict[str, Any]:
    """The members that say how complete a response is; what was dropped without a level makes it partial."""
    built: dict[str, Any] = {}
    if dropped:
        built["dropped_content_ids"] = texts(dropped, "dropped_content_ids")
        if level is None:
            level = ContentFidelity.PARTIAL
        elif level == ContentFidelity.FULL:
            raise EnvelopeError("content_fidelity", 'must not be "full" when dropped_content_ids is given')
    if level is not None:
        obey(META.fields["content_fidelity"].shape, level, "content_fidelity")
        built["content_fidelity"] = str(level)
        version = version or FIDELITY_VERSION
    if version is not None:
        built["content_fidelity_schema_version"] = text(version, "content_fidelity_schema_version")
    if hashes:
        built["content_archive_hashes"] = described("content_archive_hashes", hashes)
    return built


def several(value: object, argument: str) -> Iterable[object]:
    """What can be gone through; a string or an object is one thing. Raises EnvelopeTypeError for anything else."""
    if isinstance(value, str | bytes) or _is_mapping(value) or not _is_iterable(value):
        raise EnvelopeTypeError(argument, f"must be a list, not {type(value).__name__}")
    return value


def _is_mapping(value: object) -> TypeGuard[Mapping[str, object]]:
    # The first question spares most calls the second, which is slow.
    return type(value) is dict or isinstance(value, Mapping)


def _is_iterable(value: object) -> TypeGuard[Iterable[object]]:
    return isinstance(value, Iterable)


def _moment(value: object) -> str:
    """A moment as RFC 3339 writes it, in UTC."""
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise EnvelopeError("rate_limit/reset_at", "has no time zone: say which one, such as datetime.UTC")
        moment = value.astimezone(UTC)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        try:
            moment = datetime.fromtimestamp(value, UTC)
        except (ValueError, OverflowError, OSError):
            raise EnvelopeError("rate_limit/reset_at", f"is no moment in epoch seconds: {value!r:.40}") from None
    else:
        raise EnvelopeTypeError("rate_limit/reset_at", f"must be a string or epoch seconds, not {type(value).__name__}")
    return moment.isoformat().replace("+00:00", "Z")
