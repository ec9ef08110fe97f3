"""`success_response` and `error_response`: what a tool has to say, as an envelope that keeps the contract."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from toolvet.envelope.contract.table import FAILURE, TYPE_OF_CODE, contradiction
from toolvet.envelope.build.arguments import FieldError, field_errors
from toolvet.envelope.builders.arguments import (
    WarningDetail,
    base,
    described,
    details as warning_list,
    fidelity,
    limits,
    mapping,
    obey,
    text,
    texts,
)
from toolvet.envelope.response import Envelope
from toolvet.envelope.contract.vocabulary import ErrorType
from toolvet.errors import EnvelopeError

RateLimit = Mapping[str, str | float | datetime | None]


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
    """The operation succeeded, perhaps with nothing to show for it, perhaps only in part.

    `data` is the payload, `fields` goes into it and wins; everything else goes into `meta`, where the arguments win
    over keys in `meta`. Empty metadata is left out. A warning with a documented code gets its usual severity;
    `dropped_content_ids` without a level means "partial"; `rate_limit.reset_at` may be epoch seconds or a datetime.
    `request_id` defaults to that of the surrounding `request_id(...)`. The response holds copies of what it is given.

    Raises EnvelopeError (a ValueError), naming the argument, for what JSON or the contract cannot hold, and
    EnvelopeTypeError (also a TypeError) for an argument of the wrong type.
    """
    payload = {} if data is None else mapping(data, "data")
    if fields is not None:
        payload |= mapping(fields, "fields")
    about = base(meta, request_id)
    if warnings is not None and (told := texts(warnings, "warnings")):
        about["warnings"] = told
    if warning_details is not None and (listed := warning_list(warning_details)):
        about["warning_details"] = listed
    if pagination:
        about["pagination"] = described("pagination", pagination)
    if rate_limit:
        about["rate_limit"] = limits(rate_limit)
    if telemetry:
        about["telemetry"] = described("telemetry", telemetry)
    dropped = None if dropped_content_ids is None else texts(dropped_content_ids, "dropped_content_ids")
    if content_fidelity is not None or content_fidelity_schema_version is not None or dropped or content_archive_hashes:
        about |= fidelity(content_fidelity, content_fidelity_schema_version, dropped, content_archive_hashes)
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
    """The operation failed. `message` says so to a person.

    Code and type are derived from each other by the documented table, "INTERNAL_ERROR" and "internal" when neither is
    given; a code of your own is "internal" unless you say otherwise, a type of your own lends its name to the code.
    `errors` are the fields that are wrong, `help_url` a page about this error, `domain` who defines the code: all three
    stand under `details`. Arguments win over keys in `data`, `details` and `meta`; what is empty is left out.

    Raises EnvelopeError (a ValueError), naming the argument, for an empty message, for a code and a type that
    contradict each other, and for what JSON or the contract cannot hold; EnvelopeTypeError (also a TypeError) for an
    argument of the wrong type.
    """
    message = text(message, "message")
    context = {} if not data else mapping(data, "data")
    if context:
        # Before the arguments override it: what is wrong in there is wrong, used or not.
        obey(FAILURE, context, "data")
    code, kind = _classified(error_code or context.get("error_code"), error_type or context.get("error_type"))
    context["error_code"] = code
    context["error_type"] = kind
    if remediation:
        context["remediation"] = text(remediation, "remediation")
    known = mapping(details, "details") if details else context.get("details", {})
    if errors is not None or help_url is not None or domain is not None:
        known = known | _enlarged(errors, help_url, domain)
    if known:
        context["details"] = known
    if retry_after_seconds is not None:
        obey(FAILURE.fields["retry_after_seconds"].shape, retry_after_seconds, "retry_after_seconds")
        context["retry_after_seconds"] = retry_after_seconds
    about = base(meta, request_id)
    if rate_limit:
        about["rate_limit"] = limits(rate_limit)
    if telemetry:
        about["telemetry"] = described("telemetry", telemetry)
    return Envelope(success=False, data=context, error=message, meta=about)


def _classified(code: object, kind: object) -> tuple[str, str]:
    """A code and its type, each derived from the other where only one is given."""
    if type(code) is str and type(kind) is str and TYPE_OF_CODE.get(code) == kind:
        return code, kind
    if code is None:
        if kind is None:
            return "INTERNAL_ERROR", "internal"
        named = text(kind, "error_type")
        return (_CODE_OF_TYPE.get(named) or named.upper()), named
    named = text(code, "error_code")
    belongs = TYPE_OF_CODE.get(named)
    if kind is None:
        return named, belongs or "internal"
    wanted = text(kind, "error_type")
    if belongs is not None and wanted != belongs:
        breach = contradiction(named, wanted, belongs)
        raise EnvelopeError("error_type", f"contradicts error_code: {breach.problem}. {breach.remedy}")
    return named, wanted


_CODE_OF_TYPE: Mapping[str, str] = {kind.value: kind.default_code.value for kind in ErrorType}


def _enlarged(
    errors: Iterable[FieldError | Mapping[str, object]] | None, help_url: str | None, domain: str | None
) -> dict[str, Any]:
    known: dict[str, Any] = {}
    if errors is not None and (listed := field_errors(errors)):
        known["errors"] = listed
    if help_url is not None:
        known["help_url"] = text(help_url, "help_url")
    if domain is not None:
        known["domain"] = text(domain, "domain")
    return known
