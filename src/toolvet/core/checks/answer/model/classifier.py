"""`judge`: asks the learned model about a text, and returns what it is sure enough of; with the model and its features.

The model sees hashed n-grams of a text's first and last words, and their places. A refusal opens an answer or closes
it, so only the two ends are read: the cost is the same for a line and for a book. Words count in scripts that put
spaces between them, characters in those that don't (Chinese, Japanese, Thai, …) and in Korean, whose endings carry what
matters. Each n-gram counts twice near an end: once for itself, once for itself in that place.
"""

import math
import re
import sys
from collections.abc import Sequence
from functools import cache, cached_property
from hashlib import sha256
from typing import Literal
from zlib import crc32

import msgspec

from toolvet.core.checks.answer.quality import SignalType
from toolvet.core.decodable import decodable
from toolvet.core.discover import data_file
from toolvet.errors import ConfigError

_PACKAGE = "toolvet.core.checks.answer.model"
_SHOWN = 200  # Characters of evidence at most.
_SENTENCE = re.compile(r"[^.!?。\uff01\uff1f।؟\n]+[.!?。\uff01\uff1f।؟]*")

Label = Literal["refusal", "incapable", "tool_failure", "evasive"]

# What each label is called outside. An answer that says what its speaker has no access to is not a refusal: it would
# have answered. Evasion shows in what is missing, and weighs like a hedge.
_TYPES: dict[Label, SignalType] = {
    "refusal": SignalType.REFUSAL,
    "incapable": SignalType.LOW_CONFIDENCE,
    "tool_failure": SignalType.TOOL_FAILURE,
    "evasive": SignalType.LOW_CONFIDENCE,
}


class ModelJudgement(msgspec.Struct, frozen=True, kw_only=True):
    """A label that the model gives a text.

    `probability` (0 to 1) is calibrated on texts from sources that the model had not seen. `weight` is the cost of the
    signal: the type's weight times the probability. `evidence` is the strongest sentence (at most 200 characters), and
    `position` its start in the original text. `model` is the name of the model.
    """

    type: SignalType
    label: Label
    probability: float
    weight: float
    evidence: str
    position: int
    model: str


class LabelHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What turns the sum of a label's weights into a probability.

    The score is `bias + scale * sum / sqrt(features)`; the probability is the logistic of `slope * score + offset`,
    fitted on texts from sources that were left out. Below `threshold` the label is not reported; above 1 it never is.
    """

    label: Label
    bias: float
    scale: float
    slope: float
    offset: float
    threshold: float


class Model:
    """Scores for features; immutable once built, and safe to share between threads."""

    def __init__(self, heads: Sequence[LabelHead], planes: Sequence[bytes]) -> None:
        """Of one plane of bytes for each head."""
        if tuple(head.label for head in heads) != LABELS or any(len(plane) != SLOTS for plane in planes):
            raise ValueError("an answer model needs one plane of weights for each label")
        self.heads = tuple(heads)
        # The four bytes of a feature side by side, so that one addition adds for all labels.
        packed = bytearray(8 * SLOTS)
        for place, plane in enumerate(planes):
            packed[_first_byte(place) :: 8] = plane
        self._packed = memoryview(packed).cast("Q")

    def __reduce__(self) -> tuple[object, ...]:
        # A batch sends it to workers on other machines.
        return Model.from_bytes, (self.to_bytes(),)

    @property
    def planes(self) -> tuple[bytes, ...]:
        """The weights of each label; taken apart again each time, because only training asks for them."""
        return tuple(bytes(self._packed.cast("B")[_first_byte(place) :: 8]) for place in range(len(self.heads)))

    def probabilities(self, features: Sequence[int]) -> tuple[float, ...]:
        """For each label of `LABELS`, how probable it is (0 to 1)."""
        sums = self.sums(features)
        share = 1.0 / math.sqrt(len(features) or 1)
        scores = (
            head.slope * (head.bias + head.scale * total * share) + head.offset
            for head, total in zip(self.heads, sums, strict=True)
        )
        return tuple(1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, score)))) for score in scores)

    def sums(self, features: Sequence[int]) -> tuple[int, ...]:
        """Return the sum of the weights of `features` for each label of `LABELS`."""
        one = two = three = four = 0
        weight_of = self._packed.__getitem__
        for begin in range(0, len(features), _BLOCK):
            total = sum(map(weight_of, features[begin : begin + _BLOCK]))
            one += total & 0xFFFF
            two += total >> 16 & 0xFFFF
            three += total >> 32 & 0xFFFF
            four += total >> 48
        zero = _ZERO * len(features)
        return one - zero, two - zero, three - zero, four - zero

    @cached_property
    def name(self) -> str:
        """What verdicts call it: the first twelve digits of the SHA-256 of its file, which its card has whole."""
        return sha256(self.to_bytes()).hexdigest()[:12]

    def to_bytes(self) -> bytes:
        """The file form."""
        body = b"".join(self.planes)
        header = _Header(FORMAT, SLOTS, crc32(body), self.heads)
        return msgspec.json.encode(header) + b"\n" + body

    @classmethod
    def from_bytes(cls, content: bytes, *, file: str = "weights.bin") -> "Model":
        """Return the model in a file's `content`; raise `ConfigError`, with `file` in its message, if it is damaged."""
        line, _, body = content.partition(b"\n")
        try:
            header = msgspec.json.decode(line, type=decodable(_Header))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"is damaged, or no {FORMAT} file: {error}", file=file) from error
        if header.format != FORMAT or header.slots != SLOTS:
            raise ConfigError(f"is {header.format} with {header.slots} slots; this version reads {FORMAT}", file=file)
        if crc32(body) != header.checksum:
            raise ConfigError("is damaged: its weights don't match their checksum; install toolvet again", file=file)
        planes = [body[place * SLOTS : (place + 1) * SLOTS] for place in range(len(header.heads))]
        try:
            return cls(header.heads, planes)
        except ValueError as error:
            raise ConfigError(f"is damaged: {error}", file=file) from error


def judge(text: str, *, model: Model | None = None) -> tuple[ModelJudgement, ...]:
    """Every label whose probability reaches its threshold, the most probable first, or nothing.

    Total and pure; only the first and last few hundred characters count. `model` is the shipped one unless another is
    given, such as one that was retrained from people's labels. Raises `ConfigError` if the shipped file is damaged.
    """
    model = shipped() if model is None else model
    found = features(text)
    if not found:
        return ()
    judged: list[ModelJudgement] = []
    for place, probability in enumerate(model.probabilities(found)):
        if probability < model.heads[place].threshold:
            continue
        label = LABELS[place]
        evidence = _evidence(text, place, model)
        judged.append(
            ModelJudgement(
                type=_TYPES[label],
                label=label,
                probability=round(probability, 4),
                weight=round(_TYPES[label].weight * probability, 4),
                evidence=evidence.text,
                position=evidence.start,
                model=model.name,
            )
        )
    return tuple(sorted(judged, key=lambda each: -each.probability))


@cache
def shipped() -> Model:
    """The model in `weights.bin`; read at the first call (a few milliseconds)."""
    file = f"{_PACKAGE}/weights.bin"
    try:
        content = data_file(_PACKAGE, "weights.bin")
    except FileNotFoundError:
        raise ConfigError("is missing; install toolvet again", file=file) from None
    return Model.from_bytes(content, file=file)


class Excerpt(msgspec.Struct, frozen=True):
    """A part of the text and where it begins in the original."""

    text: str
    start: int


def _evidence(text: str, place: int, model: Model) -> Excerpt:
    """The sentence whose n-grams add most to the label."""
    best, most = Excerpt("", 0), -math.inf
    for excerpt in ends(text):
        for match in _SENTENCE.finditer(excerpt.text):
            sentence = match.group()
            found = features(sentence)
            if not found:
                continue
            total = model.sums(found)[place] / math.sqrt(len(found))
            if total > most:
                skipped = len(sentence) - len(sentence.lstrip())
                best, most = Excerpt(sentence.strip()[:_SHOWN], excerpt.start + match.start() + skipped), total
    return best


FORMAT = "toolvet-answer-model/1"
LABELS: tuple[Label, ...] = ("refusal", "incapable", "tool_failure", "evasive")
"""The faults that the model reports, in the order of their planes; a text with none of them is good."""

_ZERO = 128  # The byte for a weight of zero.
_BLOCK = 256  # This many bytes add up within the 16 bits that a label has in a packed sum.


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    slots: int
    checksum: int
    heads: tuple[LabelHead, ...]


def _first_byte(place: int) -> int:
    return 2 * place if sys.byteorder == "little" else 7 - 2 * place


SLOTS = 1 << 18
"""How many hashed features there are; an index is below this."""

_HEAD_WINDOW = 600  # Characters that are searched for the first words …
_TAIL_WINDOW = 300  # … and for the last.
_HEAD = 88  # Words (or characters of a script without spaces) of the beginning …
_TAIL = 40  # … and of the end that are read, and …
_NEAR = 28  # … how many at either end count as near it.

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W\d_{_UNSPACED}]+(?:'[^\W\d_{_UNSPACED}]+)?|[?\uff1f]")
# The same in ASCII, which is found in a third of the time.
_ASCII_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|\?")
_APOSTROPHES = "\u2018\u2019\u02bc\uff07"
_MASK = SLOTS - 1

# Thoughts that a model writes before its answer are not part of the answer.
_THOUGHT = "<think>"
_THOUGHT_END = "</think>"


def ends(text: str) -> tuple[Excerpt, Excerpt]:
    """The beginning and the end of `text` that are looked at; the end is empty if the beginning reaches it."""
    begin = 0
    if text[:_HEAD_WINDOW].lstrip().startswith(_THOUGHT):
        begin = text.find(_THOUGHT_END) + len(_THOUGHT_END) if _THOUGHT_END in text else 0
    tail = max(begin + _HEAD_WINDOW, len(text) - _TAIL_WINDOW)
    return Excerpt(text[begin : begin + _HEAD_WINDOW], begin), Excerpt(text[tail:], tail)


def features(text: str) -> list[int]:
    """Return the indices (0 to SLOTS - 1) of the n-grams of `text`, with repetitions; empty if it has no words."""
    head, tail = ends(text)
    # The first words as numbers. In a script without spaces a fraction of the window holds them all.
    few = _words(head.text[: 2 * _HEAD])
    first = _numbers((few if len(few) >= _HEAD else _words(head.text))[:_HEAD])
    if not first:
        return []
    last = _numbers(_words(tail.text[-_TAIL_WINDOW:])[-_TAIL:])
    found: list[int] = []
    for grams in _grams(first):
        found += grams
        found += [index ^ 0x15A5B for index in grams[:_NEAR]]
        if not last:  # A short answer ends where it begins: its last words are in the head.
            found += [index ^ 0x2A4D6 for index in grams[-_NEAR:]]
    for grams in _grams(last):
        found += grams
        found += [index ^ 0x2A4D6 for index in grams[-_NEAR:]]
    # How long an answer is, in powers of two: refusals are short.
    found.append(crc32(b"length %d" % min(len(text), 8191).bit_length()) & _MASK)
    return found


def _words(text: str) -> list[str]:
    lowered = text.lower()
    if not lowered.isascii():
        for apostrophe in _APOSTROPHES:
            lowered = lowered.replace(apostrophe, "'")
    return (_ASCII_WORD if lowered.isascii() else _WORD).findall(lowered)


def _numbers(words: list[str]) -> list[int]:
    return [crc32(word.encode()) for word in words]


def _grams(words: list[int]) -> tuple[list[int], list[int], list[int]]:
    """One, two and three words in a row, mixed into one index each."""
    mixed = [word * 0x9E3779B1 for word in words]
    following = words[1:]
    return (
        [word & _MASK for word in words],
        [(one + two) >> 11 & _MASK for one, two in zip(mixed, following, strict=False)],
        [
            ((one ^ two) * 0x85EBCA77 + three) >> 23 & _MASK
            for one, two, three in zip(mixed, following, words[2:], strict=False)
        ],
    )
