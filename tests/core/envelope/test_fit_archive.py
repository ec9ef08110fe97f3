"""Omitted data can be retrieved, unchanged."""

from typing import Any

import pytest

from toolvet import (
    ArchiveError,
    ContentArchive,
    ContentDamagedError,
    ContentMissingError,
    EnvelopeError,
    Eviction,
    check_envelope,
    fit_response,
)
from toolvet.core.envelope import retrieve_content

NOWHERE = "sha256:" + "0" * 64


class Clock:
    """A clock that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_same_content_has_the_same_hash_and_is_kept_once() -> None:
    archive = ContentArchive()
    first = archive.put({"a": 1, "b": [2]})
    assert archive.put({"a": 1, "b": (2,)}) == first
    assert len(archive) == 1
    assert first in archive
    assert archive.get(first) == {"a": 1, "b": [2]}


def test_content_keeps_its_order() -> None:
    archive = ContentArchive()
    assert list(archive.get(archive.put({"b": 1, "a": 2}))) == ["b", "a"]


def test_what_is_given_out_is_a_copy() -> None:
    archive = ContentArchive()
    content = {"list": [1]}
    kept = archive.put(content)
    content["list"].append(2)
    archive.get(kept)["list"].append(3)
    assert archive.get(kept) == {"list": [1]}


def test_content_that_was_tampered_with_is_not_given_out_and_is_repaired_by_putting_it_again() -> None:
    archive = ContentArchive()
    kept = archive.put({"a": 1})
    archive._kept[kept] = (b'{"a":2}', 0.0)
    assert archive.verify() == (kept,)
    with pytest.raises(ContentDamagedError, match=kept):
        archive.get(kept)
    assert retrieve_content(archive, kept).data["error_code"] == "CONTENT_DAMAGED"
    archive.put({"a": 1})
    assert archive.get(kept) == {"a": 1}
    assert archive.verify() == ()


def test_content_is_forgotten_when_its_time_is_up() -> None:
    clock, gone = Clock(), list[Eviction]()
    archive = ContentArchive(ttl=10, clock=clock, on_evict=gone.append)
    old, young = archive.put("old"), archive.put("young")
    clock.now = 9
    archive.put("young")
    clock.now = 10
    assert old not in archive
    with pytest.raises(ContentMissingError):
        archive.get(old)
    assert archive.get(young) == "young"
    assert gone == [Eviction(old, 5, "expired")]
    clock.now = 19
    assert archive.sweep() == (Eviction(young, 7, "expired"),)
    assert archive.size == 0


def test_the_oldest_makes_room_and_is_named() -> None:
    gone: list[Eviction] = []
    archive = ContentArchive(max_bytes=10, on_evict=gone.append)
    first, second = archive.put("1234"), archive.put("ab")
    archive.put("1234")
    third = archive.put("xy")
    assert [each.content_hash for each in gone] == [second]
    assert gone[0].reason == "full"
    assert first in archive
    assert third in archive
    assert archive.size == 10
    with pytest.raises(ArchiveError, match="raise max_bytes"):
        archive.put("much too large")
    assert len(archive) == 2


@pytest.mark.parametrize(
    "options",
    [{"ttl": 5}, {"ttl": 0, "clock": Clock()}, {"ttl": True, "clock": Clock()}, {"max_bytes": 0}, {"name": " "}],
)
def test_limits_that_cannot_be_meant_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(EnvelopeError, match=r"^(ttl|max_bytes|name|clock) (must be|is missing)"):
        ContentArchive(**options)


def test_a_shortened_response_and_its_archive_make_the_whole() -> None:
    rows = [{"id": f"r{n}", "text": "x" * 40} for n in range(300)]
    archive = ContentArchive()
    fitted = fit_response({"rows": rows}, 2000, archive=archive)
    content_hash = fitted.meta["content_archive_hashes"]["archive"]
    found: dict[str, Any] = {row["id"]: row for row in fitted.data["rows"]}
    offset: int | None = 0
    while offset is not None:
        page = retrieve_content(archive, content_hash, offset=offset)
        assert check_envelope(page) == ()
        found.update(page.data["items"])
        cursor = page.meta["pagination"].get("cursor")
        offset = None if cursor is None else int(cursor)
    assert found == {row["id"]: row for row in rows}


def test_some_items_are_asked_for_by_their_ids() -> None:
    archive = ContentArchive()
    kept = archive.put({"items": {"a": 1, "b": 2, "c": 3}})
    page = retrieve_content(archive, kept, ids=["c", "a", "c", "zz"])
    assert page.data == {"items": {"c": 3, "a": 1}}
    assert page.meta["warning_details"][0]["context"] == {"unknown_ids": ["zz"]}
    assert page.meta["pagination"] == {"has_more": False, "total_count": 2}
    assert retrieve_content(archive, kept, ids=["zz"]).data["error_code"] == "CONTENT_NOT_FOUND"


def test_a_page_ends_with_its_budget_but_is_never_empty() -> None:
    archive = ContentArchive()
    kept = archive.put(["x" * 50] * 10)
    assert len(retrieve_content(archive, kept, budget=130).data["items"]) == 2
    assert list(retrieve_content(archive, kept, budget=1, offset=3).data["items"]) == ["3"]
    assert retrieve_content(archive, kept, offset=99).data["items"] == {}


def test_content_of_any_other_kind_comes_whole() -> None:
    archive = ContentArchive()
    assert retrieve_content(archive, archive.put("a text")).data == {"content": "a text"}


@pytest.mark.parametrize(
    ("content_hash", "options", "code"),
    [
        (NOWHERE, {}, "CONTENT_NOT_FOUND"),
        ("sha256:xyz", {}, "VALIDATION_ERROR"),
        (7, {}, "VALIDATION_ERROR"),
        (NOWHERE, {"offset": -1}, "VALIDATION_ERROR"),
        (NOWHERE, {"offset": True}, "VALIDATION_ERROR"),
        (NOWHERE, {"limit": 0}, "VALIDATION_ERROR"),
        (NOWHERE, {"ids": [1]}, "VALIDATION_ERROR"),
        (NOWHERE, {"ids": "a"}, "VALIDATION_ERROR"),
    ],
)
def test_questions_that_have_no_answer_are_failures(content_hash: Any, options: dict[str, Any], code: str) -> None:
    answer = retrieve_content(ContentArchive(), content_hash, **options)
    assert answer.data["error_code"] == code
    assert check_envelope(answer) == ()


def test_a_whole_number_beyond_every_float_comes_back() -> None:
    archive = ContentArchive()
    content_hash = archive.put({"items": {"a": 10**400}})
    assert archive.get(content_hash) == {"items": {"a": 10**400}}
    assert retrieve_content(archive, content_hash).data["items"] == {"a": 10**400}
