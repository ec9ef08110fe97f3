"""Every phrase brings its proof, and both engines read it alike."""
# ruff: noqa: E501 - A table is read by its lines.

import pytest
from tests.phrase_proofs import failed_proofs, faulty_patterns

from toolvet.core.causes import State, state_of_http
from toolvet.core.checks.result.evidence import tool_traits
from toolvet.core.checks.result.phrases import ResultPhrase, Strength, phrases, read_sources, tool_names
from toolvet.core.matching import Pattern, PatternSet
from toolvet.core.matching.dialect import translate
from toolvet.core.matching.engine_re import ReEngine

KNOWN = phrases().by_id


def test_every_phrase_matches_its_hits_and_none_of_its_misses() -> None:
    failures: list[str] = []
    for source in read_sources():

        def is_found(number: int, text: str, name: str = source.name) -> bool:
            return any(hit.id == f"{name}:{number}" for hit in phrases().scan(text))

        failures += [*faulty_patterns(source), *failed_proofs(source, is_found)]
    if failures:
        pytest.fail("\n".join(failures), pytrace=False)


@pytest.mark.parametrize(("identifier", "phrase"), KNOWN.items(), ids=list(KNOWN))
def test_a_phrase_proves_something_about_a_state_or_is_a_factor(identifier: str, phrase: ResultPhrase) -> None:
    proves = phrase.strength in (Strength.ALONE, Strength.VAGUE, Strength.VETO, Strength.DOUBT, Strength.REFUSAL)
    assert (phrase.state is not None) is proves, identifier


def test_the_slow_twin_reads_every_phrase_alike() -> None:
    patterns = [Pattern(identifier, phrase.match, spans=False) for identifier, phrase in KNOWN.items()]
    fast, slow = PatternSet(patterns), PatternSet(patterns)
    slow._engine = ReEngine([translate(pattern.regex, pattern.flags, spans=False) for pattern in patterns])
    for phrase in KNOWN.values():
        for text in (*phrase.hits, *phrase.misses, " | ".join(phrase.hits), "\n".join(phrase.misses)):
            assert fast.scan(text) == slow.scan(text), text


def test_an_error_is_not_asked_whether_it_is_one() -> None:
    only_whether = {Strength.FRAME, Strength.SUCCESS, Strength.INSTEAD}
    unasked = {identifier for identifier, phrase in KNOWN.items() if phrase.strength in only_whether}
    assert phrases().scan("Error: the lamp is broken")
    assert phrases().evidence("Error: the lamp is broken") == []
    for phrase in KNOWN.values():
        for text in phrase.hits:
            assert phrases().evidence(text) == [hit for hit in phrases().scan(text) if hit.id not in unasked], text


def test_every_documented_phrase_of_business_logic_passes_alone() -> None:
    documented = """not found|does not exist|doesn't exist|no such thing|cannot find|could not find|unable to find|invalid id
    unknown resource|resource not found|entity not found|record not found|item not found|no results|empty result
    invalid format|invalid value|invalid type|invalid input|type mismatch|schema validation|constraint violation|out of range
    exceeds maximum|below minimum|pattern mismatch|unauthorized|permission denied|access denied|forbidden|not authorized
    insufficient permissions|authentication required|token expired|invalid credentials|already exists|duplicate|conflict
    quota exceeded|limit reached|not allowed|precondition failed|dependency not met|insufficient credits|no credits
    credit balance|billing|subscription|plan upgrade|payment required|account suspended|trial expired|usage limit
    rate limit|too many requests|throttled"""
    for words in documented.replace("\n", "|").split("|"):
        strengths = {phrases().of(hit).strength for hit in phrases().scan(f"x {words.strip()}.")}
        assert Strength.ALONE in strengths, words
        assert Strength.VETO not in strengths, words


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (200, None),
        (399, None),
        (400, State.INVALID_INPUT),
        (404, State.NOT_FOUND),
        (418, State.INVALID_INPUT),
        (429, State.RATE_LIMITED),
        (500, State.INTERNAL),
        (503, State.UNAVAILABLE),
        (599, State.INTERNAL),
        (600, None),
    ],
)
def test_an_http_status_means_a_state(status: int, state: State | None) -> None:
    assert state_of_http(status) is state


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("get_user", "get"),
        ("getUser", "get"),
        ("user.delete", "delete"),
        ("firecrawl_scrape", "scrape"),
        ("payload_counter", ""),
        ("settings_reset", ""),
        ("widget", ""),
        ("thread", ""),
        ("compute_hash", "compute"),
        ("", ""),
    ],
)
def test_whole_segments_of_a_name_count(name: str, word: str) -> None:
    assert tool_traits(name).validating_word == word


def test_the_words_of_tool_names_are_lower_case() -> None:
    known = tool_names()
    words = known.validates | known.running_verbs | known.ready_made
    for texts in known.runs.values():
        words |= texts.names | texts.parameters | texts.doubtful_parameters
    assert all(word == word.lower() for word in words)
