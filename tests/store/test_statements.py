"""Statements of few kinds: the driver keeps each kind that it saw, with memory for all of its values."""

from collections import Counter
from typing import Any

import pytest
from sqlalchemy import event

from toolvet.store.database import memory_engine, writing
from toolvet.store.inserting import insert_records
from toolvet.store.padding import padded
from toolvet.store.reading import read_places, read_verdicts
from toolvet.store.records import SignalRecord, VerdictRecord


@pytest.mark.parametrize(
    ("values", "expected"), [([], []), ([1], [1]), ([1, 2], [1, 2]), ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 5, 5, 5])]
)
def test_a_list_is_filled_with_its_last_value(values: list[int], expected: list[int]) -> None:
    assert padded(values) == expected


def test_batches_of_any_length_need_few_statements() -> None:
    engine = memory_engine()
    seen: Counter[str] = Counter()

    def note(*given: Any) -> None:
        seen[given[2]] += 1

    event.listen(engine, "before_cursor_execute", note)
    made = 0
    for count in range(1, 41):
        ids = [f"{made + number:032x}" for number in range(count)]
        made += count
        signals = (SignalRecord("refusal"),)
        with writing(engine) as connection:
            records = [VerdictRecord(id=id_, at=5.0, kind="call", signals=signals) for id_ in ids]
            # Known values are omitted, however often the list has its last value.
            assert insert_records(connection, [*records, *records[:1]]) == count
            assert insert_records(connection, records) == 0
        with engine.connect() as connection:
            found = read_verdicts(connection, limit=count)
            assert [len(verdict.signals) for verdict in found] == [1] * count
            assert len(read_places(connection, [verdict.seq for verdict in found])) == count
    # Of 1, 2, 4, … 64 values each.
    for words in ("SELECT verdicts.id", "SELECT verdict_signals", "SELECT verdicts.seq"):
        kinds = [statement for statement in seen if statement.startswith(words) and " IN (" in statement]
        assert len(kinds) <= 7, words
    engine.dispose()


def test_a_batch_of_any_length_is_the_same_few_statements() -> None:
    engine = memory_engine()
    seen: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *given: seen.append(given[2]))
    counts: list[int] = []
    for count in (1, 16, 256):
        signals = (SignalRecord("refusal"),)
        records = [
            VerdictRecord(id=f"{count:016x}{number:016x}", at=5.0, kind="call", signals=signals, reason="No")
            for number in range(count)
        ]
        seen.clear()
        with writing(engine) as connection:
            assert insert_records(connection, records) == count
        counts.append(len(seen))
    # Where there were none, one more looks for the last place.
    assert counts[0] - 1 == counts[1] == counts[2]
    engine.dispose()
