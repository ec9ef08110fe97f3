# The public names of this package. `__init__.py` loads each one on first use.

from toolvet.core.tool_rules.consent import (
    Habits as Habits,
    habits_of as habits_of,
    only_computes as only_computes,
    why_not_called as why_not_called,
    writing_parameters as writing_parameters,
)
from toolvet.core.tool_rules.destructive import find_actions as find_actions
from toolvet.core.tool_rules.subject import (
    FOREIGN_ORIGIN as FOREIGN_ORIGIN,
    PROBE_POINTER as PROBE_POINTER,
    UNJUDGED as UNJUDGED,
    AnswerExcerpt as AnswerExcerpt,
    Category as Category,
    Consequence as Consequence,
    FileChange as FileChange,
    HttpExchange as HttpExchange,
    IntendedViolation as IntendedViolation,
    ObservedCall as ObservedCall,
    ObservedHttp as ObservedHttp,
    ObservedServer as ObservedServer,
    ObservedValidation as ObservedValidation,
    Outcome as Outcome,
    Preview as Preview,
    ProtocolError as ProtocolError,
    ToolDefinition as ToolDefinition,
    WireAnomaly as WireAnomaly,
    place_in_report as place_in_report,
    recognise_sdk as recognise_sdk,
    tool_definition as tool_definition,
)
