# The public names of this package. `__init__.py` loads each one on first use.

from toolvet.core.checks.answer import (
    AnswerQuality as AnswerQuality,
    FailureSignal as FailureSignal,
    SignalType as SignalType,
    read_answer as read_answer,
)
from toolvet.core.checks.answer.ending_marks import ending_marks as ending_marks
from toolvet.core.checks.answer.model import read_model as read_model
from toolvet.core.checks.answer.model.classifier import (
    LABELS as LABELS,
    Label as Label,
    LabelHead as LabelHead,
    Model as Model,
    judge as judge,
    shipped as shipped,
)
from toolvet.core.checks.answer.model.training import (
    NEVER as NEVER,
    LabelledText as LabelledText,
    TrainingSettings as TrainingSettings,
    train as train,
)
from toolvet.core.checks.answer.phrases import (
    phrases as phrases,
    read_phrases as read_phrases,
)
from toolvet.core.checks.answer.read import ScreenedText as ScreenedText
from toolvet.core.checks.answer.shape import raw_error_table as raw_error_table
from toolvet.core.checks.arguments import (
    ArgumentCheck as ArgumentCheck,
    ArgumentReport as ArgumentReport,
    Issue as Issue,
    JsonRepair as JsonRepair,
    Wording as Wording,
    check_arguments as check_arguments,
    read_wording as read_wording,
    repair_call as repair_call,
    repair_json as repair_json,
)
from toolvet.core.checks.arguments.check import ReportedFault as ReportedFault
from toolvet.core.checks.arguments.markdown import (
    mask_arguments as mask_arguments,
    shown_repair as shown_repair,
)
from toolvet.core.checks.capability import (
    DEFAULT_METHOD as DEFAULT_METHOD,
    EXPERIMENTAL_KEY as EXPERIMENTAL_KEY,
    EXTENSION_ID as EXTENSION_ID,
    LEVELS as LEVELS,
    PROTOCOL_VERSION as PROTOCOL_VERSION,
    SEVERITIES as SEVERITIES,
    Announcement as Announcement,
    Cache as Cache,
    Caching as Caching,
    Correction as Correction,
    Level as Level,
    Message as Message,
    MessageSeverity as MessageSeverity,
    ValidationCall as ValidationCall,
    ValidationReply as ValidationReply,
    ValidationRequest as ValidationRequest,
    announcement as announcement,
    bare_name as bare_name,
    has_capability as has_capability,
    input_schema as input_schema,
    json_key as json_key,
    misannounced as misannounced,
    output_schema as output_schema,
    parse_replies as parse_replies,
    parse_reply as parse_reply,
    parse_request as parse_request,
)
from toolvet.core.checks.result import (
    Classification as Classification,
    Leak as Leak,
    LeakKind as LeakKind,
    Outage as Outage,
    OutageKind as OutageKind,
    ResultCheck as ResultCheck,
    ResultMetadata as ResultMetadata,
    ResultVerdict as ResultVerdict,
    check_result as check_result,
    contract_drift as contract_drift,
    is_framework_refusal as is_framework_refusal,
    outage_of as outage_of,
    overall_confidence as overall_confidence,
)
from toolvet.core.checks.result_settings import (
    ResultSettings as ResultSettings,
    ToolResultSettings as ToolResultSettings,
)
