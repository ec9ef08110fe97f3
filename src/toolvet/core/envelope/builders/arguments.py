"""The arguments of the builders → members of an envelope, copied and checked against the contract.

Every function raises EnvelopeError, which names the argument, for a value that JSON or the contract cannot hold, and
EnvelopeTypeError for a value of the wrong type.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, TypeGuard, cast

import msgspec

from toolvet.core.envelope.contract.shapes import Shape
from toolvet.core.envelope.contract.table import META
from toolvet.core.envelope.contract.vocabulary import FIDELITY_VERSION, VERSION, ContentFidelity, WarningCode
from toolvet.core.envelope.json_copy import copy_as_json, is_blank
from toolvet.core.envelope.request import checked_id, current_request_id
from toolvet.core.json_form import JsonForm
from toolvet.errors import EnvelopeError, EnvelopeTypeError

_SEVERITIES: Final = {code.value: code.severity.value for code in WarningCode}


class WarningDetail(JsonForm, msgspec.Struct, frozen=True):
    """A warning with its code, for `success_response(warning_details=[…])`.

    `code` is one of WarningCode or a code of the server's own. `severity` defaults to the usual severity of a
    documented code. `context` holds further facts.

    Example:
        >>> from toolvet import success_response
        >>> response = success_response(warning_details=[WarningDetail("From the cache of 9:00.", "STALE_CACHE")])
        >>> response.meta["warning_details"]
        [{'message': 'From the cache of 9:00.', 'code': 'STALE_CACHE', 'severity': 'warning'}]
    """

    message: str
    code: str | None = None
    severity: str | None = None
    context: Mapping[str, object] | None = None


class FieldError(JsonForm, msgspec.Struct, frozen=True):
    """One problem of a field of the input, for `error_response(errors=[…])` and `validation_error`.

    `pointer` is a JSON Pointer into the arguments, `field` the same place in the caller's own notation, `reason` a code
    for programs. Only the message is required.

    Example:
        >>> FieldError("must be a date", pointer="/departure").to_dict()
        {'message': 'must be a date', 'pointer': '/departure'}
    """

    message: str
    field: str | None = None
    pointer: str | None = None
    reason: str | None = None


def start_meta(meta: Mapping[str, object] | None, request_id: str | None) -> dict[str, Any]:
    """The first members of `meta`: the version, which nothing overrides, the request's id, and what the caller adds."""
    built: dict[str, Any] = {"version": VERSION}
    if meta:
        built |= copy_object(meta, "meta")
        built["version"] = VERSION
        check_shape(META, built, "meta")
    chosen = request_id if request_id is not None else built.get("request_id") or current_request_id()
    if chosen is not None:
        built["request_id"] = checked_id(chosen)
    return built


def check_shape(shape: Shape, value: object, argument: str) -> None:
    """Raise EnvelopeError, naming `argument`, where `shape` does not allow `value`."""
    if not shape.holds(value):
        violation = next(iter(shape.violations(value, f"/{argument}")))
        place = violation.pointer[1:]
        raise EnvelopeError(place, violation.problem.removeprefix(f"{place.rpartition('/')[2]} "))


def copy_object(value: object, argument: str) -> dict[str, Any]:
    """A copy of an object."""
    if not _is_mapping(value):
        raise EnvelopeTypeError(argument, f"must be an object (a dict), not {type(value).__name__}")
    copy: dict[str, Any] = copy_as_json(value, argument)
    return copy


def copy_text(value: object, argument: str) -> str:
    """A copy of a string that is not blank."""
    if not isinstance(value, str):
        raise EnvelopeTypeError(argument, f"must be a string, not {type(value).__name__}")
    if is_blank(value):
        raise EnvelopeError(argument, "must not be empty: say it in a sentence")
    if value.isascii():
        return str.__str__(value)
    copy: str = copy_as_json(value, argument)
    return copy


def copy_texts(value: object, argument: str) -> list[str]:
    """Copies of several strings, none of them blank."""
    items = list(_checked_iterable(value, argument))
    if set(map(type, items)) == {str}:
        texts = cast("list[str]", items)
        # The fast path for thousands of ids.
        if all(map(str.strip, texts)) and "".join(texts).isascii():
            return texts
    return [copy_text(item, f"{argument}/{index}") for index, item in enumerate(items)]


def copy_rate_limit(value: object) -> dict[str, Any]:
    """A copy of `rate_limit` in which epoch seconds and datetimes for `reset_at` are written as RFC 3339."""
    if not _is_mapping(value):
        raise EnvelopeTypeError("rate_limit", f"must be an object (a dict), not {type(value).__name__}")
    reset = value.get("reset_at")
    if reset is None or isinstance(reset, str):
        return copy_meta_object("rate_limit", value)
    if isinstance(reset, datetime):
        if reset.tzinfo is None:
            raise EnvelopeError("rate_limit/reset_at", "has no time zone: say which one, such as datetime.UTC")
        moment = reset.astimezone(UTC)
    elif isinstance(reset, int | float) and not isinstance(reset, bool):
        try:
            moment = datetime.fromtimestamp(reset, UTC)
        except (ValueError, OverflowError, OSError):
            raise EnvelopeError("rate_limit/reset_at", f"is not a time in epoch seconds: {reset!r:.40}") from None
    else:
        raise EnvelopeTypeError("rate_limit/reset_at", f"must be a string or epoch seconds, not {type(reset).__name__}")
    return copy_meta_object("rate_limit", {**value, "reset_at": moment.isoformat().replace("+00:00", "Z")})


def copy_meta_object(name: str, value: object) -> dict[str, Any]:
    """A copy of the member `name` of `meta`, which the contract says is an object."""
    copy = copy_object(value, name)
    check_shape(META.fields[name].shape, copy, name)
    return copy


def copy_warnings(value: object) -> list[dict[str, Any]]:
    """`warning_details` from WarningDetail or objects; a documented code without a severity gets its usual one."""
    details: list[dict[str, Any]] = []
    for index, item in enumerate(_checked_iterable(value, "warning_details")):
        place = f"warning_details/{index}"
        detail = copy_object(item.to_dict() if isinstance(item, WarningDetail) else item, place)
        code = detail.get("code")
        if "severity" not in detail and isinstance(code, str) and code in _SEVERITIES:
            detail["severity"] = _SEVERITIES[code]
        details.append(detail)
    check_shape(META.fields["warning_details"].shape, details, "warning_details")
    return details


def copy_field_errors(value: object) -> list[dict[str, Any]]:
    """`details.errors` from FieldError or objects with a `message`."""
    errors: list[dict[str, Any]] = []
    for index, error in enumerate(_checked_iterable(value, "errors")):
        place = f"errors/{index}"
        parts = copy_object(error.to_dict() if isinstance(error, FieldError) else error, place)
        parts["message"] = copy_text(parts.get("message"), f"{place}/message")
        for name in ("field", "pointer", "reason"):
            if name in parts and not isinstance(parts[name], str):
                raise EnvelopeTypeError(f"{place}/{name}", f"must be a string, not {type(parts[name]).__name__}")
        errors.append(parts)
    return errors


def build_fidelity(
    level: str | None, version: str | None, dropped: object, hashes: Mapping[str, str] | None
) -> dict[str, Any]:
    """The members of `meta` that say how complete a response is; dropped ids without a level make it partial."""
    built: dict[str, Any] = {}
    if dropped:
        built["dropped_content_ids"] = copy_texts(dropped, "dropped_content_ids")
        if level is None:
            level = ContentFidelity.PARTIAL
        elif level == ContentFidelity.FULL:
            raise EnvelopeError("content_fidelity", 'must not be "full" when dropped_content_ids is given')
    if level is not None:
        check_shape(META.fields["content_fidelity"].shape, level, "content_fidelity")
        built["content_fidelity"] = str(level)
        version = version or FIDELITY_VERSION
    if version is not None:
        built["content_fidelity_schema_version"] = copy_text(version, "content_fidelity_schema_version")
    if hashes:
        built["content_archive_hashes"] = copy_meta_object("content_archive_hashes", hashes)
    return built


def _checked_iterable(value: object, argument: str) -> Iterable[object]:
    if isinstance(value, str | bytes) or _is_mapping(value) or not isinstance(value, Iterable):
        raise EnvelopeTypeError(argument, f"must be a list, not {type(value).__name__}")
    return cast("Iterable[object]", value)


def _is_mapping(value: object) -> TypeGuard[Mapping[str, object]]:
    # The first question spares most calls the second, which is slow.
    return type(value) is dict or isinstance(value, Mapping)
