"""How long a result may be, how it is shortened, and how the rest is read: at the borders."""

from typing import Any

import msgspec
import pytest

from toolvet.core.envelope.archive import ContentArchive
from toolvet.proxy.session.catalogue import ResultCache
from toolvet.proxy.session.fit import FitRoom, _share, fit_result
from toolvet.proxy.session.retrieval import _at, _found, _page, _places

# ── room ──


@pytest.mark.parametrize(
    ("fit", "room"),
    [
        (0, (0, False)),
        ("000 tokens", (0, False)),
        ("0 characters", (0, False)),
        ("many", (0, False)),
        (1, (600, True)),
        (200, (600, True)),
        (201, (603, True)),
        ("201 tokens", (603, True)),
        ("600 characters", (600, False)),
        ("599 characters", (600, False)),
        ("601 characters", (601, False)),
    ],
)
def test_room_is_read_from_the_policy(fit: int | str, room: tuple[int, bool]) -> None:
    assert FitRoom.of(fit) == room


@pytest.mark.parametrize(
    ("room", "text", "characters"),
    [
        (FitRoom(600, in_bytes=False), "ää", 600),
        (FitRoom(600, in_bytes=True), "", 600),
        (FitRoom(600, in_bytes=True), "ab", 600),
        (FitRoom(600, in_bytes=True), "ää", 300),
        (FitRoom(600, in_bytes=True), "aä", 400),
        (FitRoom(1, in_bytes=True), "ää", 1),
        (FitRoom(600, in_bytes=True), "ä" * 100_000 + "a" * 900_000, 300),
        (FitRoom(600, in_bytes=True), "\ud800", 200),
        (FitRoom(600, in_bytes=True), "漢字", 200),
        (FitRoom(600, in_bytes=True), "😀", 150),
    ],
)
def test_letters_have_room_by_their_bytes(room: FitRoom, text: str, characters: int) -> None:
    assert room.characters(text) == characters


@pytest.mark.parametrize(
    ("sizes", "room", "share"),
    [
        ([], 10, 10),
        ([10], 10, 10),
        ([11], 10, 10),
        ([9], 10, 10),
        ([5, 5], 10, 10),
        ([5, 6], 10, 5),
        ([6, 6], 10, 5),
        ([2, 20], 10, 8),
        ([20, 2, 3], 10, 5),
        ([1, 8, 9], 10, 4),
        ([3, 3, 3], 10, 10),
        ([4, 4, 4], 10, 3),
        ([1, 1, 1], 2, 0),
    ],
)
def test_short_texts_leave_their_room_to_the_others(sizes: list[int], room: int, share: int) -> None:
    assert _share(sizes, room) == share


def kept() -> ResultCache:
    return ResultCache(ContentArchive(max_bytes=1 << 20))


def fitted(result: object, size: int) -> tuple[bytes, dict[str, Any], tuple[str, ...]]:
    data = msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "result": result})
    found, changed = fit_result(data, FitRoom(size, in_bytes=False), None, kept(), "more")
    return data, msgspec.json.decode(found, type=dict[str, Any])["result"], changed


def test_an_answer_is_shortened_from_the_first_byte_beyond_its_room() -> None:
    long = {"content": [{"type": "text", "text": "word " * 300}]}
    short = {"content": [{"type": "text", "text": "word " * 10}]}
    size = len(fitted(long, 0)[0])
    for room in (0, size, 1_500):
        assert fitted(long, room)[1:] == (long, ())
    found, changed = fitted(long, 1_499)[1:]
    assert changed == ("content",)
    (note,) = found["_meta"]["dev.toolvet/fit"]
    assert (note["characters"], note["shown"]) == (1_500, len(found["content"][0]["text"]))
    assert fitted(short, 20)[2] == ("content",)
    assert fitted({"content": 7}, 5)[1:] == ({"content": 7}, ())


def test_texts_behind_one_that_stays_are_shortened_too() -> None:
    blocks = [
        {"type": "text", "text": "short"},
        {"type": "image", "data": "x" * 900},
        {"type": "resource", "resource": {"uri": "u", "text": "word " * 300}},
        {"type": "text", "text": "other " * 300},
    ]
    found, changed = fitted({"content": blocks, "_meta": {"a": 1}}, 1_000)[1:]
    assert changed == ("content",)
    shown = found["content"]
    assert shown[:2] == blocks[:2]
    assert (shown[2]["resource"]["uri"], len(shown[2]["resource"]["text"]) <= 497) == ("u", True)
    assert len(shown[3]["text"]) <= 497
    assert len(shown) == 6
    assert found["_meta"]["a"] == 1
    notes = found["_meta"]["dev.toolvet/fit"]
    assert [(note["characters"], note["id"] in said["text"]) for note, said in zip(notes, shown[4:], strict=True)] == [
        (1_500, True),
        (1_800, True),
    ]


# ── what was left out ──


@pytest.mark.parametrize(
    ("offset", "most", "blocks"),
    [
        (0, 4, ["0123", '[characters 0 to 3 of 10; go on with "offset": 4]']),
        (0, 10, ["0123456789", "[characters 0 to 9 of 10; this is the end]"]),
        (0, 9, ["012345678", '[characters 0 to 8 of 10; go on with "offset": 9]']),
        (8, 4, ["89", "[characters 8 to 9 of 10; this is the end]"]),
        (10, 4, ["[There are 10 characters; nothing is left after offset 10.]"]),
    ],
)
def test_a_page_says_where_it_stood(offset: int, most: int, blocks: list[str]) -> None:
    assert _page("0123456789", offset, most) == blocks


LONG = ("." * 999 + "x") * 25


def test_places_are_shown_as_long_as_there_is_room() -> None:
    # Each line has the place, the word and 300 characters on both sides of it.
    lines = [f"at {1000 * n + 999}: {'.' * 300}x{'.' * (0 if n == 24 else 300)}" for n in range(25)]

    def found(skipped: int, most: int) -> list[str]:
        return _found(LONG, "X", skipped, most)

    said = "[{} of 25 places{}. Read on at one with its number as offset.]"
    more = '; for the next: "offset": {}'
    two = len(lines[0]) + len(lines[1])
    assert found(0, two) == [*lines[:2], said.format(2, more.format(2))]
    assert found(0, two - 1) == [*lines[:1], said.format(1, more.format(1))]
    assert found(0, 199) == [lines[0][:200], said.format(1, more.format(1))]
    assert found(0, 250) == [lines[0][:250], said.format(1, more.format(1))]
    assert found(0, 1 << 20) == [*lines[:20], said.format(20, more.format(20))]
    assert found(20, 1 << 20) == [*lines[20:], said.format(5, "")]
    assert found(24, 5) == [lines[24][:200], said.format(1, "")]
    assert _found("abc", "y" * 101, 0, 9) == [
        f"[{'y' * 100!r} does not stand in the 3 characters. Try fewer or other words.]"
    ]


@pytest.mark.parametrize(
    ("text", "words", "places"),
    [
        ("Emma and emma", "EMMA", [0]),
        (f"Emma{' ' * 296}emma", "emma", [0, 300]),
        (f"Emma{' ' * 295}emma", "emma", [0]),
        ("İemma", "emma", [1]),
        ("İEmma", "emma", []),
        (f"red{' ' * 297}fox", "fox red", [300]),
        (f"red{' ' * 298}fox", "fox red", []),
        ("red fox", "fox hen", []),
        ("red fox", " ", [3]),
        ("redfox", " ", []),
    ],
)
def test_words_are_found_in_any_case_and_close_together(text: str, words: str, places: list[int]) -> None:
    assert _places(text, words) == places


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("", '{"a":[1,{"b/~":"x"}]}'),
        ("/a", '[1,{"b/~":"x"}]'),
        ("/a/0", "1"),
        ("/a/1/b~1~0", "x"),
        ("/a/2", None),
        ("/a/-1", None),
        ("/a/²", None),
        ("/a/0/0", None),
        ("/b", None),
    ],
)
def test_a_path_leads_to_a_part(path: str, part: str | None) -> None:
    assert _at('{"a": [1, {"b/~": "x"}]}', path) == part
