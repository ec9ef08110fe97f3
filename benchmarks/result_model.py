"""Compare a learned model with the rules for business errors and failures; each source is left out once.

    python benchmarks/result_model.py DATA

DATA has a `tool_response.jsonl`; the errors of `conformance/errors` are added. The model is a logistic regression over
hashed words and pairs of words, as most would write it in five minutes. It needs NumPy. The rules were written with
these sources in view, the model predicts each source without having seen it: so this shows what learning alone gives,
and what it would add where the rules have no word (`unknown`).
"""

import json
import re
import sys
import zlib
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from toolvet import check_result

ERRORS = Path(__file__).parents[1] / "conformance" / "errors" / "errors.jsonl"
SLOTS = 1 << 15
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\dA-Za-z_]+")
MOST_WORDS = 80
PENALTY = 0.5
STEPS = 150


class Error(NamedTuple):
    """A labelled error: its source, the slots of its words, whether it is the caller's, and what the rules said."""

    source: str
    slots: list[int]
    business: bool
    said: str
    state: str


def main() -> None:
    errors = [*labelled(Path(sys.argv[1])), *collected()]
    sources = sorted({error.source for error in errors})
    right: dict[str, list[bool]] = defaultdict(list)
    unknown: Counter[tuple[bool, bool]] = Counter()
    print(f"{'source left out':24}{'errors':>8}{'failures':>10}{'rules':>8}{'model':>8}   (balanced, or the only kind)")
    for source in sources:
        tested = [error for error in errors if error.source == source]
        model = train([error for error in errors if error.source != source])
        predicted = [probability(model, error.slots) > 0.5 for error in tested]
        for error, guess in zip(tested, predicted, strict=True):
            kind = "business" if error.business else "failure"
            right[f"rules {kind}"].append((error.said == "business") == error.business)
            right[f"model {kind}"].append(guess == error.business)
            if error.state == "unknown":
                unknown[error.business, guess] += 1
        rules = balanced(tested, [error.said == "business" for error in tested])
        failures = sum(not error.business for error in tested)
        print(f"{source:24}{len(tested):8}{failures:10}{rules:8.3f}{balanced(tested, predicted):8.3f}")
    for who in ("rules", "model"):
        shares = [sum(right[f"{who} {kind}"]) / len(right[f"{who} {kind}"]) for kind in ("business", "failure")]
        print(f"{who}: business {shares[0]:.3f}, failures {shares[1]:.3f}, balanced {sum(shares) / 2:.3f}")
    print(f"no word known to the rules (business, model says so): {dict(unknown)}")


def labelled(folder: Path) -> list[Error]:
    found: list[Error] = []
    for line in (folder / "tool_response.jsonl").read_text(encoding="utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        if row["label"] != "success" and not row["meta"].get("contested"):
            tool = row["meta"].get("tool") or "tool"
            found.append(error_of(row["dataset"], row["text"], tool, {}, business=row["label"] == "business_error"))
    return found


def collected() -> list[Error]:
    rows = [json.loads(line) for line in ERRORS.read_text(encoding="utf-8").splitlines()]
    return [
        error_of(
            row["source"].split()[0], row["text"], row["tool"], row.get("arguments") or {},
            business=row["kind"] == "business",
        )
        for row in rows
    ]  # fmt: skip


def error_of(source: str, text: str, tool: str, arguments: object, *, business: bool) -> Error:
    answer = {"isError": True, "content": [{"type": "text", "text": text}]}
    verdict = check_result({"name": tool}, arguments, answer)
    words = [word.lower() if not word.isdigit() else "0" * min(3, len(word)) for word in WORDS.findall(text[:1200])]
    words = words[:MOST_WORDS]
    grams = {*words, *(f"{one} {two}" for one, two in pairwise(words)), f"tool: {tool}"}
    slots = sorted({zlib.crc32(gram.encode()) % SLOTS for gram in grams})
    return Error(source, slots, business, str(verdict.error_kind), str(verdict.state))


def train(errors: list[Error]) -> tuple[Any, float]:
    """Full-batch Adam; each source counts as the root of its size, both kinds alike."""
    truth = np.array([error.business for error in errors], float)
    sizes = Counter(error.source for error in errors)
    weight = np.array([1 / np.sqrt(sizes[error.source]) for error in errors])
    for kind in (0, 1):
        weight[truth == kind] /= weight[truth == kind].sum()
    weight *= len(errors) / 2
    rows = np.concatenate([np.full(len(error.slots), number) for number, error in enumerate(errors)])
    slots = np.concatenate([np.array(error.slots) for error in errors])
    values = np.concatenate([np.full(len(error.slots), (len(error.slots) + 1) ** -0.5) for error in errors])
    model, bias = np.zeros(SLOTS), 0.0
    first, second = np.zeros(SLOTS), np.zeros(SLOTS)
    for step in range(1, STEPS + 1):
        sums = np.bincount(rows, values * model[slots], len(errors)) + bias
        slope = weight * (1 / (1 + np.exp(-sums)) - truth)
        gradient = np.bincount(slots, values * slope[rows], SLOTS) / len(errors) + PENALTY * model / len(errors)
        first = 0.9 * first + 0.1 * gradient
        second = 0.99 * second + 0.01 * gradient * gradient
        model -= 0.1 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
        bias -= 0.1 * float(slope.sum()) / len(errors)
    return model, bias


def probability(model: tuple[Any, float], slots: list[int]) -> float:
    total = float(model[0][slots].sum()) * (len(slots) + 1) ** -0.5 + model[1]
    return float(1 / (1 + np.exp(-total)))


def balanced(errors: list[Error], said: list[bool]) -> float:
    """The mean of the shares of both kinds that were recognised; the share of the only kind if there is one."""
    shares = [
        sum(guess == kind for error, guess in zip(errors, said, strict=True) if error.business is kind)
        / sum(error.business is kind for error in errors)
        for kind in (True, False)
        if any(error.business is kind for error in errors)
    ]
    return sum(shares) / len(shares)


if __name__ == "__main__":
    main()
