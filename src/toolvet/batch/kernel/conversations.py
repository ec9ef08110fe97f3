"""`ConversationsKernel`: conversations → their answers, held against their calls, and the calls that failed."""

from collections.abc import Callable, Mapping
from typing import ClassVar, Final

from toolvet.batch.arrow import ArrowSchema, arrow_fields, pa
from toolvet.batch.kernel.answers import SIGNAL, signal_record
from toolvet.batch.kernel.columns import PROBLEM, InputColumns
from toolvet.batch.kernel.records import JsonRecord, RecordKernel
from toolvet.core.checks import AnswerQuality
from toolvet.core.json_value import is_object
from toolvet.core.turn import ConversationCheck, TurnVerdict

_TEXT: Final = pa.string()
# These columns are for a single answer, so only `toolvet batch answers` has them.
_LEFT_OUT: Final = ("likely_good", "assessment_confidence", "failed_calls", "partial_calls", "feedback", "trace_id")
_OF_ANSWER: Final = {
    **dict(arrow_fields(AnswerQuality, without=_LEFT_OUT)),
    "signals": pa.list_(SIGNAL),
}
_ANSWER: Final = pa.struct([("turn", pa.int32()), *_OF_ANSWER.items()])
_FAILED: Final = pa.struct(
    [
        ("turn", pa.int32()),
        ("tool", _TEXT),
        ("valid", pa.bool_()),
        ("classification", _TEXT),
        ("error_kind", _TEXT),
        ("state", _TEXT),
    ]
)

CONVERSATIONS: Final[ArrowSchema] = pa.schema(
    [
        ("should_escalate", pa.bool_()),
        ("score", pa.float64()),
        ("turns", pa.int32()),
        ("calls", pa.int32()),
        ("answers", pa.list_(_ANSWER)),
        ("failed_calls", pa.list_(_FAILED)),
        ("notes", pa.list_(_TEXT)),
        (PROBLEM, _TEXT),
    ]
)
"""The columns of verdicts on conversations. `score` is that of the worst answer, null if there is none."""


class ConversationsKernel(RecordKernel):
    """Judges a column of conversations: lists of messages in any format that `toolvet.turns` reads.

    Args:
        check: The check with its options.
        columns: The names of columns by their purpose: `messages` and, if there are any, `tools` (the definitions) and
            `system` (the system prompt).
    """

    schema: ArrowSchema = CONVERSATIONS
    main: ClassVar[str] = "messages"

    def __init__(self, check: ConversationCheck, columns: Mapping[str, str] | None = None) -> None:
        super().__init__(columns)
        self._check = check

    def judging(self, columns: InputColumns) -> Callable[[int], JsonRecord]:
        """As of `RecordKernel`."""
        messages = columns.given("messages")
        beside = {name: found for name in ("tools", "system") if (found := columns.values(name)) is not None}

        def judge(row: int) -> JsonRecord:
            value = messages[row]
            around = {name: found for name, column in beside.items() if (found := column[row]) is not None}
            # A record that is whole has its tools in it.
            given = {**around, "messages": value} if around and not is_object(value) else value
            return _record(self._check(given).turns)

        return judge


def _record(turns: tuple[TurnVerdict, ...]) -> JsonRecord:
    numbered = list(enumerate(turns, start=1))
    answers = [(number, each.answer) for number, each in numbered if each.answer is not None]
    failed: list[dict[str, object]] = []
    for number, call in ((number, call) for number, each in numbered for call in each.calls if call.failed):
        result = call.result
        failed.append(
            {
                "turn": number,
                "tool": call.call.name,
                "valid": None if call.arguments is None else call.arguments.valid,
                "classification": None if result is None else result.classification.value,
                "error_kind": None if result is None or result.error_kind is None else result.error_kind.value,
                "state": None if result is None or result.state is None else result.state.value,
            }
        )
    return {
        "should_escalate": any(answer.should_escalate for _, answer in answers),
        "score": min((answer.score for _, answer in answers), default=None),
        "turns": len(turns),
        "calls": sum(len(each.calls) for each in turns),
        "answers": [
            {
                **answer.to_dict(),
                "turn": number,
                "signals": [signal_record(signal) for signal in answer.signals],
            }
            for number, answer in answers
        ],
        "failed_calls": failed,
        "notes": [note for each in turns for note in each.turn.notes],
    }
