"""The model itself: a weight for each hashed n-gram and label, as bytes and as something that judges.

The file is one line of JSON (`toolvet-answer-model/1`: labels with bias, scale, calibration and threshold, and the
checksum of the rest), then one plane of `SLOTS` bytes for each label: a weight from -127 to 127, stored plus 128.
"""

import math
import sys
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from typing import Literal
from zlib import crc32

import msgspec

from toolvet.core.checks.answer.model.features import SLOTS
from toolvet.errors import ConfigError

FORMAT = "toolvet-answer-model/1"

Label = Literal["refusal", "incapable", "tool_failure", "evasive"]
LABELS: tuple[Label, ...] = ("refusal", "incapable", "tool_failure", "evasive")
"""What the model can hold against a text, in the order of their planes; a text with none of it is good."""

_ZERO = 128  # The byte for a weight of zero.
_BLOCK = 256  # So many bytes add up within the 16 bits that a label has in a packed sum.


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


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    slots: int
    checksum: int
    heads: tuple[LabelHead, ...]


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

    @property
    def planes(self) -> tuple[bytes, ...]:
        """The weights of each label; taken apart anew each time, because only training asks for them."""
        return tuple(bytes(self._packed.cast("B")[_first_byte(place) :: 8]) for place in range(len(self.heads)))

    def probabilities(self, features: Sequence[int]) -> tuple[float, ...]:
        """For each label of `LABELS`, how probable it is (0 to 1)."""
        sums = self.sums(features)
        share = 1.0 / math.sqrt(len(features) or 1)
        return tuple(
            _logistic(head.slope * (head.bias + head.scale * total * share) + head.offset)
            for head, total in zip(self.heads, sums, strict=True)
        )

    def sums(self, features: Sequence[int]) -> tuple[int, ...]:
        """For each label of `LABELS`, what the weights of `features` add up to."""
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
        """The model of a file's `content`; raises `ConfigError`, with `file` in its message, where it is damaged."""
        line, _, body = content.partition(b"\n")
        try:
            header = msgspec.json.decode(line, type=_Header)
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


def _first_byte(place: int) -> int:
    return 2 * place if sys.byteorder == "little" else 7 - 2 * place


def _logistic(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, value))))
