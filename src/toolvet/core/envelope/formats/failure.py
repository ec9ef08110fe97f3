"""The envelope of a failure as its parts, which the error formats have in common."""

import re
from collections.abc import Mapping
from typing import Any, Final, TypeGuard

import msgspec

from toolvet.core.causes import Cause, ErrorCode, ErrorType, State, cause_of, state_of_failure, state_of_http
from toolvet.core.envelope.builders.arguments import copy_object
from toolvet.core.envelope.builders.responses import error_response
from toolvet.core.envelope.contract.shapes import is_sequence
from toolvet.core.envelope.contract.table import TYPE_OF_CODE
from toolvet.core.envelope.response import Envelope
from toolvet.core.json_value import is_object, number
from toolvet.errors import EnvelopeError

Document = dict[str, Any]
_CODES: Final = {code.value: code for code in ErrorCode}
_KINDS: Final = {kind.value: kind for kind in ErrorType}
_OWN_PLACES: Final = frozenset({"error_code", "error_type", "remediation", "details", "retry_after_seconds"})


class Failure(msgspec.Struct, kw_only=True):
    """The parts of a failure's envelope.

    `errors` are the fields that are wrong, each with a `message` and perhaps `field`, `pointer` (a JSON Pointer),
    `reason` and more. `details`, `context` and `about` hold the other members of `data.details`, `data` and `meta`.
    """

    message: str
    code: str
    kind: str
    remediation: str | None = None
    errors: list[Document] = []
    help_url: str | None = None
    domain: str | None = None
    retry_after: int | float | None = None
    request_id: str | None = None
    details: Document = {}
    context: Document = {}
    about: Document = {}

    @property
    def http_status(self) -> int:
        """The HTTP status of the cause; 500 for a server's own type."""
        return self._cause.http_status

    @property
    def phrase(self) -> str:
        """The reason phrase of that status."""
        return self._cause.http_reason

    @property
    def headline(self) -> str:
        """The failure in words that never change: those of the code, or else of its type."""
        return _CODES[self.code].headline if self.code in _CODES else self.phrase

    @property
    def grpc_status(self) -> str:
        """The name of its code in google.rpc.Status; UNKNOWN for a server's own type."""
        if self.kind not in _KINDS:
            return "UNKNOWN"
        known = _CODES.get(self.code)
        return self._cause.google_rpc if known is None or known.error_type != self.kind else known.grpc_status

    @property
    def _cause(self) -> Cause:
        state = state_of_failure(self.code, self.kind) if self.kind in _KINDS else None
        return cause_of(state or State.INTERNAL)

    def extensions(self) -> Document:
        """The members that few formats have a place of their own for, without empty ones."""
        parts: Document = {
            "error_type": self.kind,
            "remediation": self.remediation,
            "domain": self.domain,
            "retry_after_seconds": self.retry_after,
            "request_id": self.request_id,
            "details": self.details,
            "context": self.context,
            "meta": self.about,
        }
        return {name: part for name, part in parts.items() if part is not None and part != {}}

    def take_extensions(self, extensions: object) -> None:
        """The reverse of `extensions`: take over members of the right type, and ignore all others."""
        if not is_object(extensions):
            return
        for name, attribute in (
            ("error_type", "kind"),
            ("remediation", "remediation"),
            ("domain", "domain"),
            ("request_id", "request_id"),
        ):
            value = text_or_none(extensions.get(name))
            if value is not None:
                setattr(self, attribute, value)
        self.retry_after = seconds_or(extensions.get("retry_after_seconds"), self.retry_after)
        for name, attribute in (("details", "details"), ("context", "context"), ("meta", "about")):
            part = extensions.get(name)
            if is_object(part) and part:
                setattr(self, attribute, {**getattr(self, attribute), **part})

    def to_envelope(self) -> Envelope:
        """The envelope. A code that contradicts the type gives way to the type, which programs route by."""
        belongs = TYPE_OF_CODE.get(self.code)
        agree = belongs is None or belongs == self.kind
        return error_response(
            self.message,
            error_code=self.code if agree else None,
            error_type=self.kind,
            remediation=self.remediation,
            details=self.details,
            errors=self.errors or None,
            retry_after_seconds=self.retry_after,
            help_url=self.help_url,
            domain=self.domain,
            data={name: value for name, value in self.context.items() if name not in _OWN_PLACES},
            request_id=self.request_id,
            meta=self.about,
        )


def parse_failure(response: Envelope | Mapping[str, object]) -> Failure:
    """The parts of a failure's envelope. Raises EnvelopeError for a success and for any other value."""
    envelope = response.to_dict("v2") if isinstance(response, Envelope) else copy_object(response, "response")
    message, context, about = text_or_none(envelope.get("error")), envelope.get("data"), envelope.get("meta")
    if envelope.get("success") is not False or message is None or not is_object(context) or not is_object(about):
        raise EnvelopeError("response", "must be the envelope of a failure: success false, a message, data and meta")
    context, about = dict(context), {name: value for name, value in about.items() if name != "version"}
    failure = Failure(
        message=message,
        code=text_or_none(context.pop("error_code", None)) or ErrorCode.INTERNAL_ERROR.value,
        kind=text_or_none(context.pop("error_type", None)) or ErrorType.INTERNAL.value,
        remediation=text_or_none(context.pop("remediation", None)),
        retry_after=seconds_or(context.pop("retry_after_seconds", None)),
        request_id=text_or_none(about.pop("request_id", None)),
        context=context,
        about=about,
    )
    details = context.pop("details", None)
    if is_object(details):
        failure.details = dict(details)
        failure.help_url = text_or_none(details.get("help_url"))
        failure.domain = text_or_none(details.get("domain"))
        listed = details.get("errors")
        if are_errors(listed):
            failure.errors = listed
            del failure.details["errors"]
        for name in ("help_url", "domain"):
            if text_or_none(details.get(name)) is not None:
                del failure.details[name]
    return failure


def are_errors(value: object) -> TypeGuard[list[Document]]:
    """Whether `value` is a list of field errors, each with a message."""
    return (
        is_sequence(value)
        and bool(value)
        and all(is_object(item) and text_or_none(item.get("message")) for item in value)
    )


def text_or_none(value: object) -> str | None:
    """`value` if it is a string that is not blank, else None."""
    return value if isinstance(value, str) and value.strip() else None


def seconds_or(value: object, otherwise: float | None = None) -> float | None:
    """`value` if it is a finite number of at least 0, else `otherwise`."""
    found = number(value)
    return found if found is not None and found >= 0 else otherwise


def kind_of_status(status: object) -> ErrorType:
    """The type that is nearest to an HTTP status: internal for a status that is not an error."""
    number = int(status) if isinstance(status, str) and re.fullmatch("[0-9]{1,4}", status) else status
    if not isinstance(number, int):
        return ErrorType.INTERNAL
    state = state_of_http(number)
    return ErrorType.INTERNAL if state is None else cause_of(state).error_type


def kind_of_code(code: str, kind: ErrorType) -> ErrorType:
    """The type of a documented code where that has the HTTP status of `kind`, else `kind`: several types share 403."""
    known = _CODES.get(code)
    return known.error_type if known is not None and known.error_type.http_status == kind.http_status else kind


def normalize_code(named: object, kind: ErrorType) -> str:
    """Return the code in a foreign document, in SCREAMING_SNAKE_CASE, or else the default code of `kind`."""
    text = text_or_none(named)
    if text is None:
        return kind.default_code.value
    spelt = "_".join("".join(letter if letter.isalnum() else " " for letter in text).upper().split())
    known = _CODES.get(spelt)
    agrees = known is None or known.error_type.http_status == kind.http_status
    return spelt if spelt and spelt[0].isalpha() and agrees else kind.default_code.value
