"""Words as people write them in many scripts: case, accents, invisible characters, and where a word ends."""
# ruff: noqa: RUF001 - Look-alikes are the subject.

import unicodedata

import pytest

from toolvet.core.matching import Pattern, PatternSet
from toolvet.core.matching.letters import Script, forms_of, letters, normalize_text, script_of

FOUND = [
    # German, French, Portuguese, Vietnamese
    (r"\bich kann\b.{0,30}\bnicht\b", "ICH KANN DAS NICHT", "ICH KANN DAS NICHT"),
    (r"\bgroß\b", "GROSS", "GROSS"),
    (r"\bgroß\b", "GROẞ", "GROẞ"),
    (r"\bje ne peux pas\b", "Désolé, je ne peux pas.", "je ne peux pas"),
    (r"\bcafé\b", "un cafe\u0301 noir", "cafe\u0301"),
    (r"\bnão posso\b", "NÃO POSSO!", "NÃO POSSO"),
    (r"\bnão posso\b", "na\u0303o posso", "na\u0303o posso"),
    (r"\bkhông thể\b", unicodedata.normalize("NFD", "Tôi không thể."), unicodedata.normalize("NFD", "không thể")),
    (r"\bœuvre\b", "une oeuvre", "oeuvre"),
    (r"\bîn țară\b", "în ţară", "în ţară"),
    # Russian, Greek
    (r"\bне могу\b", "Я НЕ МОГУ.", "НЕ МОГУ"),
    (r"\bне могу\b", "не могу\u0301", "не могу\u0301"),
    (r"\bещё\b", "еще раз", "еще"),
    (r"[а-яё]+ ошибка", "Внутренняя ОШИБКА", "Внутренняя ОШИБКА"),
    (r"\w+ ошибка", "Внутренняя ОШИБКА", "Внутренняя ОШИБКА"),
    (r"\bδεν μπορώ\b", "ΔΕΝ ΜΠΟΡΩ", "ΔΕΝ ΜΠΟΡΩ"),
    (r"\bλόγος\b", "ΛΟΓΟΣ", "ΛΟΓΟΣ"),
    # Turkish
    (r"\bbilmiyorum\b", "BİLMİYORUM", "BİLMİYORUM"),
    (r"\bbilmiyorum\b", "bi\u0307lmi\u0307yorum", "bi\u0307lmi\u0307yorum"),
    (r"\byapamıyorum\b", "BUNU YAPAMIYORUM", "YAPAMIYORUM"),
    # Arabic, Persian, Hebrew
    (r"لا أستطيع", "لا استطيع", "لا استطيع"),
    (r"لا أستطيع", "لا أَسْتَطِيع", "لا أَسْتَطِيع"),
    (r"لا أستطيع", "لا أســتطيع", "لا أســتطيع"),
    (r"نمی\u200cتوانم", "من نمي\u200cتوانم", "نمي\u200cتوانم"),
    (r"נמצא", "נִמְצָא", "נִמְצָא"),
    # Hindi
    (r"\bमैं\b.{0,20}\bनहीं\b", "मैं यह नहीं कर सकता", "मैं यह नहीं"),
    (r"ज़रूर", "जरूर", "जरूर"),
    (r"सड़क", "स\u095cक", "स\u095cक"),
    # Chinese, Japanese, Korean, Thai
    (r"抱歉，我(?:不能|无法)", "很抱歉,我无法回答", "抱歉,我无法"),
    (r"抱歉,我(?:不能|无法)", "很抱歉，我无法回答", "抱歉，我无法"),
    (r"[，,]我\b", "抱歉，我不能", "，我"),
    (r"申し訳(?:ありません|ございません)", "大変申し訳ございません。", "申し訳ございません"),
    (r"エラー", "ｴﾗｰが出た", "ｴﾗｰ"),
    (r"가격", unicodedata.normalize("NFD", "가격은"), unicodedata.normalize("NFD", "가격")),
    (r"\bAPI\b", "이 API를 호출", "API"),
    (r"\b죄송합니다", "API죄송합니다만", "죄송합니다"),
    (r"\bขอโทษ\b", "ผมขอโทษครับ", "ขอโทษ"),
    (r"\bnot found\b", "用户not found。", "not found"),
    # Forms of Latin letters, and what cannot be seen
    (r"\bfile\b", "the ﬁle is", "ﬁle"),
    (r"\bnot found\b", "ｎｏｔ　ｆｏｕｎｄ", "ｎｏｔ　ｆｏｕｎｄ"),
    (r"\bI can't\b", "𝐈 𝐜𝐚𝐧’𝐭", "𝐈 𝐜𝐚𝐧’𝐭"),
    (r"\bcannot\b", "I can\u00adnot", "can\u00adnot"),
    (r"\bcannot\b", "I \u200bcan\u200b\u200dnot\u200b!", "can\u200b\u200dnot"),
]
LEFT_ALONE = [
    (r"\bне могу\b", "немогу, не могут"),
    (r"\bnão posso\b", "não possoé"),
    (r"\bnot found\b", "énot found"),
    (r"\bété\b", "répété"),
    (r"\bमैं\b", "मैंने कहा"),
    (r"\b못해요", "잘못해요"),
    (r"\bI can't\b", "ı can't"),
    (r"\bbilmiyorum\b", "bılmıyorum"),
    (r"\byapamıyorum\b", "yapamiyorum"),
    (r"\bfoo\B", "foo bar foo"),
    (r"café", "cafe"),
    (r"\bresume\b", "résumé"),
]


@pytest.mark.parametrize(("regex", "text", "words"), FOUND)
def test_a_phrase_is_found_however_its_letters_are_written(regex: str, text: str, words: str) -> None:
    [hit] = PatternSet([Pattern("x", regex)]).scan(text)
    assert text[hit.start : hit.end] == words


@pytest.mark.parametrize(("regex", "text"), LEFT_ALONE)
def test_another_word_is_left_alone(regex: str, text: str) -> None:
    assert PatternSet([Pattern("x", regex)]).scan(text) == []


def test_a_case_sensitive_phrase_takes_letters_as_they_are() -> None:
    assert PatternSet([Pattern("x", "(?-i:é|ё|ß)")]).scan("É е Ё SS ẞ") == []
    assert len(PatternSet([Pattern("x", "(?-i:é|ё|ß)")]).scan("é ё ß")) == 3


def test_every_mark_of_unicode_belongs_to_a_word() -> None:
    marks = (chr(code) for code in range(0x300, 0x10000) if unicodedata.category(chr(code)) in {"Mn", "Mc"})
    assert [mark for mark in marks if script_of(mark) is Script.NONE] == []


def test_letters_and_digits_of_every_script_make_words_and_nothing_else_does() -> None:
    for code in range(0x30000):
        character = chr(code)
        if character.isalnum():
            assert script_of(character) is not Script.NONE, hex(code)
        elif unicodedata.category(character)[0] in "ZPS" and script_of(character) is Script.SPACED:
            assert character == "_", hex(code)


def test_a_variant_is_another_form_of_the_letter() -> None:
    for letter, variants in letters().variants.items():
        assert letter not in variants
        assert set(variants) <= {form.casefold() for form in forms_of(letter)} | set(forms_of(letter))


@pytest.mark.parametrize("text", ["", "plain", "e\u0301", "\u200b", "a\u200b", "\u200ba", "ﬁx ﬁ", "é\u200be\u0301x"])
def test_each_place_leads_back_to_where_it_stood(text: str) -> None:
    settled, places = normalize_text(text)
    reached = 0
    for place in range(len(settled)):
        assert reached <= places.start(place) < places.end(place + 1) <= len(text)
        reached = places.start(place)
