"""Plain words become a regular expression, or a sentence that says what to write instead."""

import re

import pytest
from hypothesis import given, strategies as st

from toolvet.core.matching import Pattern, PatternSet
from toolvet.core.matching.phrasebook import regex_of, regex_of_any


@pytest.mark.parametrize(
    ("say", "regex"),
    [
        ("good morning", r"\bgood morning\b"),
        ("I cannot {words:2} help|assist [you]", r"\bI cannot {words:2}(?:help|assist)(?: you)?\b"),
        ("[really] I (can not|cannot) help", r"\b(?:really )?I (?:can not|cannot) help\b"),
        ("help[s|ed] (you now|all)", r"\bhelp(?:(?:s|ed))? (?:you now|all)\b"),
        ("can't {characters:20} do", r"\bcan't\b{characters:20}\bdo\b"),
        ("申し訳{characters:10}できません", r"\b申し訳{characters:10}できません\b"),
        ("¿puedo ayudar?", r"¿puedo ayudar\?"),
        ("{sorry} [but] no", r"\b{sorry} (?:but )?no\b"),
        ("a [b|c d] [e]", r"\ba(?: (?:b|c d))?(?: e)?\b"),
        ("cost (2.50|3.00)", r"\bcost (?:2\.50|3\.00)\b"),
    ],
)
def test_plain_words_become_this_regular_expression(say: str, regex: str) -> None:
    assert regex_of(say) == regex


@pytest.mark.parametrize(
    ("say", "hits", "misses"),
    [
        (
            "I cannot help|assist [you]",
            ["I CANNOT assist.", "I cannot help you"],
            ["I cannot helper"],
        ),
        ("[really] no idea", ["no idea", "Really no idea!"], ["reallyno ideas"]),
        ("help[s|ed] out", ["helps out", "helped out", "help out"], ["helping out", "help s out"]),
        ("対応(でき|出来)ません", ["申し訳ありませんが、対応できません。"], ["対応できます"]),
        ("don't know", ["I don\u2019t know that."], ["I do know"]),
    ],
)
def test_plain_words_are_found_as_they_are_meant(say: str, hits: list[str], misses: list[str]) -> None:
    found = PatternSet([Pattern("x", regex_of(say))])
    assert [text for text in hits if not found.scan(text)] == []
    assert [text for text in misses if found.scan(text)] == []


@pytest.mark.parametrize(
    ("say", "complaint"),
    [
        ("", "needs a word that must be there"),
        ("[really]", "needs a word that must be there"),
        ("no|[never]", "needs a word that must be there"),
        ("[no][never]", "needs a word that must be there"),
        ("{words:2}", "needs a word that must be there"),
        ("no {words:2}", "a gap needs a word before it and a word after it"),
        ("{words:2} no", "a gap needs a word before it and a word after it"),
        ("(no", "'(' is not closed"),
        ("[no) way", "')' closes nothing"),
        ("no]", "']' closes nothing"),
        ("no | never", "needs a word on both sides, without spaces"),
        ("no|", "needs a word on both sides, without spaces"),
        ("{no", "a brace that is not closed"),
    ],
)
def test_words_that_cannot_be_read_are_refused_with_what_to_write(say: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(complaint)):
        regex_of(say)


def test_several_plain_words_are_one_of_them() -> None:
    assert regex_of_any(["tool", "search engine[s]"]) == "tool|search engine(?:s)?"


@given(st.text("ab ()[]|2é.?*+\\^$", max_size=20))
def test_any_text_is_refused_or_gives_a_pattern_that_can_be_looked_for(say: str) -> None:
    try:
        regex = regex_of(say)
    except ValueError:
        return
    PatternSet([Pattern("x", regex)])
