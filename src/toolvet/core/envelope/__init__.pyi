# The public names of this package. `__init__.py` loads each one on first use.

from toolvet.core.causes import (
    ErrorCode as ErrorCode,
    ErrorType as ErrorType,
    RetryAdvice as RetryAdvice,
)
from toolvet.core.envelope.archive import (
    Archive as Archive,
    ContentArchive as ContentArchive,
    Eviction as Eviction,
    check_hash as check_hash,
    check_limits as check_limits,
    decode_content as decode_content,
    encode_content as encode_content,
    hash_of as hash_of,
    size_error as size_error,
)
from toolvet.core.envelope.builders.arguments import (
    FieldError as FieldError,
    WarningDetail as WarningDetail,
)
from toolvet.core.envelope.builders.failures import (
    conflict_error as conflict_error,
    duplicate_entry_error as duplicate_entry_error,
    feature_disabled_error as feature_disabled_error,
    forbidden_error as forbidden_error,
    internal_error as internal_error,
    invalid_format_error as invalid_format_error,
    missing_required_error as missing_required_error,
    not_found_error as not_found_error,
    rate_limit_error as rate_limit_error,
    unauthorized_error as unauthorized_error,
    unavailable_error as unavailable_error,
    validation_error as validation_error,
)
from toolvet.core.envelope.builders.responses import (
    error_response as error_response,
    success_response as success_response,
)
from toolvet.core.envelope.check import (
    EnvelopeVerdict as EnvelopeVerdict,
    FoundEnvelope as FoundEnvelope,
    check_envelope as check_envelope,
    find_envelopes as find_envelopes,
)
from toolvet.core.envelope.contract.table import (
    envelope_schema as envelope_schema,
    output_schema as output_schema,
)
from toolvet.core.envelope.contract.vocabulary import (
    ContentFidelity as ContentFidelity,
    ResponseContract as ResponseContract,
    WarningCode as WarningCode,
    WarningSeverity as WarningSeverity,
)
from toolvet.core.envelope.fit.fit import fit_response as fit_response
from toolvet.core.envelope.formats import (
    from_jsonapi as from_jsonapi,
    from_problem_details as from_problem_details,
    from_rpc_status as from_rpc_status,
    to_jsonapi as to_jsonapi,
    to_problem_details as to_problem_details,
    to_rpc_status as to_rpc_status,
)
from toolvet.core.envelope.request import (
    current_contract as current_contract,
    current_request_id as current_request_id,
    request_id as request_id,
    response_contract as response_contract,
)
from toolvet.core.envelope.response import (
    Envelope as Envelope,
    ResponseError as ResponseError,
)
from toolvet.core.envelope.retrieval import retrieve_content as retrieve_content
