"""Where hits are placed: how often a text is searched, and that what was found before is found again."""

# ruff: noqa: RUF001 - Texts in several scripts.

from random import Random
from typing import TYPE_CHECKING

import pytest

from toolvet.core.checks.answer.phrases import phrases
from toolvet.core.matching import Pattern, PatternSet, engine_hyperscan
from toolvet.core.matching.engine_hyperscan import HyperscanEngine
from toolvet.core.matching.engine_re import ReEngine
from toolvet.core.matching.index import index_of
from toolvet.core.matching.pattern import finder

if TYPE_CHECKING:
    from toolvet.core.matching.pattern import PlacedBefore

# One has no greatest length, one needs the other matcher, and the last is one with letters beyond ASCII.
REGEXES = (
    r"\bno\b.{0,40}\bway\b",
    r"\bno way(?: [^ .]+){0,9} [^ .]+ but\b",
    r"\bway(?: \w+)+ out\b",
    r"\b(?:no .{0,30}){1,6}way.{0,30}out.{0,30}here\b",
    r"^no\b|\bway$",
    r"\bне могу(?: [^ .]+){0,9} но\b",
)
PIECES = ("no ", "way ", "way out ", "но ", "не могу ", "quiet ", "but ", "here", ". ", "\n", "the harbour was quiet ")


class Counted:
    """A finder that counts its searches and the places at which they may begin."""

    searches = 0
    places = 0

    def __init__(self, finder: object) -> None:
        self.inner = finder

    def search(self, text: str, start: int, limit: int) -> tuple[int, int] | None:
        Counted.searches += 1
        Counted.places += limit - start
        return self.inner.search(text, start, limit)  # type: ignore[attr-defined, no-any-return]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> type[Counted]:
    original = finder
    monkeypatch.setattr(engine_hyperscan, "finding", lambda *args, **how: Counted(original(*args, **how)))
    Counted.searches = Counted.places = 0
    return Counted


def text_of(rows: Random, size: int) -> str:
    return "".join(rows.choices(PIECES, k=size))


@pytest.mark.parametrize(
    ("regex", "words"),
    [
        (r"\bno way(?: [^ .]+){0,9} [^ .]+ (?:of|if) quietly no\b", "no way quietly no "),
        (r"\bне могу(?: [^ .]+){0,9} [^ .]+ (?:о|и) помочь вам\b", "не могу помочь вам "),
        (r"\bno .{0,30}of .{0,30}way(?:.{0,30}of){2,6}.{0,30}quietly no\b", "no way quietly no "),
    ],
)
def test_many_ends_in_a_row_are_one_search(counted: type[Counted], regex: str, words: str) -> None:
    text = words * 2_000
    assert PatternSet([Pattern("way", regex)]).scan(text) == []
    # There was one for each of the 2,000 ends, which read on for a hundred words.
    assert counted.searches == 1
    assert counted.places <= len(text)


def test_both_engines_find_the_same_in_words_that_repeat() -> None:
    index = index_of([(regex, 2, True) for regex in REGEXES])
    patterns = PatternSet(Pattern(str(number), regex) for number, regex in enumerate(REGEXES))
    slow = ReEngine(index)
    rows = Random(16)  # noqa: S311 - Texts by a seed.
    found = 0
    for _ in range(200):
        text = text_of(rows, rows.randint(1, 6)) * rows.randint(1, 60)
        hits = [(int(hit.id), hit.start, hit.end) for hit in patterns.scan(text)]
        assert sorted(hits) == sorted(slow.find(text)), text
        found += len(hits)
    assert found > 1_000


def test_a_text_that_grows_is_found_the_same_with_a_memory() -> None:
    patterns = PatternSet(Pattern(str(number), regex) for number, regex in enumerate(REGEXES))
    rows = Random(17)  # noqa: S311 - Texts by a seed.
    found = 0
    for _ in range(12):
        placed: PlacedBefore = {}
        text = text_of(rows, 150)
        at = 0
        while at < len(text):
            at += rows.choice((1, 3, 9, 30))
            window = text[max(0, at - 600) : at]
            hits = patterns.scan(window)
            assert patterns.scan(window, placed=placed) == hits, window
            found += len(hits)
    assert found > 1_000


def test_what_no_further_word_can_change_is_searched_once(counted: type[Counted]) -> None:
    patterns = PatternSet([Pattern("way", REGEXES[0])])
    text = "no quiet way " + "the harbour was quiet " * 20
    placed: PlacedBefore = {}
    for at in range(13, len(text)):
        assert len(patterns.scan(text[:at], placed=placed)) == 1
    # The match is 45 characters long at most, and two more are looked at: until they are there it is searched again.
    assert counted.searches <= 60
    assert len(placed) == 1


def test_the_memory_is_bounded(counted: type[Counted]) -> None:
    patterns = PatternSet([Pattern("way", REGEXES[0])])
    placed: PlacedBefore = {}
    text = "".join(f"no {number} way, and {'quiet' * 12} " for number in range(1_000))
    for at in range(0, len(text), 700):
        patterns.scan(text[at : at + 900], placed=placed)
    assert counted.searches > 200
    assert len(placed) <= 200
    assert max(len(words) for _finder, _begins, words in placed) <= 2_000


def test_no_shipped_phrase_searches_a_text_again_and_again(
    counted: type[Counted], monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = phrases().pattern_set
    engine = shipped._engine
    assert isinstance(engine, HyperscanEngine), "the databases are compiled before"
    monkeypatch.setattr(engine, "_finders", {})
    for unit in ("抱歉，我无法", "не могу ", "no puedo ayudarte ", "ich kann kanne nichts ", "I cannot but "):
        text = unit * (4_000 // len(unit))
        engine._finders.clear()
        hits = shipped.scan(text)
        # One for each hit, and one for each phrase, behind its last.
        assert 0 < counted.searches <= len(hits) + len(engine._finders), unit
        counted.searches = 0
