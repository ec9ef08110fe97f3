"""The reasons of a verdict as a reviewer sees them, and the text with their evidence marked.

"I cannot help." with a refusal at 0..13 → [MarkedText("I cannot help", ("0:refusal",)), MarkedText(".", ())]
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, Protocol

import msgspec

from toolvet.core.json_value import elements, members, number, real

_MOST: Final = 200


class ReviewSignal(msgspec.Struct, frozen=True, kw_only=True):
    """One reason of a verdict. `key` names it in labels: its number and type, such as `0:refusal`.

    `start` and `end` are where the evidence is in the text, None if it has no place. `against` quotes the other
    side.
    """

    key: str
    type: str
    level: str = ""
    label: str = ""
    evidence: str = ""
    against: str = ""
    source: str = ""
    weight: float | None = None
    start: int | None = None
    end: int | None = None


class MarkedText(msgspec.Struct, frozen=True):
    """A part of a text, and the keys of the signals whose evidence it is."""

    text: str
    signals: tuple[str, ...] = ()


class ReviewableSignal(Protocol):
    """One reason of a verdict, as a store keeps it."""

    @property
    def type(self) -> str:
        """The type of the reason, such as `refusal`."""
        ...

    @property
    def level(self) -> str:
        """How grave it is."""
        ...


class Reviewable(Protocol):
    """The members of a verdict that are read here; a `VerdictRecord` of a store has all of them."""

    @property
    def id(self) -> str:
        """The id of the verdict."""
        ...

    @property
    def kind(self) -> str:
        """The kind of input that was judged, such as `answer`."""
        ...

    @property
    def server(self) -> str:
        """The server that was called."""
        ...

    @property
    def tool(self) -> str | None:
        """The tool that was called."""
        ...

    @property
    def model(self) -> str | None:
        """The model that wrote the answer."""
        ...

    @property
    def failed(self) -> bool:
        """Whether what was judged went wrong."""
        ...

    @property
    def escalate(self) -> bool:
        """Whether a person should see it."""
        ...

    @property
    def score(self) -> float | None:
        """0 to 1."""
        ...

    @property
    def signals(self) -> Sequence[ReviewableSignal]:
        """The reasons, each with its `type`."""
        ...

    @property
    def detail(self) -> Mapping[str, object]:
        """The verdict as JSON."""
        ...

    @property
    def text(self) -> str | None:
        """The judged text: an answer."""
        ...


def review_signals(verdict: Reviewable) -> tuple[ReviewSignal, ...]:
    """Return the reasons of a verdict, those of an answer with their places in its text."""
    if verdict.kind != "answer":
        return tuple(
            ReviewSignal(key=f"{index}:{signal.type}", type=signal.type, level=signal.level)
            for index, signal in enumerate(verdict.signals[:_MOST])
        )
    text = verdict.text or ""
    found: list[ReviewSignal] = []
    for index, each in enumerate(elements(verdict.detail.get("signals"))[:_MOST]):
        signal = members(each)
        type_, evidence = _text(signal, "type"), _text(signal, "evidence")
        label = _text(signal, "label")
        position = number(signal.get("position"))
        start: int | None = None
        if evidence and position is not None and position >= 0 and text.startswith(evidence, int(position)):
            start = int(position)
        elif evidence:
            # Secrets that were replaced in the text move what comes after them.
            near = text.find(evidence, max(0, int(position or 0) - len(evidence)))
            at = near if near >= 0 else text.find(evidence)
            start = at if at >= 0 else None
        found.append(
            ReviewSignal(
                key=f"{index}:{type_}",
                type=type_,
                label="" if label == type_ else label,
                evidence=evidence,
                against=_text(signal, "against"),
                source=_text(signal, "source"),
                weight=real(signal.get("weight")),
                start=start,
                end=None if start is None else start + len(evidence),
            )
        )
    return tuple(found)


def mark_evidence(text: str, signals: Sequence[ReviewSignal]) -> tuple[MarkedText, ...]:
    """Return the text in parts, cut wherever the evidence of a signal begins or ends.

    >>> [part.text for part in mark_evidence("abcdef", [ReviewSignal(key="0:x", type="x", start=1, end=3)])]
    ['a', 'bc', 'def']
    """
    spans = [
        (signal.start, signal.end, signal.key)
        for signal in signals
        if signal.start is not None and signal.end is not None
    ]
    cuts = sorted({0, len(text), *(start for start, _, _ in spans), *(end for _, end, _ in spans)})
    return tuple(
        MarkedText(text[start:end], tuple(key for first, last, key in spans if first <= start and end <= last))
        for start, end in pairwise(cuts)
    )


def _text(signal: Mapping[str, object], name: str) -> str:
    value = signal.get(name)
    return value if isinstance(value, str) else ""
