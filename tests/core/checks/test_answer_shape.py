"""Signals of a text's shape: empty, cut off, looping."""

# ruff: noqa: RUF001 - texts in many scripts

import pytest

from toolvet.core.checks.answer.ending_marks import ending_table
from toolvet.core.checks.answer.shape import break_off, finish_kind, finish_reasons, shape_signals

PARAGRAPH = (
    "The canton introduced the scheme in 2019. It was meant to reach small farms first. Three years later the "
    "figures looked different from what the authors had promised. "
)
LETTER = "Dear Ms Vogel,\n\nThank you for the parcel. It arrived on Tuesday.\n\n"
ITEMS = "You will need:\n\n- two eggs\n- a cup of flour\n- some milk\n"
SENTENCES = "The steps are:\n\n1. Open the lid.\n2. Take out the old filter.\n3. Rinse the case.\n"
VERSE = "The tide comes in with silver feet,\nThe lamps are lit along the street,\nThe gulls go home,\n"
TABLE = "| city | people |\n|---|---|\n| Basel | 178,000 |\n| Bern | 134,000 |"


def labels(text: str, finish_reason: str | None = None, min_length: int = 0) -> list[str | None]:
    return [signal.label for signal in shape_signals(text, min_length, finish_reason)]


WHOLE = {
    "a form of labels": f"{PARAGRAPH}\n\nPriority: High\nTeam: Field work\nLabels: survey, autumn, farms",
    "labels to fill in": "Please send:\n\n**Name:**\n**Street:**\n**Town:**",
    "a dialogue in quotation marks": f'"{PARAGRAPH}\n\nAnd so we waited for the tide. The boats are ready!"',
    "a height": f"{PARAGRAPH}\n- Ada: 5'4\"\n- Ben: 5'11\"",
    "an action in italics": f"{PARAGRAPH}Good night, and thank you all! *waves to the back row*",
    "a possessive": f"{PARAGRAPH}\n- the farm's\n- the farmers'",
    "a country at the end": f"{PARAGRAPH}She has lived for years in the U.S.",
    "a total in the last row": f"{PARAGRAPH}\n\n{TABLE}\n| Total | 312,000 |",
    "a price": f"{PARAGRAPH}The ticket costs\n\n$35",
    "a sentence": "The capital is Bern.",
    "a fact without a full stop": "University of Basel",
    "a number": "The total is 42.50",
    "a clause without a full stop": "the electron has a negative charge",
    "a question": "Would you like the long version?",
    "an emoji": f"{PARAGRAPH}Enjoy your trip! 🏔️",
    "a flag": f"{PARAGRAPH}See you in Bern 🇨🇭",
    "a list of words": f"{PARAGRAPH}{ITEMS}- a pinch of salt",
    "a list of sentences": f"{SENTENCES}4. Close the lid.",
    "a table": f"{PARAGRAPH}\n\n{TABLE}",
    "a code block": f"{PARAGRAPH}\n\n```python\nprint('hello')\n```",
    "code alone": "def area(width, height):\n    return width * height",
    "a link": f"{PARAGRAPH}The report is at https://example.org/reports/2022/final",
    "an address": f"{PARAGRAPH}Write to desk@example.org",
    "hashtags": f"{PARAGRAPH}#farming #switzerland",
    "a signature": f"{LETTER}Kind regards,\nJonas Frei",
    "a placeholder for a name": f"{LETTER}Sincerely,\n\n[Your Name]",
    "a verse": f"{VERSE}The harbour sleeps beneath the foam",
    "a quotation with its stop inside": 'She only said: "I will be there at nine."',
    "a bold last line": f"{PARAGRAPH}\n\n**End of report**",
    "a rule at the end": f"{PARAGRAPH}\n\n---",
    "a citation": f"{PARAGRAPH}Sources:\n- Federal statistics (2021)\n- Farm survey (2022)",
    "a form": "Please send:\n\n- Name:\n- Street:\n- Town:",
    "HTML": "<html>\n<body>\n<p>Hello</p>\n</body>\n</html>",
    "JSON": '{"city": "Bern", "people": 134000}',
    "Chinese": "首都是伯尔尼。",
    "Chinese without a stop": "伯尔尼",
    "Japanese": "スイスの首都はベルンです",
    "Korean without a stop": "스위스의 수도는 베른입니다. 인구는 약 13만 명이에요",
    "Arabic": "عاصمة سويسرا هي برن. هل تريد المزيد؟",
    "Hindi": "स्विट्ज़रलैंड की राजधानी बर्न है।",
    "Thai has no full stops": "เมืองหลวงของสวิตเซอร์แลนด์คือกรุงเบิร์น เมืองนี้มีประชากรประมาณหนึ่งแสนสามหมื่นคน",
    "Greek question": "Η πρωτεύουσα είναι η Βέρνη. Θέλετε περισσότερα;",
    "Armenian": "Բեռնը Շվեյցարիայի մայրաքաղաքն է։",
    "Burmese": "ဘန်းမြို့သည် ဆွစ်ဇာလန်၏ မြို့တော်ဖြစ်သည်။",
    "Amharic": "በርን የስዊዘርላንድ ዋና ከተማ ናት።",
    "an ellipsis": "And so it goes on and on...",
}
CUT = {
    "a row with too few cells": f"{PARAGRAPH}\n\n{TABLE}\n| Chur |",
    "a row without cells": f"{PARAGRAPH}\n\n{TABLE}\n|",
    "a table without rows": f"{PARAGRAPH}\n\n| city | people |\n|---|---|",
    "a label in bold": "**City:** Bern\n**Canton:** Bern\n**People:**",
    "a label": "City: Bern\nCanton: Bern\nPeople:",
    "a number without its dot": "1. Open the lid.\n2. Take out the filter.\n3",
    "a bullet": f"{PARAGRAPH}{ITEMS}-",
    "an article as an item": "1. Be early.\n2. Bring water.\n3. A",
    "the beginning of a word": f"{PARAGRAPH}\n- schnitzel\n- schnapps\n- schn",
    "two consonants": f"{PARAGRAPH}\n- veal slices\n- butter\n- veal sl",
    "an open quotation": f'{PARAGRAPH}The clerk asked: "What would you',
    "a mark that opens a quotation": f'{PARAGRAPH}She asked, "Where?" or "',
    "a quotation that ends with a stop": f'{PARAGRAPH}\n"The figures are stark. No one expected them.',
    "a contraction": f"{PARAGRAPH}It was the customer'",
    "an open formula": f"{PARAGRAPH}$d = \\sqrt{{(10 - 2)^2 + (4",
    "an adjective of letters": f"{PARAGRAPH}It is a central U.S.",
    "an abbreviation": f"{PARAGRAPH}They keep cattle, e.g.",
    "an object": '{"city": "Bern", "canton": "Be',
    "a page": "<html><body><p>Hello",
    "a verse among verses with commas": f"{VERSE}The nets are dry,\nThe sails are furled,\nThe quay is still,\n"
    "and no one in the",
    "in a sentence": f"{PARAGRAPH}The second report, published in spring, was more",
    "in a word": f"{PARAGRAPH}The second report, published in spring, was more cauti",
    "after a comma": f"{PARAGRAPH}The second report was cautious,",
    "after an article": "Step 1: open the file. Step 2: read the",
    "after a colon": f"{PARAGRAPH}The reasons are the following:",
    "in a bracket": f"{PARAGRAPH}The second report (which came out in",
    "in bold": f"{PARAGRAPH}\n\n**Second repo",
    "after a heading": f"{PARAGRAPH}\n\n## Results",
    "in a list of sentences": f"{SENTENCES}4. Close the",
    "before an item": f"{SENTENCES}4.",
    "in a table": f"{PARAGRAPH}\n\n{TABLE}\n| Zürich | 4",
    "in a code block": f"{PARAGRAPH}\n\n```python\nfor line in file:\n    print(line)",
    "German": "Der Bericht erschien im Frühling. Er war vorsichtiger als der",
    "French": "Le rapport a été publié au printemps. Il était plus prudent que le",
    "Spanish": "El informe se publicó en primavera. Era más prudente que el",
    "Russian": "Отчёт вышел весной. Он был осторожнее, потому что",
    "Chinese": "报告于春季发布。它比之前的",
    "Japanese": "報告書は春に発表されました。それは以前の",
    "Korean": "보고서는 봄에 발표되었습니다. 그것은 이전의",
    "Turkish": "Rapor ilkbaharda yayımlandı. Öncekinden daha temkinliydi, çünkü",
}


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE.keys())
def test_a_text_that_ends_as_such_texts_end_is_whole(text: str) -> None:
    assert labels(text) == []


@pytest.mark.parametrize("token", ["<|im_end|>", "<|eot_id|>", "</s>", "<end_of_turn>"])
def test_the_token_that_ends_a_turn_ends_a_text(token: str) -> None:
    half = "The museum opens at nine, and it closes on weekdays at six, and on Sundays at the"
    assert [each.label for each in shape_signals(half)] == ["truncated"]
    assert shape_signals(f"{half}{token}\n") == []


@pytest.mark.parametrize("text", CUT.values(), ids=CUT.keys())
def test_a_text_that_breaks_off_is_cut(text: str) -> None:
    assert labels(text) == ["truncated"]


def test_the_evidence_of_a_cut_is_the_last_words() -> None:
    (signal,) = shape_signals("Step 1: open the file. Step 2: read the")
    assert signal.evidence == "Step 2: read the"
    assert signal.position == 23


def test_a_long_answer_loses_less_by_a_cut_than_a_short_one() -> None:
    short, long = (shape_signals(text)[0].weight for text in (CUT["after an article"], PARAGRAPH * 9 + "This is the"))
    assert short == 0.5
    assert long == 0.25


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("stop", "complete"),
        ("end_turn", "complete"),
        ("length", "cut"),
        ("MAX_TOKENS", "cut"),
        ("FinishReason.MAX_TOKENS", "cut"),
        ("max_output_tokens", "cut"),
        ("model_length", "cut"),
        ("content_filter", "filtered"),
        ("SAFETY", "filtered"),
        ("RECITATION", "filtered"),
        ("guardrail_intervened", "filtered"),
        ("ERROR_TOXIC", "filtered"),
        ("refusal", "refused"),
        ("tool_calls", "calling"),
        ("tool_use", "calling"),
        ("pause_turn", "unfinished"),
        ("MALFORMED_FUNCTION_CALL", "failed"),
        ("a reason of tomorrow", None),
        ("", None),
        (None, None),
    ],
)
def test_a_finish_reason_is_known_in_the_words_of_its_vendor(reason: str | None, kind: str | None) -> None:
    assert finish_kind(reason) == kind


@pytest.mark.parametrize(
    ("kind", "hit"),
    [(kind, hit) for kind, vendors in finish_reasons().items() for vendor in vendors.values() for hit in vendor.hits],
)
def test_a_finish_reason_is_known_as_its_vendor_spells_it(kind: str, hit: str) -> None:
    assert finish_kind(hit) == kind


ENDINGS = ending_table()


@pytest.mark.parametrize("text", [text for texts in ENDINGS.hits.values() for text in texts])
def test_a_sentence_that_ends_in_a_dangling_word_must_go_on(text: str) -> None:
    found = break_off(text)
    assert found is not None
    assert found.strength == "strong"


@pytest.mark.parametrize("text", [text for texts in ENDINGS.misses.values() for text in texts])
def test_a_sentence_that_only_lacks_its_mark_need_not_go_on(text: str) -> None:
    found = break_off(text)
    assert found is None or found.strength == "weak"


def test_a_reported_cut_counts_whatever_the_text_looks_like() -> None:
    (signal,) = shape_signals("The capital of Switzerland is Bern.", 20, "length")
    assert (signal.label, signal.weight) == ("truncated", 0.5)


def test_a_model_that_ended_by_itself_may_leave_out_its_full_stop_but_not_half_a_sentence() -> None:
    unstopped = f"{PARAGRAPH}The second report, published in spring, was cautious"
    assert labels(unstopped) == ["truncated"]
    assert labels(unstopped, "stop") == []
    assert labels(CUT["after an article"], "stop") == ["truncated"]


def test_a_filtered_a_refused_and_a_failed_answer_are_told_apart() -> None:
    text = "The capital of Switzerland is Bern."
    found = [shape_signals(text, 20, reason)[0] for reason in ("content_filter", "refusal", "error", "pause_turn")]
    assert [(signal.type.value, signal.label) for signal in found] == [
        ("incomplete_reasoning", "filtered"),
        ("refusal", "refused"),
        ("tool_failure", "generation"),
        ("incomplete_reasoning", "unfinished"),
    ]


@pytest.mark.parametrize("text", ["", " ", "\n\t \n", "\u200b\u200b", "\ufeff", " " * 10_000, "…", "..."])
def test_a_text_without_anything_to_read_is_blank_even_without_a_minimum(text: str) -> None:
    assert labels(text) == ["blank"]


@pytest.mark.parametrize(
    ("text", "minimum", "expected"),
    [
        ("42", 20, ["too_short"]),
        ("42", 1, []),
        ("👍", 1, []),
        ("Yes, that is so.", 20, ["too_short"]),
        ("答案是四十二。", 20, []),
        ("好的。", 20, ["too_short"]),
        ("네, 맞습니다.", 20, ["too_short"]),
        ("This is a short response.", 50, ["too_short"]),
    ],
)
def test_how_long_an_answer_must_be_depends_on_its_script(text: str, minimum: int, expected: list[str]) -> None:
    assert labels(text, min_length=minimum) == expected


def test_words_in_a_loop_are_no_answer() -> None:
    found = shape_signals("It can cause irritation, " + "it can cause irritation, " * 8 + "it can cause")
    assert [(signal.type.value, signal.label) for signal in found] == [
        ("incomplete_reasoning", "truncated"),
        ("empty_response", "repetition"),
    ]


def test_a_sentence_in_a_loop_is_odd_but_an_answer() -> None:
    (signal,) = shape_signals("Valid content. " * 100)
    assert (signal.label, signal.weight) == ("repetition", 0.15)


@pytest.mark.parametrize(
    "text",
    [
        "1, 2, 3, 4, 5, 6, 7, 8, 9, 10.",
        "Row row row your boat.",
        f"{PARAGRAPH}{'=' * 60}.",
        f"{TABLE}\n" + "| 1 | 1 |\n" * 9,
    ],
)
def test_what_repeats_by_its_nature_is_no_loop(text: str) -> None:
    assert labels(text) == []


@pytest.mark.parametrize("unit", ["a", '"', "```\n", "(", "- ", "**", "\ud800", "«", "| ", "\n", "1. "])
def test_any_text_of_any_length_gets_a_verdict(unit: str) -> None:
    assert isinstance(shape_signals(unit * 1_000_000), list)
