"""The card of a retrained model: what it was learned from, how, and how it did, as Markdown."""

import hashlib

from toolvet.server.review.learning.model import ALL, OWN_SENTENCES, LearnedModel
from toolvet.version import __version__


def render_card(learned: LearnedModel, *, base: bytes, date: str) -> str:
    """Return the card. `base` is the file of the model that it goes on from, `date` the day as it should be shown."""
    content = learned.model.to_bytes()
    sources = "\n".join(f"| {_cell(name)} | {count} |" for name, count in learned.sources)
    kept = "\n".join(f"- As it was: {words}." for words in learned.kept) or "- No label stayed as it was."
    return f"""# A learned model of answers

Made by `toolvet review learn` of toolvet {__version__} on {date}. It is used with `model` under
`[checks.answer]`.

## What it is

toolvet's linear model of hashed n-grams (its card comes with the package), retrained from reviewers' labels: it goes on
from the model before (SHA-256 `{hashlib.sha256(base).hexdigest()}`).

- Learned anew: {", ".join(learned.relearned) or "nothing"}.
{kept}

## Data

{learned.learned_from} different answers were learned from, {learned.held_back} held back. No text of them is in the
file. SHA-256 of the texts and labels `{learned.digest}`, of the model `{hashlib.sha256(content).hexdigest()}`.

| source | labelled answers |
|---|---|
{sources}

## Figures

On the answers held back. Which labels are learned anew was decided on them as well, so they flatter a little. The last
rows are near misses of toolvet's own phrases, which were learned from as well: no more of them than before may be
reported.

{outcome_table(learned)}
Verdict: {"refused: " + learned.refused if learned.refused else "better than the one before"}.

## What it must not be used for

- Judging people, or texts written by people.
- Answers that look different from those that were labelled: what the reviewers never saw, it was not measured on.
- Telling whether what an answer says is true, safe or harmful.
"""


def outcome_table(learned: LearnedModel) -> str:
    """Return the figures as a table: what was found and falsely reported before and after."""
    lines = [
        "| judged by | label | source | found | found before | false alarms | before |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in learned.outcomes:
        if each.source not in (ALL, OWN_SENTENCES) and not each.positive and not each.alarms_after + each.alarms_before:
            continue
        without = each.texts - each.positive
        lines.append(
            f"| {each.by} | {each.label} | {_cell(each.source)} | {each.found_after} of {each.positive} |"
            f" {each.found_before} | {each.alarms_after} of {without} | {each.alarms_before} |"
        )
    return "\n".join(lines) + "\n"


def _cell(words: str) -> str:
    """Return words that cannot leave their cell."""
    shown = "".join(letter if letter.isprintable() else " " for letter in words)
    return shown.replace("|", "/").replace("<", "(")
