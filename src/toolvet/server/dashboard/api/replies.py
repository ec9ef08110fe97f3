"""What checks reply, as types: for the OpenAPI document, so that clients can be generated from it.

They are made from the verdicts of the library, whose members they have.
"""

from typing import Final

from toolvet.core.checks import AnswerQuality, ArgumentReport, JsonRepair, ResultVerdict
from toolvet.core.envelope import EnvelopeVerdict
from toolvet.core.json_form import reply_type
from toolvet.core.turn import ConversationVerdict

AnswerReply: Final = reply_type(AnswerQuality)
ArgumentsReply: Final = reply_type(ArgumentReport)
RepairReply: Final = reply_type(JsonRepair)
ResultReply: Final = reply_type(ResultVerdict)
EnvelopeReply: Final = reply_type(EnvelopeVerdict)
ConversationReply: Final = reply_type(ConversationVerdict)
