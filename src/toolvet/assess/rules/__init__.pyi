# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.assess.rules.item import (
    ListedItem as ListedItem,
    ObservedItems as ObservedItems,
    ObservedListing as ObservedListing,
    ObservedRequest as ObservedRequest,
    Purpose as Purpose,
    listed_item as listed_item,
)
from toolvet.assess.rules.judge import (
    card_named as card_named,
    cards as cards,
    in_order as in_order,
    judge_call as judge_call,
    judge_calls as judge_calls,
    judge_item as judge_item,
    judge_items as judge_items,
    judge_request as judge_request,
    judge_server as judge_server,
    judge_tool as judge_tool,
    merge as merge,
    share as share,
)
from toolvet.assess.rules.terms import (
    TERMS as TERMS,
    Term as Term,
)
from toolvet.core.tool_rules.subject import (
    AnswerExcerpt as AnswerExcerpt,
    IntendedViolation as IntendedViolation,
    ObservedCall as ObservedCall,
    ObservedServer as ObservedServer,
    ObservedValidation as ObservedValidation,
    Outcome as Outcome,
    Preview as Preview,
    ProtocolError as ProtocolError,
    ToolDefinition as ToolDefinition,
    WireAnomaly as WireAnomaly,
    tool_definition as tool_definition,
)
