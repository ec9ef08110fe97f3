# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.core.tool_rules.consent import (
    Habits as Habits,
    habits_of as habits_of,
    why_not_called as why_not_called,
    writing_parameters as writing_parameters,
)
from toolvet.core.tool_rules.destructive import find_actions as find_actions
from toolvet.core.tool_rules.subject import (
    FOREIGN_ORIGIN as FOREIGN_ORIGIN,
    PLACE_OF_PROBES as PLACE_OF_PROBES,
    UNJUDGED as UNJUDGED,
    AnswerExcerpt as AnswerExcerpt,
    Category as Category,
    HttpExchange as HttpExchange,
    HttpSeen as HttpSeen,
    IntendedViolation as IntendedViolation,
    ObservedCall as ObservedCall,
    Outcome as Outcome,
    Preview as Preview,
    ProtocolError as ProtocolError,
    ServerSeen as ServerSeen,
    ToolDefinition as ToolDefinition,
    ValidationSeen as ValidationSeen,
    WireAnomaly as WireAnomaly,
    place_in_report as place_in_report,
    recognise_sdk as recognise_sdk,
    tool_definition as tool_definition,
)
