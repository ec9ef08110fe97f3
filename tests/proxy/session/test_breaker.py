"""Identical failing calls in a row."""

from toolvet.core.causes import State
from toolvet.proxy.session.repeats import Breaker


def test_a_call_is_refused_once_it_failed_often_enough() -> None:
    breaker = Breaker()
    assert [breaker.count_failure("get", {"a": 1}) for _ in range(3)] == [1, 2, 3]
    assert breaker.check("get", {"a": 1}, 4) == 0
    assert breaker.check("get", {"a": 1}, 3) == 3


def test_other_arguments_and_other_tools_are_not_refused() -> None:
    breaker = Breaker()
    breaker.count_failure("get", {"a": 1, "b": [1, 2]})
    assert breaker.check("get", {"b": [1, 2], "a": 1}, 1) == 1
    assert breaker.check("get", {"a": 1, "b": [2, 1]}, 1) == 0
    assert breaker.check("put", {"a": 1, "b": [1, 2]}, 1) == 0


def test_after_as_many_refusals_one_call_is_let_through_to_see() -> None:
    breaker = Breaker()
    breaker.count_failure("get", {})
    breaker.count_failure("get", {})
    assert [breaker.check("get", {}, 2) for _ in range(6)] == [2, 2, 0, 2, 2, 0]


def test_a_success_of_the_same_call_ends_the_count() -> None:
    breaker = Breaker()
    breaker.count_failure("get", {"a": 1})
    breaker.count_failure("get", {"a": 2})
    breaker.note_success("get", {"a": 1}, changes_things=False)
    assert breaker.check("get", {"a": 1}, 1) == 0
    assert breaker.check("get", {"a": 2}, 1) == 1


def test_a_success_that_may_change_things_ends_all_counts() -> None:
    breaker = Breaker()
    breaker.count_failure("get", {"a": 2})
    breaker.note_success("put", {}, changes_things=True)
    assert breaker.check("get", {"a": 2}, 1) == 0


def test_whole_numbers_of_any_size_are_arguments() -> None:
    breaker = Breaker()
    breaker.count_failure("get", {"a": 10**40})
    assert breaker.check("get", {"a": 10**40}, 1) == 1
    breaker.count_failure("get", {"a": 10**40, "b": 1})
    assert breaker.check("get", {"b": 1, "a": 10**40}, 1) == 1


def test_the_memory_of_failures_is_bounded() -> None:
    breaker = Breaker()
    for number in range(1000):
        breaker.count_failure(f"tool{number}", {})
        breaker.count_failure("get", {"a": number})
    assert len(breaker._failing) <= 256
    assert max(map(len, breaker._failing.values())) <= 64


def test_what_is_forgotten_is_not_refused_and_has_no_cause() -> None:
    breaker = Breaker()
    breaker.count_failure("get", {}, State.TIMEOUT)
    assert breaker.cause("get", {}) is State.TIMEOUT
    breaker.count_failure("get", {})
    assert breaker.cause("get", {}) is None
    breaker.clear()
    assert breaker.check("get", {}, 1) == 0
