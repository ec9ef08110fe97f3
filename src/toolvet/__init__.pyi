# The public names of toolvet, each with the module that it lives in: this is the one list of them.
# Type checkers and editors read this file as it is. Python reads it too, when a name is first asked for (__init__.py),
# so it holds imports of the form `from toolvet.room import name as name` and nothing else.

from toolvet.agents.frameworks.guard import (
    CallRefusedError as CallRefusedError,
    wrap as wrap,
)
from toolvet.core.causes import (
    ErrorKind as ErrorKind,
    Retry as Retry,
    State as State,
)
from toolvet.core.checks.answer import (
    Action as Action,
    AnswerQuality as AnswerQuality,
    CallFailure as CallFailure,
    FailureSignal as FailureSignal,
    PartialCall as PartialCall,
    QualitySummary as QualitySummary,
    SignalType as SignalType,
)
from toolvet.core.checks.arguments import (
    ArgumentCheck as ArgumentCheck,
    ArgumentReport as ArgumentReport,
    Issue as Issue,
    JsonRepair as JsonRepair,
    PropertyHelp as PropertyHelp,
    SchemaHelp as SchemaHelp,
    Wording as Wording,
    check_arguments as check_arguments,
    read_wording as read_wording,
    repair_call as repair_call,
    repair_json as repair_json,
)
from toolvet.core.checks.result import (
    Classification as Classification,
    Factor as Factor,
    Leak as Leak,
    OutputSchemaValidation as OutputSchemaValidation,
    ResultCheck as ResultCheck,
    ResultMetadata as ResultMetadata,
    ResultVerdict as ResultVerdict,
    check_result as check_result,
    extract_metadata as extract_metadata,
    is_business_logic_error as is_business_logic_error,
    overall_confidence as overall_confidence,
)
from toolvet.core.envelope import (
    Archive as Archive,
    ContentArchive as ContentArchive,
    Envelope as Envelope,
    Eviction as Eviction,
    FieldError as FieldError,
    WarningDetail as WarningDetail,
    check_envelope as check_envelope,
    conflict_error as conflict_error,
    duplicate_entry_error as duplicate_entry_error,
    error_response as error_response,
    feature_disabled_error as feature_disabled_error,
    fit_response as fit_response,
    forbidden_error as forbidden_error,
    internal_error as internal_error,
    invalid_format_error as invalid_format_error,
    missing_required_error as missing_required_error,
    not_found_error as not_found_error,
    rate_limit_error as rate_limit_error,
    success_response as success_response,
    unauthorized_error as unauthorized_error,
    unavailable_error as unavailable_error,
    validation_error as validation_error,
)
from toolvet.core.messages import (
    ToolCall as ToolCall,
    Turn as Turn,
    turns as turns,
)
from toolvet.core.poison import (
    Steering as Steering,
    find_steering as find_steering,
    steering_in as steering_in,
)
from toolvet.core.portability import (
    Portable as Portable,
    PortIssue as PortIssue,
    port_issues as port_issues,
    portable as portable,
)
from toolvet.core.schema import (
    InvalidExample as InvalidExample,
    Recovered as Recovered,
    Repair as Repair,
    invalid_examples as invalid_examples,
    recover as recover,
    repair as repair,
    valid_example as valid_example,
)
from toolvet.core.settings import (
    Settings as Settings,
    load_settings as load_settings,
    load_wording as load_wording,
)
from toolvet.core.tools import (
    ToolHandle as ToolHandle,
    tool as tool,
)
from toolvet.core.turn import (
    AnswerCheck as AnswerCheck,
    AnswerStream as AnswerStream,
    BestAnswer as BestAnswer,
    CallVerdict as CallVerdict,
    ConversationCheck as ConversationCheck,
    ConversationVerdict as ConversationVerdict,
    TurnVerdict as TurnVerdict,
    best_answer as best_answer,
    check_answer as check_answer,
    check_answers as check_answers,
    check_conversation as check_conversation,
    quality_summary as quality_summary,
    regeneration_advice as regeneration_advice,
    vet_stream as vet_stream,
)
from toolvet.errors import (
    ArchiveError as ArchiveError,
    AuthenticationError as AuthenticationError,
    ConfigError as ConfigError,
    ContentDamagedError as ContentDamagedError,
    ContentMissingError as ContentMissingError,
    EnvelopeError as EnvelopeError,
    EnvelopeTypeError as EnvelopeTypeError,
    ToolShapeError as ToolShapeError,
    ToolvetError as ToolvetError,
    UnreachableError as UnreachableError,
    Unsatisfiable as Unsatisfiable,
    UsageError as UsageError,
)
from toolvet.findings import (
    Finding as Finding,
    Severity as Severity,
)
from toolvet.version import (
    __version__ as __version__,
)
