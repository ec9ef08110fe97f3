import re

import pytest

from toolvet.core.turn.ledger.dates import dates_in, months
from toolvet.core.turn.ledger.phrases import families, phrases
from toolvet.core.turn.ledger.tokens import frames, known_words, names_before, quotes_before, readings, surroundings


def test_every_claim_belongs_to_a_family_and_every_family_is_claimed() -> None:
    claimed = {claim.family for claim in phrases().claims.values() if claim.frame is None}
    for grammar in phrases().grammar.values():
        claimed |= {*grammar.verbs.groupindex, *grammar.text_verbs.groupindex, *grammar.nominals.groupindex}
    assert claimed == set(families().family)


def test_a_claim_has_a_family_or_a_frame_whose_verb_says_it() -> None:
    assert all((claim.frame is None) is bool(claim.family) for claim in phrases().claims.values())


def test_the_frames_and_known_words_keep_their_proofs() -> None:
    for frame, before in ((frames().quotes, quotes_before), (frames().names, names_before)):
        assert all(before(text) for text in frame.hits)
        assert not any(before(text) for text in frame.misses)
    known = surroundings().known
    assert all(known_words().match(text) for text in known.hits)
    assert not any(known_words().match(text) for text in known.misses)


@pytest.mark.parametrize(
    ("numeral", "values"),
    [
        ("1,234.5", {1234.5}),
        ("1.234,5", {1234.5}),
        ("1,234", {1234.0, 1.234}),
        ("12,5", {12.5}),
        ("1'234'567", {1234567.0}),
        ("12,34,567", {1234567.0}),
        ("1.2.3", set[float]()),
        ("0,250", {0.25}),
    ],
)
def test_a_numeral_is_read_in_every_way_that_it_can_be(numeral: str, values: set[float]) -> None:
    assert {reading.value for reading in readings(numeral)} == values


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-22",
        "22.11.2026",
        "11/22/2026",
        "November 22nd, 2026",
        "22. November 2026",
        "22 de noviembre de 2026",
        "2026年11月22日",
        "22 ноября 2026",
        "1795348800",
    ],
)
def test_a_day_is_read_from_its_spellings(text: str) -> None:
    assert (2026, 11, 22) in dates_in(text)


def test_names_of_months_are_lower_case_words() -> None:
    assert all(re.fullmatch(r"[^\W\d]+(?:[\u093c\u0900-\u097f]*)", name) or not name.isascii() for name in months())
    assert all(name == name.lower() for name in months())
