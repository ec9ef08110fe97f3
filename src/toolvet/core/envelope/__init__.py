"""One shape for every response of a tool: build it, check it, shorten it, translate it.

The contract is response-v2: `success`, `data`, `error`, `meta`, and nothing else.

    contract/      the table of the contract and its words; the rest of the room is made from it
    builders/      arguments → envelopes: `success_response`, `error_response`, one function for each kind of failure
    check/         envelopes → findings: `check_envelope`
    fit/           a response and a budget → the response that fits: `fit_response`
    archive/       what a response left out → hashes to ask with: `ContentArchive`, `retrieve_content`
    formats/       failures to and from RFC 9457, JSON:API and google.rpc.Status
    response.py    `Envelope`, and the exception that carries one
    request.py     the request id and the contract for all responses to one request
    json_copy.py   independent copies of values that JSON can hold, and their encoding
"""

from toolvet.core.causes import ErrorCode, ErrorType, RetryAdvice
from toolvet.core.envelope.archive.archive import Archive, Eviction
from toolvet.core.envelope.archive.memory import ContentArchive
from toolvet.core.envelope.archive.retrieval import retrieve_content
from toolvet.core.envelope.builders.arguments import FieldError, WarningDetail
from toolvet.core.envelope.builders.failures import (
    conflict_error,
    duplicate_entry_error,
    feature_disabled_error,
    forbidden_error,
    internal_error,
    invalid_format_error,
    missing_required_error,
    not_found_error,
    rate_limit_error,
    unauthorized_error,
    unavailable_error,
    validation_error,
)
from toolvet.core.envelope.builders.responses import error_response, success_response
from toolvet.core.envelope.check.check import check_envelope
from toolvet.core.envelope.contract.table import envelope_schema, output_schema
from toolvet.core.envelope.contract.vocabulary import (
    ContentFidelity,
    ResponseContract,
    WarningCode,
    WarningSeverity,
)
from toolvet.core.envelope.fit.fit import fit_response
from toolvet.core.envelope.formats import (
    from_jsonapi,
    from_problem_details,
    from_rpc_status,
    to_jsonapi,
    to_problem_details,
    to_rpc_status,
)
from toolvet.core.envelope.request import current_contract, current_request_id, request_id, response_contract
from toolvet.core.envelope.response import Envelope, ResponseError

__all__ = [
    "Archive",
    "ContentArchive",
    "ContentFidelity",
    "Envelope",
    "ErrorCode",
    "ErrorType",
    "Eviction",
    "FieldError",
    "ResponseContract",
    "ResponseError",
    "RetryAdvice",
    "WarningCode",
    "WarningDetail",
    "WarningSeverity",
    "check_envelope",
    "conflict_error",
    "current_contract",
    "current_request_id",
    "duplicate_entry_error",
    "envelope_schema",
    "error_response",
    "feature_disabled_error",
    "fit_response",
    "forbidden_error",
    "from_jsonapi",
    "from_problem_details",
    "from_rpc_status",
    "internal_error",
    "invalid_format_error",
    "missing_required_error",
    "not_found_error",
    "output_schema",
    "rate_limit_error",
    "request_id",
    "response_contract",
    "retrieve_content",
    "success_response",
    "to_jsonapi",
    "to_problem_details",
    "to_rpc_status",
    "unauthorized_error",
    "unavailable_error",
    "validation_error",
]
