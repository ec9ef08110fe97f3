"""Answers that take a part for the whole: a page for the list, its sum for the total.

    calls    list_orders returned 8 orders, `"pagination": {"has_more": true, "total_count": 200}`
    answer   There are 8 orders in total.

A result shows that it is a part by the `meta` of an envelope (`check_result` reads it), by the members of paging APIs
(`extent.toml`), or in words ("Showing 1-8 of 200"). An answer that says that something is not there is one of the
same sort, if the calls read only a part or no search worked. If a later call of the same tool fetched the rest, the
result no longer counts as a part. An answer that says in any words that there is more is never flagged. The words of
the answer are in `languages/<language>/extent.toml`.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from toolvet.core.checks.answer import FailureSignal, PartialCall
from toolvet.core.discover.toml import read_toml
from toolvet.core.json_value import count, elements, is_array, is_object, members, number
from toolvet.core.matching import Pattern, PatternSet
from toolvet.core.matching.pattern import Phrase, PhraseFile
from toolvet.core.matching.phrase_cache import kept_files
from toolvet.core.turn.ledger.outcome import CallOutcome, CallStatus, signal_of, written
from toolvet.core.turn.ledger.phrases import ADMITS, phrases

if TYPE_CHECKING:
    from toolvet.core.matching.phrasebook import PhraseSource

PART_AS_WHOLE: Final = "part_as_whole"
PART: Final = "part"
WHOLE: Final = "whole"
ABSENT: Final = "absent"
_WEIGHT: Final = 0.5
_DEEPEST: Final = 5
_MOST_VISITED: Final = 20_000
_LONGEST_WORDS: Final = 20_000
_LONGEST_ANSWER: Final = 50_000
_FEWEST: Final = 2
_STEM: Final = 4
_CENT: Final = 0.005
_CODE: Final = re.compile(r"[A-Z][A-Z0-9_]{1,60}(?=: )")
_LARGEST: Final = 1e300


class ExtentPhrase(Phrase, frozen=True, kw_only=True):
    """One entry of `extent.toml` of a language: the answer says that this is all, how much it is, or that more exists.

    A phrase of the kind `total` has a group `n`, the number; one of the kind `absent` may have a group `what`.
    """

    kind: Literal["whole", "total", "part", "absent"]


class ExtentFile(PhraseFile[ExtentPhrase], frozen=True, kw_only=True):
    """`extent.toml` of one language."""


class PartText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a result says in words that it is a part; with proofs."""

    match: str
    hits: tuple[str, ...]
    misses: tuple[str, ...]


class PartTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `extent.toml` beside this file."""

    more: frozenset[str]
    next: frozenset[str]
    totals: frozenset[str]
    doubtful_totals: frozenset[str]
    paging: frozenset[str]
    text: tuple[PartText, ...]


class PartialResult(msgspec.Struct, frozen=True):
    """A result that holds a part.

    It shows a part (`shown`, the lengths of its lists) of `total` items (None if unknown). `said` are the words by
    which it calls itself a part; `sums` are the totals of its columns.
    """

    tool: str
    shown: frozenset[int]
    total: int | None
    said: str
    sums: tuple[float, ...] = ()

    def quoted(self) -> str:
        """Return the result's statement about its part, for a reader."""
        most = max(self.shown, default=0)
        part = f"{most} of {self.total}" if self.total is not None and most else "a part"
        return f"{self.tool or 'a call'} returned {part} ({self.said})"


def overstated(text: str, outcomes: Sequence[CallOutcome]) -> list[FailureSignal]:
    """At most one signal: the answer calls a part the whole, or its count or sum the total."""
    read = text[:_LONGEST_ANSWER]
    # Most answers do not say how much there is: then no result is read.
    said = extent_phrases().scan(read) if outcomes else []
    kinds = {hit.id.partition("/")[0] for hit in said}
    if not kinds or PART in kinds:
        return []
    parts = partial_results(outcomes)
    failed = _blind(outcomes) if ABSENT in kinds and not parts else None
    for hit in said if parts or failed is not None else ():
        found = extent_phrases().search(hit.id, read, hit.start)
        if found is None:
            continue
        against = ""
        if hit.id.startswith(ABSENT):
            if failed is not None and not _reports_else(f"{read[: found.start()]}{read[found.end() :]}"):
                against = failed.quoted()
            elif parts and len(parts) == sum(each.ending is CallStatus.DONE for each in outcomes):
                against = (
                    parts[0].quoted()
                    if _is_of(
                        next(
                            (each for key, each in found.groupdict().items() if key.startswith("what") and each), None
                        ),
                        outcomes,
                    )
                    else ""
                )
        elif parts:
            part = parts[0] if hit.id.startswith(WHOLE) else _taken_for_total(found["n"], parts)
            against = "" if part is None else part.quoted()
        if against:
            return [signal_of(text, found.span(), PART_AS_WHOLE, _WEIGHT, against)]
    return []


def _blind(outcomes: Sequence[CallOutcome]) -> CallOutcome | None:
    """The last call, if all of them broke: a search that found nothing has worked."""
    return outcomes[-1] if all(each.failed and not each.rejected for each in outcomes) else None


def _reports_else(rest: str) -> bool:
    """Whether an answer says, beside that something is not there, that something did not work."""
    return any(hit.id.startswith(ADMITS) for hit in phrases().scan(rest))


def _is_of(what: str | None, outcomes: Sequence[CallOutcome]) -> bool:
    """Whether the calls list the thing that an answer calls absent: "no orders" after `list_orders`, not "no fees"."""
    return what is None or any(
        what[:_STEM].lower() in f"{each.call.name}{written(each.call.arguments)[:_LONGEST_WORDS]}".lower()
        for each in outcomes
    )


def _taken_for_total(written_number: str, parts: Sequence[PartialResult]) -> PartialResult | None:
    plain = written_number.strip(" ,.")
    values: set[float] = set()
    # With commas and points, the number may be 1,234.50 or 1.234,50.
    for group, point in ((",", "."), (".", ",")):
        with suppress(ValueError):
            values.add(float(plain.replace(group, "").replace(point, ".")))
    if any(part.total in values for part in parts):
        return None
    for part in parts:
        if values & part.shown or any(
            math.isclose(value, each, abs_tol=_CENT) for value in values for each in part.sums
        ):
            return part
    return None


def partial_results(outcomes: Sequence[CallOutcome]) -> list[PartialResult]:
    """The results of a turn that are a part, without those that a later call completed."""
    found: list[PartialResult] = []
    for place, outcome in enumerate(outcomes):
        if outcome.ending is not CallStatus.DONE:
            continue
        part = _part_of(outcome)
        if part is not None and not _completed(outcome, outcomes[place + 1 :]):
            found.append(part)
    return found


def cut_calls(outcomes: Sequence[CallOutcome]) -> tuple[PartialCall, ...]:
    """The calls whose envelopes say that they hold a part, without those that a later call completed."""
    found: list[PartialCall] = []
    for place, outcome in enumerate(outcomes):
        about = outcome.metadata
        if outcome.ending is not CallStatus.DONE or about is None or about.content_fidelity in (None, "full"):
            continue
        if not _completed(outcome, outcomes[place + 1 :]):
            codes = (match[0] for warning in about.warnings if (match := _CODE.match(warning)))
            found.append(
                PartialCall(
                    tool=outcome.call.name,
                    content_fidelity=about.content_fidelity or "",
                    warning_code=next(codes, None),
                )
            )
    return tuple(found)


def _completed(outcome: CallOutcome, later: Sequence[CallOutcome]) -> bool:
    if any(other.call.name == outcome.call.name and other.ending is CallStatus.DONE for other in later):
        return True
    dropped = outcome.metadata.dropped_content_ids[:_MOST_VISITED] if outcome.metadata is not None else ()
    if not dropped or not later:
        return False
    sent = "\n".join(written(other.call.arguments) for other in later)
    return any(id_ in sent for id_ in dropped)


def _part_of(outcome: CallOutcome) -> PartialResult | None:
    about = outcome.metadata
    walk = _PartWalk()
    payload = _payload(outcome)
    walk.read(payload)
    said, total = "", walk.total
    if about is not None:
        paging = about.pagination or {}
        warnings = elements(members(members(payload).get("meta")).get("warning_details"))
        # The warning of an envelope that content was left out, as `fit_response` writes it, has the count, too.
        warned = (members(members(each).get("context")).get("total_count") for each in warnings)
        stated = (*map(count, (paging.get("total_count"), *warned)), total)
        total = next((each for each in stated if each is not None), None)
        if about.content_fidelity not in (None, "full"):
            said = f"content_fidelity: {about.content_fidelity}"
        elif about.dropped_content_ids:
            said = f"{len(about.dropped_content_ids)} items were left out"
        elif paging.get("has_more") is True or (isinstance(paging.get("cursor"), str) and paging.get("cursor")):
            said = "pagination: there is a next page"
    said = said or walk.said or _said_in_words(outcome, walk)
    total = walk.total if total is None else total
    shown = frozenset(each for each in walk.shown if each >= _FEWEST)
    if not said and total is not None and shown and total > max(shown):
        said = f"there are {total}"
    if not said or (total is not None and total in shown):
        return None
    return PartialResult(outcome.call.name, shown, total, said, tuple(walk.sums()))


def _payload(outcome: CallOutcome) -> object:
    structured = members(outcome.response).get("structuredContent")
    if structured is not None:
        return structured
    found = [each for each in outcome.payloads if each is not None]
    return found[0] if len(found) == 1 else found


def _said_in_words(outcome: CallOutcome, walk: "_PartWalk") -> str:
    for text in outcome.texts[:_FEWEST]:
        ends = (text[:_LONGEST_WORDS], text[-_LONGEST_WORDS:]) if len(text) > _LONGEST_WORDS else (text,)
        for pattern in _texts():
            found = next((found for end in ends if (found := pattern.search(end)) is not None), None)
            if found is not None:
                numbers = found.groupdict()
                total, last = numbers.get("total"), numbers.get("last")
                walk.total = int(total.replace(",", "")) if total and walk.total is None else walk.total
                walk.shown |= {int(last.replace(",", ""))} if last else set()
                return " ".join(found[0].split())
    return ""


class _PartWalk:
    """Reads a payload for the lengths of its lists and for the sign of a next page."""

    def __init__(self) -> None:
        self.shown: set[int] = set()
        self.total: int | None = None
        self.said = ""
        self._rows: list[Sequence[object]] = []
        self._left = _MOST_VISITED

    def read(self, value: object, depth: int = 0) -> None:
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            return
        if is_array(value):
            if value:
                self.shown.add(len(value))
                if is_object(value[0]):
                    self._rows.append(value)
        elif is_object(value):
            self._read_members(value)
            for key, item in value.items():
                # The envelope's own metadata is not payload; `check_result` read it.
                if (is_object(item) or is_array(item)) and not (key == "meta" and "success" in value):
                    self.read(item, depth + 1)

    def sums(self) -> Iterator[float]:
        for rows in self._rows:
            totals: dict[str, float] = {}
            for row in rows[:_MOST_VISITED]:
                for key, value in members(row).items():
                    found = number(value)
                    if found is not None and abs(found) < _LARGEST:
                        totals[key] = totals.get(key, 0.0) + found
            yield from (total for total in totals.values() if math.isfinite(total) and total)

    def _read_members(self, body: Mapping[str, object]) -> None:
        table = part_table()
        plain = {str(name).lower().replace("_", "").replace("-", ""): value for name, value in body.items()}
        if not any(is_array(value) or is_object(value) for value in body.values()):
            # A record of its own: `truncated` and `total` are facts about it. Paging blocks say so by their names.
            plain = {name: value for name, value in plain.items() if name in table.next or name in table.totals} | (
                plain if len(table.paging & plain.keys()) >= _FEWEST else {}
            )
        for name, value in plain.items():
            goes_on = name in table.next and ((isinstance(value, str) and value.strip()) or number(value) is not None)
            if (name in table.more and value is True) or goes_on:
                self.said = self.said or f"{name}: {'true' if value is True else 'there is a next page'}"
            listed = count(value)
            if listed is not None and (
                name in table.totals or (name in table.doubtful_totals and not table.paging.isdisjoint(plain))
            ):
                self.total = listed if self.total is None else max(self.total, listed)


@cache
def part_table() -> PartTable:
    """How results say that they hold a part."""
    return read_toml("toolvet.core.turn.ledger", "extent.toml", PartTable)


@cache
def _texts() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(each.match, re.IGNORECASE) for each in part_table().text)


def read_sources(language: str | None = None) -> list["PhraseSource[ExtentFile]"]:
    """The extent files of all languages, or of one; raises `PhraseError` for one that cannot be used."""
    # A process that finds its phrases in the cache needs no reader of files.
    from toolvet.core.matching.phrasebook import read_languages  # noqa: PLC0415

    return read_languages(("extent.toml",), ExtentFile, language)


class ExtentPhrases:
    """The phrases of all languages: looked for in one scan, and one by one for their groups."""

    def __init__(self, files: Iterable[tuple[str, ExtentFile]]) -> None:
        self._matches = {
            f"{phrase.kind}/{language}:{place}": phrase.match
            for language, file in files
            for place, phrase in enumerate(file.phrase)
        }
        self.pattern_set = PatternSet((Pattern(name, match) for name, match in self._matches.items()), is_kept=True)
        self.scan = self.pattern_set.scan

    def search(self, name: str, text: str, start: int) -> re.Match[str] | None:
        """Look for one phrase again, for its groups."""
        # `re` keeps what it compiled.
        return re.compile(self._matches[name], re.IGNORECASE).search(text, start)


@cache
def extent_phrases() -> ExtentPhrases:
    """The phrases of every language; read for the first answer with calls."""
    return ExtentPhrases(kept_files("extent.toml", ExtentFile, __name__))
