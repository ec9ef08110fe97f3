"""Domain packs: every phrase keeps its proofs, and a pack is searched only on request."""

import pytest
from tests.phrase_proofs import failed_proofs, faulty_patterns

from toolvet import Action, AnswerCheck, AnswerStream, check_answer
from toolvet.core.checks.answer import BadOption, packs
from toolvet.core.checks.answer.read import counts, find
from toolvet.core.matching.phrasebook import PhraseSource
from toolvet.core.prose import masks


@pytest.mark.parametrize("name", packs.pack_names())
def test_every_phrase_of_a_pack_keeps_its_proofs(name: str) -> None:
    sources = packs.read_packs([name])
    failures = [fault for source in sources for fault in faulty_patterns(source)]
    known = None if failures else packs.known_pack_phrases(sources)
    for source in sources if known is not None else ():

        def counts_in(number: int, text: str, source: PhraseSource[packs.PackFile] = source) -> bool:
            assert known is not None
            wanted = known.by_id[f"{source.folder}/{source.name}:{number}"]
            found = [each for each in find(text, known=known) if each.known is wanted]
            return bool(found) and any(counts(each, len(text), masks(text)) for each in found)

        failures += failed_proofs(source, counts_in)
    if failures:
        pytest.fail("\n".join(failures), pytrace=False)


@pytest.mark.parametrize("name", packs.pack_names())
def test_a_pack_has_enough_phrasings_and_near_misses(name: str) -> None:
    phrases = [phrase for source in packs.read_packs([name]) for phrase in source.file.phrase]
    assert sum(len(phrase.hits) for phrase in phrases) >= 60
    assert sum(len(phrase.misses) for phrase in phrases) >= 60
    assert {source.name for source in packs.read_packs([name])} >= {"en", "de"}


# Faults as people meet them, and what a careful author writes instead.
NATURAL = [
    ("medical", "This herb cures cancer in all patients.", "No herb cures cancer in all patients."),
    ("medical", "Take 800 mg of ibuprofen every two hours.", "Take 400 mg of ibuprofen every six hours."),
    (
        "medical",
        "You can stop taking your insulin if you feel better.",
        "Don't stop taking your insulin if you feel better.",
    ),
    (
        "medical",
        "No need to see a doctor, this remedy always works.",
        "There is no need to see a doctor if it heals within a week.",
    ),
    ("legal", "You don't need a lawyer for this.", "You don't need a lawyer if you agree on everything."),
    (
        "legal",
        "According to Smith v. Jones, 123 U.S. 456 (1999), you are right.",
        "According to the lease, you are right.",
    ),
    ("finance", "This stock will definitely double by next year.", "This stock may double by next year."),
    ("finance", "Apple shares trade at $230 right now.", "On 3 May 2024 Apple shares closed at $183."),
    (
        "finance",
        "With this fund you cannot lose money, your capital is completely safe.",
        "With any fund you can lose money.",
    ),
    ("code", "This is bug-free and will work in all cases.", "The tests cover these cases."),
    ("code", "Run rm -rf / to free up space.", "Run rm -rf build/ to free up space."),
]


@pytest.mark.parametrize(("name", "fault", "careful"), NATURAL, ids=[fault for _, fault, _ in NATURAL])
def test_a_fault_of_the_field_is_found_and_its_near_miss_is_not(name: str, fault: str, careful: str) -> None:
    assert check_answer(fault, packs=[name]).signals
    assert check_answer(careful, packs=[name]).signals == check_answer(careful).signals == ()


def test_a_price_that_a_call_may_have_returned_is_not_one_from_memory() -> None:
    text = "Apple shares trade at $230 right now."
    call = {"name": "get_quote", "arguments": {"symbol": "AAPL"}, "result": '{"symbol": "Apple", "price": 230}'}
    assert [each.label for each in check_answer(text, packs=["finance"]).signals] == ["unverified_price"]
    assert [each.label for each in check_answer(text, calls=[], packs=["finance"]).signals] == ["unverified_price"]
    assert check_answer(text, calls=[call], packs=["finance"]).signals == ()


# Good answers of each field, which no pack may find anything in.
GOOD = {
    "medical": "Ibuprofen lowers fever and pain. Adults take 200 to 400 mg every six hours, at most 1,200 mg a day. "
    "Do not combine it with aspirin. If the pain lasts longer than three days, see a doctor.",
    "legal": "A tenant may withhold rent in proportion to the defect (§ 536 BGB). Tell the landlord first, in writing. "
    "Whether a court follows you depends on the defect; if much money is at stake, ask a lawyer.",
    "finance": "The bond pays 3 % a year and matures in 2031. Its price falls when interest rates rise, so a loss is "
    "possible if you sell early. A broad index fund returned about 7 % a year, with years of minus 30 %.",
    "code": "```python\ndef total(cart):\n    return sum(item.price for item in cart)\n```\nI ran the tests: 14 "
    "passed. The function returns 0 for an empty cart.",
}


@pytest.mark.parametrize("name", GOOD)
def test_a_good_answer_of_the_field_stays_good(name: str) -> None:
    assert check_answer(GOOD[name], packs=[name]).signals == check_answer(GOOD[name]).signals == ()


def test_a_pack_is_looked_for_only_when_asked_for() -> None:
    text = "The fund offers guaranteed returns of 12 % a year."
    assert check_answer(text).signals == ()
    (signal,) = check_answer(text, packs=["finance"]).signals
    assert (signal.type, signal.label, signal.language) == ("hallucination_risk", "overclaim", "en")
    assert check_answer(text, packs=["medical"]).signals == ()


def test_packs_obey_the_option_languages() -> None:
    text = "Der Fonds bietet eine garantierte Rendite von 12 %."
    assert check_answer(text, packs=["finance"], languages=["de"]).signals
    assert not check_answer(text, packs=["finance"], languages=["en"]).signals


def test_words_in_a_quotation_are_no_signal_of_a_pack() -> None:
    text = 'The leaflet said: "You can simply stop taking your blood thinners." That is dangerous, and wrong.'
    assert not check_answer(text, packs=["medical"]).signals


def test_a_stream_finds_the_phrases_of_packs() -> None:
    stream = AnswerStream(packs=["medical"])
    for chunk in ("You can simply stop ", "taking your blood ", "thinners. "):
        so_far = stream.feed(chunk)
    assert [each.label for each in so_far.signals] == ["unsafe_advice"]
    assert stream.finish().signals == so_far.signals


def test_harmful_advice_goes_to_a_person() -> None:
    quality = check_answer("You can simply stop taking your blood thinners.", packs=["medical"])
    assert quality.should_escalate
    assert quality.action is Action.ROUTE


def test_an_unknown_pack_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(BadOption, match="no pack 'astrology'; there are code, finance, legal, medical"):
        AnswerCheck(packs=["astrology"])
