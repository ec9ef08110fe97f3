"""`AnswersKernel`: answers → their quality, a column for each field of `AnswerQuality`."""

from collections.abc import Mapping, Sequence
from typing import Final, cast

import numpy as np

from toolvet.batch.arrow import ArrowSchema, RecordBatch, arrow_fields, pa
from toolvet.batch.kernel.columns import PROBLEM, InputColumns, VerdictColumns, guarded
from toolvet.batch.kernel.screen import AnswerScreen
from toolvet.batch.kernel.texts import Texts
from toolvet.core.checks import AnswerQuality, FailureSignal, SignalType, read_answer
from toolvet.core.json_value import elements, is_array
from toolvet.core.turn import CLEAN, AnswerCheck

SIGNAL: Final = pa.struct(
    [*arrow_fields(FailureSignal, without=("position",)), ("start", pa.int64()), ("end", pa.int64())]
)
"""One signal. `start` and `end` are its characters in the text, null if it has no place."""

_COUNTS: Final = pa.struct([(kind.value, pa.int32()) for kind in SignalType])
# There is no column for a trace id: a row has an id of its own.
_MEMBERS: Final = dict(arrow_fields(AnswerQuality, without=("trace_id",)))

ANSWERS: Final[ArrowSchema] = pa.schema(
    [*{**_MEMBERS, "signals": pa.list_(SIGNAL), "signal_counts": _COUNTS, PROBLEM: pa.string()}.items()]
)
"""The columns of verdicts on answers: the members of `AnswerQuality`, and how many signals of each type there are."""

Judged = list[tuple[int, AnswerQuality]]


class AnswersKernel:
    """Judges a column of answers.

    Args:
        check: The check with its options.
        columns: The names of columns by their purpose: `text` (the answers) and, if there are any, `question`, `calls`
            (the tool calls of the turn), `finish_reason`, and `problem` (why a row is not to be judged).

    The verdict on each row is that of `check`. A text without any signal costs a share of one scan of the column.

    Example:
        >>> kernel = AnswersKernel(AnswerCheck())
        >>> texts = ["I cannot help with that request.", "The museum opens at nine, and closes at six."]
        >>> kernel(pa.record_batch({"text": texts})).column("score").to_pylist()
        [0.25, 1.0]
    """

    schema: ArrowSchema = ANSWERS

    def __init__(self, check: AnswerCheck, columns: Mapping[str, str] | None = None) -> None:
        self._check = check
        self._columns = {"text": "text", PROBLEM: PROBLEM, **(columns or {})}
        self._screen: AnswerScreen | None = None

    def __reduce__(self) -> tuple[object, ...]:
        # The screen holds databases, which each process loads for itself.
        return type(self), (self._check, self._columns)

    def __call__(self, batch: RecordBatch) -> RecordBatch:
        """Return the verdicts on a batch, row by row. Raises TypeError if the column of answers holds no texts."""
        columns = InputColumns(batch, self._columns)
        array = columns.array("text")
        if array is None:
            raise TypeError(f"there is no column {self._columns['text']!r}")
        try:
            texts = Texts(array)
        except TypeError as error:
            raise TypeError(f"the column {self._columns['text']!r} {error}") from None
        problems = columns.problems()
        judged = self._judge(columns, texts, problems)
        return answer_columns(len(texts), judged, problems)

    def _judge(self, columns: InputColumns, texts: Texts, problems: dict[int, str]) -> Judged:
        if self._screen is None:
            self._screen = AnswerScreen(self._check)
        suspects, known = self._screen.suspects(texts)
        calls, reasons = columns.values("calls"), columns.texts("finish_reason")
        questions = columns.values("question")
        if calls is not None:
            suspects[calls.valid] = True
        if reasons is not None:
            suspects[[row for row, reason in enumerate(reasons) if reason]] = True

        def judge(row: int) -> AnswerQuality:
            if calls is None and row in known and not (reasons and reasons[row]):
                text, check = texts[row] or "", self._check
                signals = read_answer(
                    text,
                    languages=check.languages,
                    custom=check.custom,
                    packs=check.packs,
                    model=check.model,
                    screened=known[row],
                )
                return check.verdict_on(text, signals) if signals else CLEAN
            given = None if calls is None else calls[row]
            question = None if questions is None else questions[row]
            return self._check(
                texts[row],
                calls=elements(given) if is_array(given) else None,
                question=question if isinstance(question, str) else elements(question) if is_array(question) else None,
                finish_reason=None if reasons is None else reasons[row],
            )

        judged = cast("Judged", list(guarded(suspects.nonzero()[0].tolist(), judge, problems)))
        # Nothing has to be written of those that turn out to be clean.
        return [each for each in judged if each[1] is not CLEAN]


def answer_columns(rows: int, judged: Judged, problems: Mapping[int, str]) -> RecordBatch:
    """Return the verdicts on `rows` answers: those in `judged`, by row; all others are clean."""
    made = VerdictColumns(ANSWERS, rows, problems)
    for name, kind in _MEMBERS.items():
        if name == "signals":
            made.add_lists(name, [(row, [*map(signal_record, quality.signals)]) for row, quality in judged])
        elif pa.types.is_list(kind):
            found = [(row, quality.to_dict().get(name, ())) for row, quality in judged if getattr(quality, name)]
            made.add_lists(name, cast("Sequence[tuple[int, Sequence[Mapping[str, object]]]]", found))
        else:
            made.add(name, getattr(CLEAN, name), [(row, getattr(quality, name)) for row, quality in judged])
    counts = {kind: np.zeros(rows, np.int32) for kind in SignalType}
    for row, quality in judged:
        for signal in quality.signals:
            counts[signal.type][row] += 1
    of_types = [pa.array(each) for each in counts.values()]
    made.columns["signal_counts"] = pa.StructArray.from_arrays(of_types, fields=list(_COUNTS))
    return made.batch()


def signal_record(signal: FailureSignal) -> dict[str, object]:
    """Return a signal as a member of its column."""
    found = signal.to_dict()
    start = signal.position
    found["start"] = start
    found["end"] = None if start is None else start + len(signal.evidence)
    return found
