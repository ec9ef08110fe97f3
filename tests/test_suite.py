"""The suite itself: nothing judges by the clock, and what counts steps sees more than linear growth."""

import re
from pathlib import Path

import pytest
from hypothesis import settings
from tests.steps import lines_run, regex_steps

HERE = Path(__file__).parent
CLOCK = re.compile(
    r"\b(?:perf_counter|process_time|thread_time)\b|\bsettings\([^)]*\bdeadline\b|\btime\.(?:time|monotonic)\("
)


def test_no_test_judges_by_the_clock() -> None:
    for path in sorted(HERE.rglob("test_*.py")):
        found = CLOCK.findall(path.read_text("utf-8")) if path != Path(__file__) else []
        assert not found, (
            f"{path.relative_to(HERE)} has {found[0]!r}: under load it fails for no fault of the code. Count steps "
            f"instead (tests/steps.py); the profile of tests/conftest.py has no deadline."
        )


def test_no_example_has_a_deadline() -> None:
    assert settings().deadline is None


@pytest.mark.parametrize(("pattern", "grows"), [("[a-c]+d", 2), ("(?<![a-c])[a-c]+d", 1)])
def test_the_growth_of_a_pattern_is_seen(pattern: str, grows: int) -> None:
    few, many = (regex_steps(re.compile(pattern), "a" * number) for number in (100, 200))
    assert round(many / few) == 2**grows


def test_the_growth_of_a_function_is_seen() -> None:
    def pairs(number: int) -> None:
        for _ in range(number):
            for _ in range(number):
                pass

    few, many = (lines_run(lambda number=number: pairs(number)) for number in (50, 100))  # type: ignore[misc]
    assert round(many / few) == 4
