"""`success_response` and `error_response`: the result of a tool as an envelope that keeps the contract."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from toolvet.core.causes import ErrorType, causes
from toolvet.core.envelope.builders.arguments import (
    FieldError,
    WarningDetail,
    build_fidelity,
    check_shape,
    copy_field_errors,
    copy_meta_object,
    copy_object,
    copy_rate_limit,
    copy_text,
    copy_texts,
    copy_warnings,
    start_meta,
)
from toolvet.core.envelope.contract.table import FAILURE, TYPE_OF_CODE, contradiction
from toolvet.core.envelope.response import Envelope
from toolvet.errors import EnvelopeError

RateLimit = Mapping[str, str | float | datetime | None]
# Also of the codes that only one cause has, such as TIMEOUT, which are not documented ones.
_TYPE_OF_CAUSE: Final[Mapping[str, str]] = {cause.error_code: cause.error_type.value for cause in causes().values()}
_CODE_OF_TYPE: Final[Mapping[str, str]] = {kind.value: kind.default_code.value for kind in ErrorType}


def success_response(
    data: Mapping[str, object] | None = None,
    *,
    fields: Mapping[str, object] | None = None,
    warnings: Iterable[str] | None = None,
    warning_details: Iterable[WarningDetail | Mapping[str, object]] | None = None,
    pagination: Mapping[str, object] | None = None,
    rate_limit: RateLimit | None = None,
    telemetry: Mapping[str, object] | None = None,
    request_id: str | None = None,
    content_fidelity: str | None = None,
    content_fidelity_schema_version: str | None = None,
    dropped_content_ids: Iterable[str] | None = None,
    content_archive_hashes: Mapping[str, str] | None = None,
    meta: Mapping[str, object] | None = None,
) -> Envelope:
    """The envelope of a success, with a payload, without one, or with a part of it.

    Everything but `data` and `fields` goes into `meta`. Empty metadata is left out. The envelope holds copies.

    Args:
        data: the payload.
        fields: further members of the payload; they win over members of `data`.
        warnings: sentences that the reader should know although the call succeeded.
        warning_details: the same with code, severity and context: WarningDetail, or objects with a `message`. A
            documented code gets its usual severity.
        pagination: `cursor`, `has_more`, `total_count`, `page_size`.
        rate_limit: `limit`, `remaining`, `reset_at`, `period`, `retry_after`; `reset_at` may be epoch seconds or a
            datetime with a time zone.
        telemetry: measurements, such as `duration_ms`.
        request_id: the id that logs know the request by; defaults to that of the surrounding `request_id(...)`.
        content_fidelity: how much of the content is here: "full", "partial", "summary" or "reference_only".
        content_fidelity_schema_version: "1.0" if a level is given without a version.
        dropped_content_ids: the ids of what was left out; without a level they mean "partial".
        content_archive_hashes: the hash of what was left out, by the name of the archive that holds it.
        meta: further members of `meta`; the arguments above win over them.

    Returns:
        The envelope: `success` true, `error` None.

    Raises:
        EnvelopeError: (a ValueError) for a value that JSON or the contract cannot hold; it names the argument.
        EnvelopeTypeError: (also a TypeError) for an argument of the wrong type.

    Example:
        >>> response = success_response({"ships": ["Aurora"]}, pagination={"cursor": "2", "has_more": True})
        >>> response.meta
        {'version': 'response-v2', 'pagination': {'cursor': '2', 'has_more': True}}
    """
    payload = {} if data is None else copy_object(data, "data")
    if fields is not None:
        payload |= copy_object(fields, "fields")
    about = start_meta(meta, request_id)
    if warnings is not None and (sentences := copy_texts(warnings, "warnings")):
        about["warnings"] = sentences
    if warning_details is not None and (listed := copy_warnings(warning_details)):
        about["warning_details"] = listed
    if pagination:
        about["pagination"] = copy_meta_object("pagination", pagination)
    if rate_limit:
        about["rate_limit"] = copy_rate_limit(rate_limit)
    if telemetry:
        about["telemetry"] = copy_meta_object("telemetry", telemetry)
    dropped = None if dropped_content_ids is None else copy_texts(dropped_content_ids, "dropped_content_ids")
    if content_fidelity is not None or content_fidelity_schema_version is not None or dropped or content_archive_hashes:
        about |= build_fidelity(content_fidelity, content_fidelity_schema_version, dropped, content_archive_hashes)
    return Envelope(success=True, data=payload, error=None, meta=about)


def error_response(
    message: str,
    *,
    error_code: str | None = None,
    error_type: str | None = None,
    remediation: str | None = None,
    details: Mapping[str, object] | None = None,
    errors: Iterable[FieldError | Mapping[str, object]] | None = None,
    retry_after_seconds: float | None = None,
    help_url: str | None = None,
    domain: str | None = None,
    data: Mapping[str, object] | None = None,
    rate_limit: RateLimit | None = None,
    telemetry: Mapping[str, object] | None = None,
    request_id: str | None = None,
    meta: Mapping[str, object] | None = None,
) -> Envelope:
    """The envelope of a failure.

    Members that are empty are left out. Arguments win over the same members in `data`, `details` and `meta`.

    Args:
        message: what went wrong, in a sentence for a person.
        error_code: for programs, in SCREAMING_SNAKE_CASE: an ErrorCode or a code of the server's own.
        error_type: the kind of failure: an ErrorType or a type of the server's own. Code and type are derived from each
            other by the table of causes (docs/causes.md); with neither they are "INTERNAL_ERROR" and "internal". A code
            that is not in the table is "internal" unless a type is given; an own type in capitals is the code.
        remediation: what the caller can do about it.
        details: further facts, such as the fields that are wrong.
        errors: the fields that are wrong, into `details.errors`: FieldError, or objects with a `message`.
        retry_after_seconds: after how many seconds to try again.
        help_url: a page about this error, into `details.help_url`.
        domain: the service or product that defines the code, into `details.domain`.
        data: further members of the error's context, besides code, type, remediation and details.
        rate_limit: as for `success_response`.
        telemetry: as for `success_response`.
        request_id: as for `success_response`.
        meta: further members of `meta`.

    Returns:
        The envelope: `success` false, `error` the message, `data` the context.

    Raises:
        EnvelopeError: (a ValueError) for a blank message, for a code and a type that contradict each other, and for a
            value that JSON or the contract cannot hold; it names the argument.
        EnvelopeTypeError: (also a TypeError) for an argument of the wrong type.

    Example:
        >>> response = error_response("No ship is called Aurora.", error_code="NOT_FOUND")
        >>> response.error, response.data
        ('No ship is called Aurora.', {'error_code': 'NOT_FOUND', 'error_type': 'not_found'})
    """
    message = copy_text(message, "message")
    context = {} if not data else copy_object(data, "data")
    if context:
        # Before the arguments override them: a wrong member of `data` is an error even if an argument replaces it.
        check_shape(FAILURE, context, "data")
    code, kind = _complete_codes(error_code or context.get("error_code"), error_type or context.get("error_type"))
    context["error_code"] = code
    context["error_type"] = kind
    if remediation:
        context["remediation"] = copy_text(remediation, "remediation")
    known = copy_object(details, "details") if details else context.get("details", {})
    if errors is not None and (listed := copy_field_errors(errors)):
        known["errors"] = listed
    for name, text in (("help_url", help_url), ("domain", domain)):
        if text is not None:
            known[name] = copy_text(text, name)
    if known:
        context["details"] = known
    if retry_after_seconds is not None:
        check_shape(FAILURE.fields["retry_after_seconds"].shape, retry_after_seconds, "retry_after_seconds")
        context["retry_after_seconds"] = retry_after_seconds
    about = start_meta(meta, request_id)
    if rate_limit:
        about["rate_limit"] = copy_rate_limit(rate_limit)
    if telemetry:
        about["telemetry"] = copy_meta_object("telemetry", telemetry)
    return Envelope(success=False, data=context, error=message, meta=about)


def _complete_codes(code: object, kind: object) -> tuple[str, str]:
    if type(code) is str and type(kind) is str and TYPE_OF_CODE.get(code) == kind:
        return code, kind
    if code is None:
        if kind is None:
            return "INTERNAL_ERROR", "internal"
        own_type = copy_text(kind, "error_type")
        return (_CODE_OF_TYPE.get(own_type) or own_type.upper()), own_type
    own_code = copy_text(code, "error_code")
    documented = TYPE_OF_CODE.get(own_code)
    if kind is None:
        return own_code, documented or _TYPE_OF_CAUSE.get(own_code, "internal")
    own_type = copy_text(kind, "error_type")
    if documented is not None and own_type != documented:
        violation = contradiction(own_code, own_type, documented)
        raise EnvelopeError("error_type", f"contradicts error_code: {violation.problem}. {violation.remedy}")
    return own_code, own_type
