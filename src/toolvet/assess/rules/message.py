"""How much a tool's own words help a model that made a mistake: 0 to 100, with the words that earned each point.

A good refusal names the argument, says what came and what should have come, lists what is allowed, and says what to do.
A crash text is about the server's code and not about the model's mistake, and earns nothing. One refusal, scored:

    call       search(limit=500), and the schema says "maximum": 50
    refusal    "'limit' must be an integer between 1 and 50; received 500. Use a value from 1 to 50."

    part       earned by                               words      points (weights: message.toml)
    field      the argument's name                     limit      25
    received   the value; its type earns two thirds    500        15
    expected   a phrase that demands something         must be    25
    allowed    the limit, or most of an enum           50         15
    fix        a phrase that says what to do           Use a      20

    score      100 of the 100 that can be earned; "limit is wrong" earns 25, "Invalid input" nothing

Parts that cannot apply are left out of both sums: a missing argument has no value that could be received.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Final, Literal, TypeAlias, cast

import msgspec

from toolvet.assess.rules.ending import (
    ERRORS_IN_WORDS,
    Ending,
    ending,
    framework_of,
    is_bad,
    is_plain,
    mask_values,
    outage_of_call,
    verdict_of,
    words_of,
)
from toolvet.assess.rules.fault import Fault, fault_of
from toolvet.core.causes import State
from toolvet.core.discover import read_toml
from toolvet.core.json_value import members
from toolvet.core.tool_rules import ObservedCall

PartName: TypeAlias = Literal["field", "received", "expected", "allowed", "fix"]
Span: TypeAlias = tuple[int, int]
_ERRORS: Final = ERRORS_IN_WORDS | {Ending.WORDLESS}
_LONGEST_MESSAGE: Final = 8_000
# In front of a value that is too short to be there by chance, and behind it.
_FRAME: Final = (
    r"(?:(?:received|got|given|found|value|input_value|invalid|not|was|is)[ :=]{1,3}|[:=(] ?|[\"'`\u201c\u2018])"
)
_BOUND: Final = r"(?![\w.]*\w)(?! validation error)"
_SHORTEST_REFUSAL: Final = 12  # Characters of a refusal that is not in another one by chance.
# "Tool x is already registered", "wants the Pro plan": no argument is wrong.
_OF_THE_SERVER: Final = {State.CONFLICT, State.QUOTA, State.RATE_LIMITED, State.FEATURE_DISABLED}
_PLAIN_ENOUGH: Final = 4  # Characters of a value that is not in a text by chance.


class MessagePart(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a refusal should say: `points` of `most`, and the words that earned them with their spans."""

    name: PartName
    points: float
    most: int
    words: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()


class MessageScore(msgspec.Struct, frozen=True, kw_only=True):
    """The score (0-100) of one refusal, and how it came about. Parts that cannot apply are not listed."""

    score: int
    parts: tuple[MessagePart, ...] = ()
    crash: bool = False

    @property
    def missing(self) -> tuple[PartName, ...]:
        """The parts that earned nothing."""
        return tuple(part.name for part in self.parts if not part.points)


def score_message(text: str, call: ObservedCall) -> MessageScore:
    """How much `text`, the words of the error that answered `call`, helps to correct the call. Pure and total."""
    verdict = verdict_of(call)
    # A crash text, or a stack trace in any other.
    if verdict is not None and (verdict.state == "crash" or any(leak.kind == "stack_trace" for leak in verdict.leaks)):
        return MessageScore(score=0, crash=True)
    text = text[:_LONGEST_MESSAGE]
    fault = fault_of(call)
    patterns, weights = _load_patterns(), _load_patterns().weights
    parts = [_score_part("field", weights.field, _find_field(text, fault.field), text)] if fault.field else []
    if fault.received:
        spans = _find_value(text, fault)
        typed = () if spans else _find_first(patterns.received, text)
        # The type alone is two thirds: "received string" does not say which of the model's strings.
        share = 1.0 if spans else 2 / 3
        parts.append(_score_part("received", weights.received, spans or typed, text, share=share))
    parts.append(_score_part("expected", weights.expected, _find_first(patterns.expected, text), text))
    if fault.allowed:
        parts.append(_score_part("allowed", weights.allowed, _find_allowed(text, fault), text))
    parts.append(_score_part("fix", weights.fix, _find_first(patterns.fix, text), text))
    most = sum(part.most for part in parts)
    return MessageScore(score=round(100 * sum(part.points for part in parts) / most), parts=tuple(parts))


def tool_message_score(calls: Sequence[ObservedCall]) -> float | None:
    """The mean score (0-100) over the bad calls that an error answered; None when there are none."""
    scores = [score_message(words_of(call), call).score for call in answered_errors(calls)]
    return sum(scores) / len(scores) if scores else None


def answered_errors(calls: Sequence[ObservedCall]) -> Iterator[ObservedCall]:
    """The calls that were wrong (on purpose or not) and answered with an error about it, in words of the author."""
    valid = [call for call in calls if is_plain(call)]
    for call in calls:
        wrong = is_bad(call) or call.intended is not None
        if not wrong or ending(call) not in _ERRORS:
            continue
        # The author writes neither the words of a framework nor those about an outage.
        if outage_of_call(call) is not None or framework_of(call) is not None:
            continue
        if not _is_about_something_else(call) and not repeats_an_error(call, valid):
            yield call


def _is_about_something_else(call: ObservedCall) -> bool:
    """Whether a refusal ignores the fault and speaks of another argument: some tools look at their path or id first.

    An unknown argument that the schema allows is such a fault in any case unless the refusal names it.
    """
    words, fault = words_of(call)[:_LONGEST_MESSAGE], fault_of(call)
    if not words.strip() or _find_field(words, fault.field) or (fault.received and _find_value(words, fault)):
        return False
    if not is_bad(call) or ((verdict := verdict_of(call)) is not None and verdict.state in _OF_THE_SERVER):
        return True
    others = (value for name, value in members(call.arguments).items() if name != fault.field)
    return any(isinstance(value, str) and len(value) >= _PLAIN_ENOUGH and value in words for value in others)


def repeats_an_error(call: ObservedCall, valid: Sequence[ObservedCall]) -> bool:
    """Whether the answer has the words by which the same call without its fault was refused: "No session for 1".

    `valid` are the plain calls of the tool.
    """
    field, sent = fault_of(call).field, members(call.arguments)
    rest = {name: value for name, value in sent.items() if name != field}
    bases = [one for one in valid if {n: v for n, v in members(one.arguments).items() if n != field} == rest]
    if not bases or any(ending(base) not in ERRORS_IN_WORDS for base in bases):
        return False
    words = mask_values(words_of(call)[:_LONGEST_MESSAGE])
    said = (mask_values(words_of(base)[:_LONGEST_MESSAGE]).strip() for base in bases)
    return any(len(one) >= _SHORTEST_REFUSAL and one in words for one in said)


def _score_part(name: PartName, most: int, spans: tuple[Span, ...], text: str, share: float = 1.0) -> MessagePart:
    words = tuple(text[start:end].strip() for start, end in spans)
    return MessagePart(name=name, points=most * share if spans else 0, most=most, words=words, spans=spans)


def _find_first(patterns: Iterable[re.Pattern[str]], text: str) -> tuple[Span, ...]:
    for pattern in patterns:
        match = pattern.search(text)
        if match:
            return (match.span(),)
    return ()


def _find_field(text: str, field: str) -> tuple[Span, ...]:
    for pattern in field_patterns(field):
        match = pattern.search(text)
        if match:
            start = match[0].lower().find(field.lower())
            return ((match.start() + start, match.start() + start + len(field)),)
    return ()


@lru_cache(maxsize=512)
def field_patterns(name: str) -> tuple[re.Pattern[str], ...]:
    """Patterns for places that name the argument `name`; an everyday word counts in fewer places than a made-up one."""
    source = read_message_source().field
    escaped = re.escape(name[:100])
    # A name of several words ("repo_path") is not written by chance.
    if not name.isalpha() or name[1:] != name[1:].lower():
        return (re.compile(rf"(?<!\w){escaped}(?!\w)"), *_compile_frames(source.common, escaped, re.IGNORECASE))
    if name.lower() in source.everyday:
        return (
            re.compile(rf"(?<![Ee]rror )(?:{_compile_frames(source.common, escaped)[0].pattern})"),
            *_compile_frames(source.common[1:], escaped),
        )
    return (
        *_compile_frames(source.common, escaped, re.IGNORECASE),
        *_compile_frames(source.plain, escaped, re.IGNORECASE),
    )


def _compile_frames(frames: Iterable[str], name: str, flags: re.RegexFlag = re.NOFLAG) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(frame.replace("{name}", name), flags) for frame in frames)


def _find_value(text: str, fault: Fault) -> tuple[Span, ...]:
    for pattern in _patterns_of_value(fault.value):
        match = re.search(pattern, text)
        if match:
            return (match.span(),)
    return ()


def _patterns_of_value(value: object) -> Iterator[str]:
    """How the received value may be written: as JSON, as Python or JavaScript show it, and cut short."""
    match value:
        case str() if not value.strip():
            yield r"\"\s*\"|'\s*'|``|\b(?:empty|blank)\b"
        case str():
            start = re.escape(value[:24])
            framed = (
                rf"[\"'`\u201c\u2018]{start}" if len(value) < _PLAIN_ENOUGH or value.isalpha() else rf"(?<!\w){start}"
            )
            yield framed
            yield rf"(?:received|got|given|not found|not|unknown|invalid)[ :]{{1,2}}{start}"
        case bool() | None:
            words = {True: "[Tt]rue", False: "[Ff]alse", None: "None|null|undefined"}
            yield rf"{_FRAME}(?:{words[value]})\b"
        case int() | float() if abs(value) < 10**18:
            for form in dict.fromkeys(
                (str(value), f"{value:g}", str(int(value)) if value == value // 1 else str(value))
            ):
                bare = rf"(?<![\w.-]){re.escape(form)}{_BOUND}" if len(form) >= 2 + form.startswith("-") else None
                yield bare or rf"{_FRAME}{re.escape(form)}{_BOUND}"
        case dict() | list() | tuple():
            try:
                shown = (json.dumps(value), json.dumps(value, separators=(",", ":")), repr(cast("object", value)))
            except (TypeError, ValueError, RecursionError):
                return
            # An empty container is one that a message may well contain by chance.
            starts = [form[:12] if len(form) > 2 else f" {form}" for form in shown]
            yield from map(re.escape, dict.fromkeys(starts))
        case _:
            return


def _find_allowed(text: str, fault: Fault) -> tuple[Span, ...]:
    found: list[Span] = []
    for token in fault.allowed:
        match = re.search(rf"(?<![\w.-]){re.escape(token)}(?!\w|\.\d)", text)
        if match:
            found.append(match.span())
    needed = min(3, (len(fault.allowed) + 1) // 2)
    if len(found) >= needed:
        return tuple(found)
    if fault.nonempty:
        match = re.search(r"(?i)\b(?:non-?empty|not be (?:empty|blank)|at least one|empty|blank)\b", text)
        return (match.span(),) if match else ()
    return ()


class Weights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The points of each part; 100 together."""

    field: int
    received: int
    expected: int
    allowed: int
    fix: int


class _FieldSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    common: tuple[str, ...]
    plain: tuple[str, ...]
    everyday: frozenset[str]
    hits: tuple[str, ...]
    misses: tuple[str, ...]


class _ReceivedSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    types: tuple[str, ...]
    hits: tuple[str, ...]
    misses: tuple[str, ...]


class _PatternSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    patterns: tuple[str, ...]
    hits: tuple[str, ...]
    misses: tuple[str, ...]


class MessageSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`message.toml` as written, with the hits and misses of each part."""

    weights: Weights
    field: _FieldSource
    received: _ReceivedSource
    expected: _PatternSource
    fix: _PatternSource


class _Patterns(msgspec.Struct, frozen=True):
    weights: Weights
    received: tuple[re.Pattern[str], ...]
    expected: tuple[re.Pattern[str], ...]
    fix: tuple[re.Pattern[str], ...]


@cache
def read_message_source() -> MessageSource:
    """The patterns as they are written in the file."""
    return read_toml("toolvet.assess.rules", "message.toml", MessageSource)


@cache
def _load_patterns() -> _Patterns:
    source = read_message_source()
    return _Patterns(
        weights=source.weights,
        received=tuple(map(re.compile, source.received.types)),
        expected=tuple(map(re.compile, source.expected.patterns)),
        fix=tuple(map(re.compile, source.fix.patterns)),
    )
