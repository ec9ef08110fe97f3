# The public names of this package. `__init__.py` loads each one on first use.

from toolvet.core.turn.announcing import ANNOUNCED as ANNOUNCED
from toolvet.core.turn.asking import USUAL as USUAL
from toolvet.core.turn.check import (
    CLEAN as CLEAN,
    AnswerCheck as AnswerCheck,
    AnswerOptions as AnswerOptions,
    BestAnswer as BestAnswer,
    best_answer as best_answer,
    check_answer as check_answer,
    check_answers as check_answers,
    contradicts as contradicts,
    quality_summary as quality_summary,
    regeneration_advice as regeneration_advice,
)
from toolvet.core.turn.conversation import (
    CallVerdict as CallVerdict,
    ConversationCheck as ConversationCheck,
    ConversationVerdict as ConversationVerdict,
    TurnVerdict as TurnVerdict,
    check_conversation as check_conversation,
)
from toolvet.core.turn.ending import (
    judged_ending as judged_ending,
)
from toolvet.core.turn.ledger import TurnWitness as TurnWitness
from toolvet.core.turn.ledger.alignment import (
    AFTER_FAILURE as AFTER_FAILURE,
    NOT_PERSISTED as NOT_PERSISTED,
    WRONG_TARGET as WRONG_TARGET,
    WRONG_VALUE as WRONG_VALUE,
)
from toolvet.core.turn.ledger.failures import UNMENTIONED as UNMENTIONED
from toolvet.core.turn.ledger.outcome import as_text as as_text
from toolvet.core.turn.ledger.work import (
    AgentAction as AgentAction,
    actions_of as actions_of,
    claims_in as claims_in,
    compiled as compiled,
    finds as finds,
    is_guarded as is_guarded,
    is_last_word as is_last_word,
    own_words as own_words,
    reports as reports,
    segments_of as segments_of,
    sentences_of as sentences_of,
    work_table as work_table,
)
from toolvet.core.turn.stream import (
    AnswerStream as AnswerStream,
    VettedStream as VettedStream,
    vet_stream as vet_stream,
)
from toolvet.core.turn.warming import prepare as prepare
