"""Scans that look only where a hit is of use: what they find there is what is found without."""

from itertools import product
from random import Random

import pytest

from toolvet.core.matching import Hit, Pattern, PatternSet
from toolvet.core.matching.engine_hyperscan import HyperscanEngine
from toolvet.core.matching.pattern import HitScope, Translation

# Two of them overlap with themselves where they follow each other, and one has no greatest length.
REGEXES = (r"\bno\b.{0,40}\bway\b", r"\b(?:no|way) (?:no|way)\b", r"\bway(?: \w+)+ out\b", r"\bcafé\b")
PIECES = ("no ", "way ", "way out ", "café ", "quiet ", "the harbour was quiet that morning, ", "é ", "\n")
SCOPES = (
    HitScope(at_most=900),
    HitScope(first=30),
    HitScope(last=30),
    HitScope(first=30, last=30),
    HitScope(whole=400, first=10, last=10),
    HitScope(at_most=2_000, first=0, last=60),
)


def is_in(hit: Hit, scope: HitScope, length: int) -> bool:
    if scope.at_most is not None and length > scope.at_most:
        return False
    if length <= scope.whole or (scope.first is None and scope.last is None):
        return True
    opens = scope.first is not None and hit.start < scope.first
    return opens or (scope.last is not None and hit.end > length - scope.last)


@pytest.mark.parametrize("scope", SCOPES, ids=str)
def test_the_hits_in_scope_are_the_same(scope: HitScope) -> None:
    patterns = PatternSet(Pattern(str(number), regex, scope=scope) for number, regex in enumerate(REGEXES))
    rows = Random(5)  # noqa: S311 - texts by a seed
    found = 0
    for _ in range(120):
        few = rows.sample(PIECES, 4)
        text = "".join(rows.choice(few) for _ in range(rows.choice((5, 40, 300))))
        every, narrowed = patterns.scan(text), patterns.scan(text, in_scope=True)
        wanted = [hit for hit in every if is_in(hit, scope, len(text))]
        assert [hit for hit in narrowed if is_in(hit, scope, len(text))] == wanted
        found += len(wanted)
    assert found > 20


@pytest.mark.parametrize(
    ("regex", "unit", "ending"),
    [
        # Each match takes what the next would begin with: where the row begins decides which of them are found.
        (r"\b(?:no|way) (?:no|way)\b", "no ", ""),
        # The long word, which the engine looks for, is in front of the closing, and the match ends in it.
        (r"\bunusual\b.{0,40} n\b", "quiet ", "unusual and even more so n"),
    ],
)
def test_the_row_before_the_closing_counts(regex: str, unit: str, ending: str) -> None:
    patterns = PatternSet([Pattern("it", regex, scope=HitScope(last=10))])
    for times in range(100, 130):
        text = unit * times + ending
        wanted = [hit for hit in patterns.scan(text) if hit.end > len(text) - 10]
        assert wanted
        assert [hit for hit in patterns.scan(text, in_scope=True) if hit.end > len(text) - 10] == wanted


def test_what_stands_elsewhere_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    matches = HyperscanEngine._matches

    def counted(self: HyperscanEngine, index: int, about: Translation, ends: list[int], *rest: object) -> object:
        looked.append(len(ends))
        return matches(self, index, about, ends, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(HyperscanEngine, "_matches", counted)
    filling = "The harbour was quiet in the morning. " * 40
    text = f"No way. {filling}No way. {filling}No way."
    for scope, work in product((HitScope(first=20), HitScope(last=20)), (1,)):
        looked.clear()
        assert len(PatternSet([Pattern("no", r"\bno way\b", scope=scope)]).scan(text, in_scope=True)) == 1
        assert looked == [work]
    looked.clear()
    assert PatternSet([Pattern("no", r"\bno way\b", scope=HitScope(at_most=100))]).scan(text, in_scope=True) == []
    assert looked == []
