"""Faults of a text that do not depend on its words: it is empty, broken off, a raw error, or the same over and over.

`ending.toml`, `finish.toml` and `raw_error.toml` have the marks by which they show, in any language.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache, cached_property
from typing import Final, Literal, NamedTuple, cast

import msgspec

from toolvet.core.checks.answer.ending_marks import EndingMarks, ending_marks
from toolvet.core.checks.answer.quality import FailureSignal, SignalType
from toolvet.core.discover.toml import read_toml

_DENSE = 3  # No answer is shorter, in characters, than a third of its length in letters of an alphabet.
# A long answer, or one of several whole sentences, has said most of what it had to say when it breaks off.
_LONG = 600
_SMALL_SHARE = 0.15
_LITTLE = 0.25
_CUT_WEIGHT = SignalType.INCOMPLETE_REASONING.weight
_KINDS = {
    "filtered": (SignalType.INCOMPLETE_REASONING, "filtered"),
    "refused": (SignalType.REFUSAL, "refused"),
    "unfinished": (SignalType.INCOMPLETE_REASONING, "unfinished"),
    "failed": (SignalType.TOOL_FAILURE, "generation"),
}


def shape_signals(text: str, min_length: int = 20, finish_reason: str | None = None) -> list[FailureSignal]:
    """The signals that the shape of `text`, and why the model stopped, give."""
    found: list[FailureSignal] = []
    stopped = None
    if finish_reason is not None:
        stopped = finish_kind(finish_reason)
        if stopped in _KINDS:
            kind, label = _KINDS[stopped]
            found.append(_signal(kind, f"{finish_reason}"[:40], kind.weight, None, label))
    # A text before a call may be short or empty, and ends in any way: "Let me look:".
    if stopped != "calling":
        if len(text) < _DENSE * min_length or len(text) < 200:
            said = length(text)
            if not said or said < min_length or not (len(text) > 200 or any(map(_means, text))):
                words = text.strip()
                label = "blank" if not said or not any(map(_means, words)) else "too_short"
                kind = SignalType.EMPTY_RESPONSE
                return [*found, _signal(kind, words, kind.weight, 0, label)]
        elif text.isspace():
            return [*found, _signal(SignalType.EMPTY_RESPONSE, "", SignalType.EMPTY_RESPONSE.weight, 0, "blank")]
        cut = _cut(text, reported=stopped == "cut", ended=stopped == "complete")
        if cut is not None:
            found.append(cut)
    raw = raw_error(text) if text else None
    if raw is not None:
        found.append(raw)
    again = repeated(text)
    if again is not None:
        found.append(again)
    return found


def length(text: str) -> int:
    """How long a text is in letters of an alphabet: a Chinese character says as much as three, kana, hangul as two."""
    stripped = text.strip()
    if stripped.isascii():
        return len(stripped)
    return sum(_says(character) for character in stripped)


def _says(character: str) -> int:
    if (
        "\u4e00" <= character <= "\u9fff"
        or "\u3400" <= character <= "\u4dbf"
        or "\U00020000" <= character <= "\U0003ffff"
    ):
        return 3
    if "\u3000" <= character <= "\u30ff" or "\uff00" <= character <= "\uffef" or "\uac00" <= character <= "\ud7a3":
        return 2
    # Zero-width characters and byte-order marks are nothing to read.
    return 0 if character.isspace() is False and unicodedata.category(character) in ("Cf", "Cc") else 1


def _means(character: str) -> bool:
    """Whether a character can say something alone: a letter, a digit, a symbol, an emoji."""
    return character.isalnum() or unicodedata.category(character) in ("So", "Sm", "Sc", "Mn", "Mc", "Lo", "Co", "Cn")


def _cut(text: str, *, reported: bool, ended: bool) -> FailureSignal | None:
    """The cut that the model's vendor reports, or that the text shows.

    A model that ended by itself may well leave out a full stop, so then only an end that cannot be meant counts.
    """
    found = break_off(text)
    if reported:
        end = len(text.rstrip())
        start = max(0, end - 40)
        return _signal(SignalType.INCOMPLETE_REASONING, text[start:end], _CUT_WEIGHT, start, "truncated")
    if found is None or (ended and found.strength == "weak"):
        return None
    little = found.strength == "weak" or found.end > _LONG or found.share < _SMALL_SHARE
    weight = _LITTLE if little and found.strength != "certain" else _CUT_WEIGHT
    return _signal(SignalType.INCOMPLETE_REASONING, text[found.start : found.end], weight, found.start, "truncated")


def _signal(kind: SignalType, evidence: str, weight: float, position: int | None, label: str) -> FailureSignal:
    return FailureSignal(type=kind, evidence=evidence, weight=weight, position=position, label=label, source="shape")


FinishKind = Literal["complete", "calling", "cut", "filtered", "refused", "unfinished", "failed"]

_SEPARATORS = re.compile(r"[\s-]+")


def finish_kind(reason: str | None) -> FinishKind | None:
    """Return what a vendor's finish reason means for the answer; None for no reason, or one not in `finish.toml`.

    An enum of a vendor's library works in its printed form: `FinishReason.MAX_TOKENS`.
    """
    if not reason:
        return None
    return _finish_kinds().get(plain_reason(reason))


def plain_reason(reason: str) -> str:
    """A reason as `finish.toml` writes it: `FinishReason.MAX_TOKENS` is `max_tokens`."""
    return _SEPARATORS.sub("_", f"{reason}".rpartition(".")[2].strip().lower())


class VendorReasons(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One vendor's reasons of one kind, and their proof: how the vendor spells each of them."""

    reasons: list[str]
    hits: list[str]


@cache
def finish_reasons() -> dict[FinishKind, dict[str, VendorReasons]]:
    """What `finish.toml` says: by kind, then by vendor."""
    return read_toml("toolvet.core.checks.answer", "finish.toml", dict[FinishKind, dict[str, VendorReasons]])


@cache
def _finish_kinds() -> dict[str, FinishKind]:
    return {
        reason: kind
        for kind, vendors in finish_reasons().items()
        for vendor in vendors.values()
        for reason in vendor.reasons
    }


_FENCE = "```"
_WINDOW = 6000  # Characters before the end that are looked at.
_SENTENCE = 600  # A longer one counts as so long.
_SHOWN_OF_BREAK = 40  # Characters before the break that are its evidence.
_BARE_ITEM = re.compile(r"\n[ \t>|]*(?:[-*•+▪◦]|\*{0,2}\d{1,3}[.)])[ \t]*\Z")
_BOUNDARY = re.compile(r"[.!?\u2026][\"'\u201d\u2019)*_]*\s+|[\u3002\uff01\uff1f\u0964\u06d4\u061f]|\n\s*")

# "Training is a U.S.": an abbreviation that stands for an adjective. "He lives in the U.S." is whole.
_ABBREVIATION = re.compile(r"(?:\A|[\s(])([^\W\d_][\w.]{0,5})\.\Z")
_ADJECTIVE = re.compile(r"\b(?:an?|every|each)(?: [a-z]+)? (?:[A-Z]\.){2,3}\Z")

Strength = Literal["certain", "strong", "weak"]
"""How sure a break is: code that stays open, a sentence that must go on, a mark that is missing."""


class Break(NamedTuple):
    """Where a text breaks off: its last words, and how sure that is.

    `share` is the part of the text that the broken sentence makes, 0 to 1.
    """

    start: int
    end: int
    strength: Strength
    share: float


def break_off(text: str) -> Break | None:
    """Where `text` breaks off, or None if it ends as texts do. Looks at 6000 characters, and counts fences."""
    known = ending_marks()
    end = len(text.rstrip())
    if not end:
        return None
    # To look for one character costs a twentieth of looking for three.
    if "`" in text and text.count(_FENCE) % 2:
        return _broken(text, end, "certain")
    last = text[end - 1]
    if last in ">]" and text.endswith(known.turn_ends, 0, end):
        return None
    if last in known.sentence_ends:
        # A number with a dot alone on the last line is the marker of an item that never came.
        if last == "." and (_BARE_ITEM.search(text, max(0, end - 20), end) or _is_abbreviated(text, end, known)):
            return _broken(text, end, "strong")
        # The last paragraph may open with a quotation mark and never close it.
        start = text.rfind("\n", 0, end) + 1
        if text[start] == '"':
            is_quoting = start > 0 and text.count('"', start, end) == 1
        else:
            is_quoting = text[start] == "“" and start > 0 and "”" not in text[start:end]
        return _broken(text, end, "weak") if is_quoting else None
    tail = text[max(0, end - _WINDOW) : end]
    # Only a text that ends without a mark pays for what knows all other ends.
    from toolvet.core.checks.answer.last_lines import LastLines  # noqa: PLC0415

    lines = LastLines(tail, known, is_all=end <= _WINDOW)
    if lines.are_whole():
        return None
    return _broken(text, end, "strong" if lines.must_go_on() else "weak")


def _is_abbreviated(text: str, end: int, known: EndingMarks) -> bool:
    """Whether the last full stop is that of an abbreviation that never ends a sentence: "e.g.", "Dr."."""
    match = _ABBREVIATION.search(text, max(0, end - 8), end)
    if match is None:
        return False
    if match[1].casefold() in known.abbreviations:
        return True
    # Only "U.S." has a full stop before its last letter.
    return text[end - 3 : end - 2] == "." and _ADJECTIVE.search(text[max(0, end - 40) : end]) is not None


def _broken(text: str, end: int, strength: Strength) -> Break:
    begin = max(0, end - _SENTENCE)
    for match in _BOUNDARY.finditer(text, begin, end - 1):
        begin = match.end()
    return Break(max(begin, end - _SHOWN_OF_BREAK), end, strength, (end - begin) / end)


RAW_ERROR: Final = "raw_error"
_LONGEST_JSON: Final = 20_000
_SHORT: Final = 600
_BEGINNING: Final = 1_000
_SHOWN_OF_ERROR: Final = 80
_OPENS: Final = ("<", "Traceback (")
_BLANKS: Final = " \t\r\n"


class RawErrorPattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How one kind of raw error begins; `hits` and `misses` are its proofs."""

    match: str
    hits: list[str]
    misses: list[str]
    at_most: int | None = None


class JsonErrorKeys(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys by which a JSON object is known as an error; `hits` and `misses` are their proofs."""

    errors: frozenset[str]
    states: frozenset[str]
    failed: str
    not_failed: str
    false: frozenset[str]
    true: frozenset[str]
    codes: frozenset[str]
    own: str
    hits: list[str]
    misses: list[str]


class RawErrorTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`raw_error.toml` as it is written."""

    explains: str
    error: list[RawErrorPattern]
    json: JsonErrorKeys


class RawErrors:
    """The table, ready to be asked. What only a few answers need is compiled for the first of them."""

    def __init__(self, table: RawErrorTable) -> None:
        self._table = table
        self.keys = table.json

    @cached_property
    def begins(self) -> list[tuple[re.Pattern[str], int]]:
        """How errors begin, and how long an answer may be that is one."""
        return [(re.compile(each.match), each.at_most or _LONGEST_JSON) for each in self._table.error]

    @cached_property
    def explains(self) -> re.Pattern[str]:
        """Words of an answer that explains an error."""
        return re.compile(self._table.explains, re.IGNORECASE)

    @cached_property
    def failed(self) -> re.Pattern[str]:
        """States that are failures."""
        return re.compile(self.keys.failed, re.IGNORECASE)

    @cached_property
    def not_failed(self) -> re.Pattern[str]:
        """States that do not count, whatever words they have."""
        return re.compile(self.keys.not_failed, re.IGNORECASE)

    @cached_property
    def own(self) -> re.Pattern[str]:
        """Keys of the assistant's own actions."""
        return re.compile(self.keys.own, re.IGNORECASE)


def raw_error_table() -> RawErrorTable:
    """Read the table with its proofs."""
    return read_toml("toolvet.core.checks.answer", "raw_error.toml", RawErrorTable)


@cache
def _raw_errors() -> RawErrors:
    return RawErrors(raw_error_table())


def raw_error(text: str) -> FailureSignal | None:
    """Return the signal of an answer that is nothing but an error, None for any other."""
    if len(text) > _SHORT and text[0] not in "{<T \n\t":
        return None
    start = len(text) - len(text.lstrip(_BLANKS))
    opening = text[start : start + 12]
    if opening.startswith("{"):
        if len(text) > _LONGEST_JSON:
            return None
        try:
            found: object = msgspec.json.decode(text.encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return None
        answer, own = _object(found), _raw_errors().own
        is_error = _is_error(answer) or any(own.search(key) and _is_error(_object(answer[key])) for key in answer)
        return _error_signal(text, start) if is_error else None
    if (len(text) > _SHORT and not opening.startswith(_OPENS)) or not opening[:1].isascii():
        return None
    beginning = text[start : start + _BEGINNING]
    known = _raw_errors()
    for pattern, at_most in known.begins:
        if len(text) <= at_most and pattern.match(beginning) is not None:
            return None if known.explains.search(beginning) is not None else _error_signal(text, start)
    return None


def _error_signal(text: str, start: int) -> FailureSignal:
    return FailureSignal(
        type=SignalType.TOOL_FAILURE,
        evidence=text[start : start + _SHOWN_OF_ERROR].rstrip(),
        weight=SignalType.TOOL_FAILURE.weight,
        position=start,
        context=text[start : start + 2 * _SHOWN_OF_ERROR],
        label=RAW_ERROR,
        source="shape",
    )


def _is_error(found: Mapping[str, object]) -> bool:
    known = _raw_errors()
    keys = known.keys
    for name, value in found.items():
        key = name.lower()
        # Under the key of an error, "none" is as good as null.
        is_none = isinstance(value, str) and value.strip().lower() in ("", "none", "null", "no", "false")
        if key in keys.errors and value and not is_none:
            return True
        if key in keys.states and isinstance(value, str):
            says_so = known.failed.search(value) is not None and known.not_failed.search(value) is None
        else:
            is_code = key in keys.codes and isinstance(value, int) and 400 <= value <= 599
            says_so = is_code or (key in keys.false and value is False) or (key in keys.true and value is True)
        if says_so:
            return True
    return False


def _object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


_TAIL = 800  # A model that loops does so until it is stopped, so the end of the text shows it.
_PROBE = 12
_TIMES = 5
_LONGEST_UNIT = 200
_SENTENCE_ENDS = ".!?\u3002\uff01\uff1f\u0964\u061f"
# A sentence said again and again is odd; the same words without even a sentence answer nothing.
_SENTENCES = 0.15


def repeated(text: str) -> FailureSignal | None:
    """The loop at the end of `text`: the same words at least five times in a row, three letters in them or more."""
    end = len(text.rstrip())
    begin = max(0, end - _TAIL)
    if text.count(text[max(0, end - _PROBE) : end], begin, end) < 2:
        return None
    tail = text[begin:end]
    unit = _unit(tail)
    if unit is None or sum(map(str.isalpha, unit)) < 3:
        return None
    start = end - _run(tail, len(unit))
    loops = not any(mark in unit for mark in _SENTENCE_ENDS)
    kind = SignalType.EMPTY_RESPONSE if loops else SignalType.INCOMPLETE_REASONING
    weight = kind.weight if loops else _SENTENCES
    return FailureSignal(
        type=kind,
        evidence=text[start : min(end, start + 2 * _LONGEST_UNIT)],
        weight=weight,
        position=start,
        label="repetition",
        source="shape",
    )


def _unit(tail: str) -> str | None:
    """The shortest words that the end of `tail` repeats five times."""
    probe = tail[-_PROBE:]
    at = tail.rfind(probe, 0, len(tail) - 1)
    while at >= 0:
        size = len(tail) - _PROBE - at
        if size > _LONGEST_UNIT:
            return None
        if _run(tail, size) >= _TIMES * size:
            return tail[-size:]
        at = tail.rfind(probe, 0, at + _PROBE - 1)
    return None


def _run(tail: str, size: int) -> int:
    """How many characters at the end of `tail` repeat with a period of `size`."""
    count = size
    while count < len(tail) and tail[-count - 1] == tail[-count - 1 + size]:
        count += 1
    return count
