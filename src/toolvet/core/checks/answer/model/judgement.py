"""`judge`: asks the learned model about a text, and returns what it is sure enough of."""

import math
import re
from functools import cache

import msgspec

from toolvet.core.checks.answer.model.features import Excerpt, ends, features
from toolvet.core.checks.answer.model.weights import LABELS, Label, Model
from toolvet.core.checks.answer.quality import SignalType
from toolvet.core.discover import data_file
from toolvet.errors import ConfigError

_PACKAGE = "toolvet.core.checks.answer.model"
_SHOWN = 200  # Characters of evidence at most.
_SENTENCE = re.compile(r"[^.!?。\uff01\uff1f।؟\n]+[.!?。\uff01\uff1f।؟]*")

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

    `probability` (0 to 1) is calibrated on texts from sources that the model had not seen; `weight` is what the signal
    should cost, the type's weight times the probability; `evidence` is the sentence that spoke most for it (200
    characters of it at most), `position` where that begins in the original text. `model` is the name of the model.
    """

    type: SignalType
    label: Label
    probability: float
    weight: float
    evidence: str
    position: int
    model: str


def judge(text: str, *, model: Model | None = None) -> tuple[ModelJudgement, ...]:
    """Every label whose probability reaches its threshold, the most probable first, or nothing.

    Total and pure; only the first and last few hundred characters count. `model` is the shipped one unless another is
    given, such as one that was retrained from people's labels. Raises `ConfigError` where the shipped file is damaged.
    """
    model = shipped() if model is None else model
    found = features(text)
    if not found:
        return ()
    judged = [
        _judgement(text, place, probability, model)
        for place, probability in enumerate(model.probabilities(found))
        if probability >= model.heads[place].threshold
    ]
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


def _judgement(text: str, place: int, probability: float, model: Model) -> ModelJudgement:
    label = LABELS[place]
    evidence = _evidence(text, place, model)
    return ModelJudgement(
        type=_TYPES[label],
        label=label,
        probability=round(probability, 4),
        weight=round(_TYPES[label].weight * probability, 4),
        evidence=evidence.text,
        position=evidence.start,
        model=model.name,
    )


def _evidence(text: str, place: int, model: Model) -> Excerpt:
    """The sentence whose n-grams add most to the label."""
    best, most = Excerpt("", 0), -math.inf
    for stretch in ends(text):
        for match in _SENTENCE.finditer(stretch.text):
            sentence = match.group()
            found = features(sentence)
            if not found:
                continue
            total = model.sums(found)[place] / math.sqrt(len(found))
            if total > most:
                skipped = len(sentence) - len(sentence.lstrip())
                best, most = Excerpt(sentence.strip()[:_SHOWN], stretch.start + match.start() + skipped), total
    return best
