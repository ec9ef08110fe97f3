"""Which words are not the author's own: each kind of mask, near misses, texts still being written, hostile texts."""
# ruff: noqa: RUF001 - Quotation marks are the subject.

import pytest
from hypothesis import given, strategies as st
from tests.examples import examples
from tests.steps import lines_run

from toolvet.core.prose import MaskKind, MaskState, masks
from toolvet.core.prose.frame import FrameKind, Frames, _frames


def masked(text: str) -> list[tuple[str, str]]:
    """The masked parts: (words, kind)."""
    return [(text[start:end], kind.value) for start, end, kind in masks(text).spans]


QUOTED = [
    ('He said "I cannot help" to me.', '"I cannot help"'),
    ("He said “I cannot help” to me.", "“I cannot help”"),
    ("Er sagte „ich kann nicht“ und ging.", "„ich kann nicht“"),
    ("Powiedział „nie mogę” i wyszedł.", "„nie mogę”"),
    ("Il dit « je ne peux pas » puis part.", "« je ne peux pas »"),
    ("Dijo «no puedo» y se fue.", "«no puedo»"),
    ("Han sagde »jeg kan ikke« og gik.", "»jeg kan ikke«"),
    ("Hän sanoi ”en voi” ja lähti.", "”en voi”"),
    ("Hän sanoi »en voi» ja lähti.", "»en voi»"),
    ("Он сказал «не могу» и ушёл.", "«не могу»"),
    ("He said ‘I can’t do it’ again.", "‘I can’t do it’"),
    ("He said 'I can't do it' again.", "'I can't do it'"),
    ("他说“我不能”就走了。", "“我不能”"),
    ('他说"我不能"就走了。', '"我不能"'),
    ("彼は「できません」と言った。", "「できません」"),
    ("彼は『できません』と言った。", "『できません』"),
    ("她看了《我不能》这本书。", "《我不能》"),
    ("הוא אמר ״אני לא יכול״ והלך.", "״אני לא יכול״"),
    ("„Er sagte ‚nein‘ zu mir“, so sie.", "„Er sagte ‚nein‘ zu mir“"),
    ("She wrote “he said ‘no’ twice” there.", "“he said ‘no’ twice”"),
]


@pytest.mark.parametrize(("text", "quotation"), QUOTED)
def test_a_quotation_is_masked_in_every_style(text: str, quotation: str) -> None:
    assert masked(text) == [(quotation, "quotation")]


@pytest.mark.parametrize(
    "text",
    [
        "I can't say what the users' rights aren't.",
        'It\'s 5" tall and 6" wide, I cannot say more.',
        "'Tis the season; I cannot help James' friends.",
        'He said "I cannot help.',
        "He said “I cannot help.",
        'One "open\n\nand closed" in the next paragraph.',
        "» not « quoted",
        'צה"ל אמר',
        "rock 'n roll isn't my friends' thing",
        "5' 10\" and 6' 2\"",
    ],
)
def test_an_apostrophe_or_a_mark_without_partner_masks_nothing(text: str) -> None:
    assert masked(text) == []


@pytest.mark.parametrize(
    "text",
    [
        '"I cannot help with that."',
        ' **"I cannot help with that."**\n',
        "“I cannot help with that”.",
        "「申し訳ありません」。",
        "```\nI cannot help with that.\n```",
        "~~~text\nI cannot help\nwith that.\n",
        "> I cannot help\n> with that.\n",
        "`I cannot help`",
        "2024-05-01 12:00:00 ERROR no\n2024-05-01 12:00:01 ERROR no\n",
    ],
)
def test_what_packs_the_whole_text_masks_nothing(text: str) -> None:
    assert masked(text) == []


def test_a_quotation_in_packaging_is_still_one() -> None:
    assert masked("“He said ‘I cannot help’ to me.”") == [("‘I cannot help’", "quotation")]


CODE = [
    ("Run:\n```sh\nI cannot\n```\nDone.", "```sh\nI cannot\n```\n"),
    ("Run:\n~~~\nI cannot\n```\n~~~\nDone.", "~~~\nI cannot\n```\n~~~\n"),
    ("Run:\n````\n```\nI cannot\n```\n````\nDone.", "````\n```\nI cannot\n```\n````\n"),
    ("1. Run:\n   ```\n   I cannot\n   ```\n2. Done.", "   ```\n   I cannot\n   ```\n"),
    ("Run:\n```\nI cannot", "```\nI cannot"),
    ("Run `I cannot` now.", "`I cannot`"),
    ("Run ``I `cannot` `` now.", "``I `cannot` ``"),
]


@pytest.mark.parametrize(("text", "code"), CODE)
def test_code_is_masked(text: str, code: str) -> None:
    assert masked(text) == [(code, "code")]


def test_a_backtick_without_partner_masks_nothing() -> None:
    assert masked("a ` b `` c\n\n` d") == []


def test_quotation_marks_inside_code_are_code() -> None:
    assert masked('Type `"` and say "no".') == [('`"`', "code"), ('"no"', "quotation")]


@pytest.mark.parametrize(
    "line",
    [
        "2024-05-01T12:00:01.123Z ERROR I cannot connect",
        "[2024-05-01 12:00:01] worker failed",
        "12:00:01,123 failed to connect",
        "May  1 12:00:01 host sshd[1]: failed",
        "[ERROR] I cannot connect",
        "ERROR:root:failed",
        "    at Object.open (node:fs:601:3)",
        "    at com.example.Main.run(Main.java:12)",
        '  File "/app/main.py", line 3, in run',
        "Traceback (most recent call last):",
        "$ curl http://example.com",
        ">>> open('x')",
        "user@host:~/src$ make",
    ],
)
def test_a_line_of_a_log_or_a_console_is_masked(line: str) -> None:
    assert masked(f"It printed this:\n\n{line}\n\nI fixed it.") == [(f"{line}\n", "log")]


@pytest.mark.parametrize(
    "line", ["Error: I cannot connect", "At 12:00 it failed.", "In 2024 I cannot.", "$5 is too much", "at home (by 5)"]
)
def test_a_sentence_about_a_log_is_not_masked(line: str) -> None:
    assert masked(f"It says:\n\n{line}\n\nI fixed it.") == []


def test_a_block_quote_is_masked_up_to_its_last_line() -> None:
    assert masked("As they said:\n> I cannot\n> help you.\nI agree.") == [("> I cannot\n> help you.\n", "block_quote")]


LETTER = "Dear Bob,\n\nI cannot come.\n\nBest regards,\nAnn\n"


def test_a_draft_is_masked_from_its_lead_in_to_its_sign_off() -> None:
    text = f"Here is a draft:\n\n{LETTER}\nI cannot send it for you."
    assert masked(text) == [(f"\n{LETTER}", "sample")]


def test_a_letter_without_lead_in_is_the_authors_own() -> None:
    assert masked(LETTER) == []


@pytest.mark.parametrize("end", ["Let me know if you want changes.", "---\nAnything else?"])
def test_a_poem_ends_where_the_author_speaks_again(end: str) -> None:
    poem = "The sea is wide,\nI cannot swim.\n\n"
    assert masked(f"Here is a poem about the sea:\n{poem}{end}") == [(poem, "sample")]


def test_a_lead_in_to_code_masks_the_code_alone() -> None:
    text = "Here is the script:\n\n```\nexit 1\n```\n\nI cannot run it."
    assert masked(text) == [("```\nexit 1\n```\n", "code")]


def test_a_story_is_masked() -> None:
    story = "Once upon a time a fox said no.\nI cannot swim, it thought.\n"
    assert masked(f"Sure!\n\n{story}") == [(story, "fiction")]


@pytest.mark.parametrize(
    "dialogue",
    [
        "ANNA: I can't.\nBEN: Why?\nANNA: I am sorry.\n",
        "**Anna:** I can't.\n\n**Ben:** Why?\n(He sits.)\n**Anna:** I am sorry.\n",
        "User: open it\nAssistant: I cannot open it.\n",
        "用户：打开\n助手：我无法打开。\n",
    ],
)
def test_a_dialogue_is_masked(dialogue: str) -> None:
    assert masked(f"So they talk.\n\n{dialogue}\nI hope that is it.") == [
        (dialogue.rstrip("\n") + "\n", "fiction"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Error: no file\nCause: a typo\nError: I cannot read it\nCause: rights\n",
        "Paris: 20 degrees\nRome: 25 degrees\n",
        "Note: I cannot.\nNote: I could not.\nNote: no.\n",
    ],
)
def test_labels_and_lists_are_no_dialogue(text: str) -> None:
    assert masked(text) == []


def test_an_action_between_asterisks_is_masked_and_emphasis_is_not() -> None:
    assert masked("*sighs and looks away* I can't.") == [("*sighs and looks away*", "fiction")]
    assert masked("I *really* cannot, and *I mean it*. **no** a*b*c") == []


def test_a_phrase_belongs_to_whom_its_first_character_belongs_to() -> None:
    text = 'I cannot say "yes" here.'
    found = masks(text)
    assert found.kind_at(0, 18) is None
    assert found.kind_at(13, 18) is MaskKind.QUOTATION
    assert found.kind_at(18, 23) is None
    assert found.kind_at(18, 18) is MaskKind.QUOTATION


PIECES = [
    *"\"'“”„«»‘’「」`*>",
    "```", "\n", "\n\n", "\r\n", "~~~\n", " ", "word ", "I can't ", "> ", "$ ls\n", "Here is a draft:\n", "---\n",
    "Once upon a time ", "Best regards,\n", "Ann: ", "Bob: ", "Let me know ", "*sighs* ", "[ERROR] ", "x" * 700,
]  # fmt: skip


@examples(300)
@given(st.lists(st.sampled_from(PIECES), max_size=40), st.lists(st.integers(1, 400), max_size=30))
def test_a_text_fed_in_chunks_has_the_masks_of_the_whole_text_at_every_point(parts: list[str], cuts: list[int]) -> None:
    text = "".join(parts)
    state = MaskState()
    at = 0
    for size in [*cuts, len(text)]:
        state.feed(text[at : at + size])
        at = min(at + size, len(text))
        assert state.masks().spans == masks(text[:at]).spans


@examples(300)
@given(st.lists(st.sampled_from(PIECES), max_size=40), st.lists(st.integers(0, 800), min_size=1, max_size=4))
def test_only_what_is_asked_for_is_read_and_says_the_same(parts: list[str], places: list[int]) -> None:
    text = "".join(parts)
    every = masks(text)
    asked = sorted(place for place in places if place < len(text))
    some = masks(text, asked)
    for place in asked:
        assert (some.kind_at(place, place + 1) is None) == (every.kind_at(place, place + 1) is None), (text, place)


@examples(200)
@given(st.lists(st.sampled_from(PIECES), max_size=40), st.integers(0, 800))
def test_what_is_settled_stays_whatever_comes(parts: list[str], cut: int) -> None:
    text = "".join(parts)
    state = MaskState()
    state.feed(text[:cut])
    every = masks(text)
    for place in range(min(state.settled_before(), len(text))):
        assert (state.settled().kind_at(place, place + 1) is None) == (every.kind_at(place, place + 1) is None), text


def test_a_mask_far_behind_what_is_asked_for_is_not_read() -> None:
    text = 'I can. He said "no".\n\nMore.\n\n' + 'She said "no", too.\n\n' * 100
    assert len(masks(text, [0]).spans) == 1
    assert len(masks(text).spans) == 101


@examples(200)
@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_masks_lie_within_the_text_and_those_of_a_kind_do_not_overlap(parts: list[str]) -> None:
    text = "".join(parts)
    reached: dict[MaskKind, int] = {}
    for start, end, kind in masks(text).spans:
        assert 0 <= start < end <= len(text)
        assert start >= reached.get(kind, 0)
        # An action may stand in a story; of every other kind only the outer mask is returned.
        if kind is not MaskKind.FICTION:
            reached[kind] = end


HOSTILE = ["“", "«»", "“”", '"', "'", "`", "` ", "`` ", "a", "*a ", "> ", ">", "\n", "```\n", "Ann: ", "\ud800"]


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_hostile_text_is_masked_in_linear_time(unit: str) -> None:
    text = unit * (10_000 // len(unit))
    assert lines_run(lambda: masks(text)) <= 40 * len(text) + 1_000
    # What runs outside of Python does not count here; it ends for a long text, too.
    masks(unit * (100_000 // len(unit)))


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_chunk_of_a_hostile_text_costs_no_more_than_a_paragraph(unit: str) -> None:
    state = MaskState()
    for _ in range(400):
        state.feed(unit * 20)
    least = lines_run(lambda: state.feed(unit * 20))
    for _ in range(800):
        state.feed(unit * 20)
    most = max(lines_run(lambda: state.feed(unit * 20)) for _ in range(20))
    assert most <= max(40 * 8_000, 2 * least)
    state.masks()


def test_nested_quotations_are_all_quotations() -> None:
    depth = 3_000
    assert masked("He said " + "“" * depth + "no" + "”" * depth) == [("“" * depth + "no" + "”" * depth, "quotation")]


KNOWN: Frames = _frames()


def test_every_kind_of_frame_is_known_in_at_least_25_languages() -> None:
    count = {kind: sum(frame.kind is kind for frame in KNOWN.frame) for kind in FrameKind}
    assert min(count.values()) >= 25


def test_an_entry_of_a_list_of_phrases_is_masked_with_its_translation() -> None:
    text = 'Here:\n1. "I can\'t help you." (Ich kann Ihnen nicht helfen.)\n2. "Hello." (Hallo.)'
    found = masks(text)
    for words in ("can't help", "nicht helfen", "Hallo"):
        at = text.index(words)
        assert found.kind_at(at, at + len(words)) is MaskKind.QUOTATION
    # Beside a quotation within a sentence, the author speaks.
    aside = 'He asked: "Can you help?" (I cannot help.)'
    at = aside.index("I cannot")
    assert masks(aside).kind_at(at, at + 8) is None
