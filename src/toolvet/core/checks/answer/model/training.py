"""`train`: labelled texts in, a model out.

Needs NumPy (extra `learn`); nothing else of toolvet imports this module. What one source calls a
refusal differs from what the next one does, and a model in use meets new sources only: so calibration and thresholds
come from predictions for sources that were left out.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from toolvet.core.checks.answer.model.classifier import LABELS, SLOTS, Label, LabelHead, Model, features
from toolvet.errors import UsageError
from toolvet.version import requirement

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError as error:
    raise UsageError(f'training needs NumPy: pip install "{requirement("learn")}"') from error

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

NEVER = 2.0
"""A threshold that no probability reaches."""


class LabelledText(msgspec.Struct, frozen=True, kw_only=True):
    """A text and a person's labels for it.

    `wrong` are the labels that hold; `unsure` are those that this source does not label, so nothing is learned.
    `source` is the origin of the text: texts of one source stay together when the model is measured.
    """

    text: str
    source: str
    wrong: frozenset[Label] = frozenset()
    unsure: frozenset[Label] = frozenset()


class TrainingSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How to train.

    `penalty` (L2) keeps weights small, `steps` are steps of gradient descent over all texts. A label is reported from
    the lowest probability that meets two conditions on left-out sources: at least `precision` of the reports are right,
    and at most `alarms` of the texts without the label are reported. If that finds fewer than `fewest` texts, it is
    never reported, because so few prove nothing. Sources in `unmeasured` (such as sentences written for the purpose)
    are learned from, but never left out.
    """

    penalty: float = 3e-5
    steps: int = 120
    precision: float = 0.8
    alarms: float = 0.004
    fewest: int = 20
    unmeasured: frozenset[str] = frozenset()


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a label on one source that was left out of training.

    `texts` are those whose source says whether they have the label. `positive` of them have it, `found` of these are
    reported, and `false_alarms` are reported without having it. The figures with `open_` are the same for the texts
    that the rules leave open. `auc` is over all texts.
    """

    label: Label
    source: str
    texts: int
    positive: int
    found: int
    false_alarms: int
    open_texts: int
    open_positive: int
    open_found: int
    open_false_alarms: int
    auc: float | None


class Trained(msgspec.Struct, frozen=True, kw_only=True):
    """A model, and how it did on each source while that was left out."""

    model: Model
    measured: tuple[Measured, ...]


def train(
    rows: Iterable[LabelledText],
    settings: TrainingSettings | None = None,
    *,
    left_open: Callable[[str], bool] = bool,
    base: Model | None = None,
) -> Trained:
    """Return a model of these texts; the same texts in the same order give the same model.

    `left_open` returns whether the rules leave a text to the model (by default, every text). It decides only what is
    measured. Thresholds and calibration use all texts: if the rules were written for a source, the few texts that they
    leave open are unusual, and not a sample of the texts that a new source leaves open.
    `base` is a model to continue from: its weights change only where the texts teach something.
    Raises `UsageError` with fewer than two sources, because one is left out while the model learns from the others.
    """
    settings = settings or TrainingSettings()
    texts = [row for row in rows if features(row.text)]
    table = FeatureTable(texts, base)
    asked = np.array([left_open(row.text) for row in texts])
    sources = sorted(set(table.sources) - settings.unmeasured)
    if len(sources) < 2:
        raise UsageError("training needs labelled texts of at least two sources, so that one can be left out")
    left_out = np.full((len(LABELS), len(table.sources)), np.nan)
    for source in sources:
        inside = table.of(source)
        left_out[:, inside] = table.scores(*table.fit(~inside, settings))[:, inside]
    weights, biases = table.fit(np.ones(len(table.sources), dtype=bool), settings)
    heads: list[LabelHead] = []
    planes: list[bytes] = []
    measured: list[Measured] = []
    for place, label in enumerate(LABELS):
        told = table.told[place] & ~np.isnan(left_out[place])
        truth = table.truth[place]
        slope, offset = _calibration(left_out[place][told], truth[told])
        probable = _logistic(slope * left_out[place] + offset)
        threshold = _threshold(probable[told], truth[told], settings)
        bias, learned = float(biases[place]), table.spread(weights[place])
        if base is not None:
            bias += base.heads[place].bias
            before = np.frombuffer(base.planes[place], dtype=np.uint8).astype(np.float64) - 128
            learned += before * base.heads[place].scale
        # A weight is a byte: 127 is the largest, stored plus 128, and `scale` is what one step is worth.
        largest = float(np.abs(learned).max())
        scale = largest / 127 if largest else 1.0
        planes.append((np.rint(learned / scale).astype(np.int64) + 128).astype(np.uint8).tobytes())
        heads.append(LabelHead(label=label, bias=bias, scale=scale, slope=slope, offset=offset, threshold=threshold))
        for source in sources:
            part = table.of(source) & told
            if not part.any():
                continue
            has_label, is_open, reported = truth[part], asked[part], probable[part] >= threshold
            measured.append(
                Measured(
                    label=label,
                    source=source,
                    texts=len(has_label),
                    positive=int(has_label.sum()),
                    found=int((reported & has_label).sum()),
                    false_alarms=int((reported & ~has_label).sum()),
                    open_texts=int(is_open.sum()),
                    open_positive=int((is_open & has_label).sum()),
                    open_found=int((is_open & reported & has_label).sum()),
                    open_false_alarms=int((is_open & reported & ~has_label).sum()),
                    auc=_auc(probable[part], has_label),
                )
            )

    return Trained(model=Model(heads, planes), measured=tuple(measured))


class FeatureTable:
    """The texts as a sparse matrix (a row a text, a column a feature that two share), and what is known of them."""

    def __init__(self, rows: Sequence[LabelledText], base: Model | None = None) -> None:
        self.sources = [row.source for row in rows]
        self.truth: Flags = np.array([[label in row.wrong for row in rows] for label in LABELS])
        self.told: Flags = np.array([[label not in row.unsure for row in rows] for label in LABELS])
        found = [np.array(features(row.text), dtype=np.int64) for row in rows]
        lengths = np.array([max(1, len(each)) for each in found])
        every = np.concatenate(found)
        texts_with = np.zeros(SLOTS, dtype=np.int64)
        for each in found:
            texts_with[np.unique(each)] += 1
        kept = texts_with[every] > 1
        self.columns, self._column = np.unique(every[kept], return_inverse=True)
        self._row = np.repeat(np.arange(len(rows)), lengths)[kept]
        self._share = (1.0 / np.sqrt(lengths))[self._row]
        self._has_base = base is not None
        # The scores that the model to continue from gives each text, before its calibration.
        self._before: Floats = np.zeros((len(LABELS), len(rows)))
        if base is not None:
            sums = np.array([base.sums(each.tolist()) for each in found], dtype=np.float64).T
            scales = np.array([[head.scale] for head in base.heads])
            self._before = np.array([[head.bias] for head in base.heads]) + scales * sums / np.sqrt(lengths)

    def of(self, source: str) -> Flags:
        """Which texts are from `source`."""
        return np.array([each == source for each in self.sources])

    def scores(self, weights: Floats, biases: Floats) -> Floats:
        """A score for each label and text."""
        return np.array(
            [
                np.bincount(self._row, weights=plane[self._column] * self._share, minlength=len(self.sources))
                + bias
                + before
                for plane, bias, before in zip(weights, biases, self._before, strict=True)
            ]
        )

    def fit(self, used: Flags, settings: TrainingSettings) -> tuple[Floats, Floats]:
        """Weights and biases for each label, by logistic regression on the texts that are `used` (Adam, full batch)."""
        size = len(self.columns)
        weights, biases = np.zeros((len(LABELS), size)), np.zeros(len(LABELS))
        cells = used[self._row]
        row, column, share = self._row[cells], self._column[cells], self._share[cells]
        for place in range(len(LABELS)):
            importance = self._importance(place, used)
            if not (self.truth[place] & (importance > 0)).any():
                biases[place] = 0.0 if self._has_base else -10.0
                continue
            plane = np.zeros(size + 1)  # The bias is the last weight.
            mean, square = np.zeros(size + 1), np.zeros(size + 1)
            for step in range(1, settings.steps + 1):
                score = np.bincount(row, weights=plane[column] * share, minlength=len(self.sources)) + plane[-1]
                score += self._before[place]
                error = (_logistic(score) - self.truth[place]) * importance
                slope = np.append(np.bincount(column, weights=error[row] * share, minlength=size), error.sum())
                slope[:-1] += settings.penalty * plane[:-1]
                mean = 0.9 * mean + 0.1 * slope
                square = 0.99 * square + 0.01 * slope * slope
                plane -= 0.05 * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-9)
            weights[place], biases[place] = plane[:-1], plane[-1]
        return weights, biases

    def spread(self, weights: Floats) -> Floats:
        """The weights of the columns at the places of their features."""
        everywhere: Floats = np.zeros(SLOTS)
        everywhere[self.columns] = weights
        return everywhere

    def _importance(self, place: int, used: Flags) -> Floats:
        """Return the weight of each text (1 on average): less in a large source, more for a rare label."""
        active = used & self.told[place]
        size = {source: self.of(source)[active].sum() for source in set(self.sources)}
        importance: Floats = np.array([1.0 / np.sqrt(max(1, size[source])) for source in self.sources]) * active
        positive = importance[self.truth[place]].sum()
        negative = importance.sum() - positive
        if positive and negative:
            # Halfway to balance, geometrically: full balance makes too much of a few odd texts.
            importance[self.truth[place]] *= np.sqrt(negative / positive)
        importance /= importance.sum() or 1.0
        return importance


def _logistic(scores: Floats) -> Floats:
    result: Floats = 1.0 / (1.0 + np.exp(-np.clip(scores, -60.0, 60.0)))
    return result


def _calibration(scores: Floats, truth: Flags) -> tuple[float, float]:
    """Slope and offset that make the logistic of a score a probability (Platt, by Newton's method)."""
    slope, offset = 1.0, 0.0
    positive = int(truth.sum())
    if not positive or positive == len(truth):
        return slope, offset
    # Platt's targets keep the fit finite if the classes don't overlap.
    target = np.where(truth, (positive + 1) / (positive + 2), 1 / (len(truth) - positive + 2))
    for _ in range(50):
        probable = _logistic(slope * scores + offset)
        error, spread = probable - target, probable * (1 - probable) + 1e-9
        first = np.array([(error * scores).sum(), error.sum()])
        second = np.array(
            [
                [(spread * scores * scores).sum() + 1e-6, (spread * scores).sum()],
                [(spread * scores).sum(), spread.sum() + 1e-6],
            ]
        )
        change = np.linalg.solve(second, first)
        slope, offset = slope - float(change[0]), offset - float(change[1])
    return slope, offset


def _threshold(probable: Floats, truth: Flags, settings: TrainingSettings) -> float:
    """Return the lowest probability with the wanted precision and false alarms; `NEVER` if no probability has them."""
    order = np.argsort(-probable, kind="stable")
    right = np.cumsum(truth[order])
    precision = right / np.arange(1, len(order) + 1)
    alarms = (np.arange(1, len(order) + 1) - right) / max(1, int((~truth).sum()))
    good = np.nonzero((precision >= settings.precision) & (alarms <= settings.alarms) & (right >= settings.fewest))[0]
    if not len(good):
        return NEVER
    # Halfway to the first one that is too many: a new text lies a little beside what was measured.
    last = int(good[-1])
    beyond = float(probable[order][last + 1]) if last + 1 < len(order) else 0.0
    return round(max(0.5, (float(probable[order][last]) + beyond) / 2), 4)


def _auc(scores: Floats, truth: Flags) -> float | None:
    """Return how often a text with the label scores above one without it; None unless both kinds exist."""
    positive, negative = scores[truth], np.sort(scores[~truth])
    if not len(positive) or not len(negative):
        return None
    below = np.searchsorted(negative, positive, "left") + np.searchsorted(negative, positive, "right")
    return round(float(below.sum()) / (2 * len(positive) * len(negative)), 4)
