"""The work of `toolvet review learn`: labels → a model file with its card, and suggestions."""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from rich.console import Console
from rich.status import Status

from toolvet.cli.options import store_url
from toolvet.core.checks import LABELS, Model, shipped
from toolvet.core.settings import load_settings
from toolvet.core.turn import AnswerCheck
from toolvet.core.visible import json_text
from toolvet.errors import UsageError
from toolvet.server.review import (
    LabelledVerdict,
    SuggestedPhrase,
    SuggestedThreshold,
    TypePrecision,
    has_fault,
    labelled_verdict,
    read_labelled_line,
    split_held_back,
    suggest_phrases,
    suggest_threshold,
    type_precisions,
)
from toolvet.store import Store
from toolvet.store.queue import ReviewQueue

if TYPE_CHECKING:
    from toolvet.server.review import LearnedModel


_MODEL: Final = "answer-model.bin"


class _Learned(msgspec.Struct, frozen=True, kw_only=True):
    """The results of learning; each step that failed is a sentence in `problems`."""

    labelled: int
    model: "LearnedModel | None"
    phrases: tuple[SuggestedPhrase, ...]
    threshold: SuggestedThreshold | None
    types: tuple[TypePrecision, ...]
    problems: tuple[str, ...]


def learn(
    given: str | None,
    files: Sequence[Path],
    *,
    output: Path | None,
    precision: float,
    dry_run: bool,
    as_json: bool,
    settings_file: Path | None,
) -> int:
    """Learn, print what came of it, and write a model that is better. Returns the exit code: 1 where none is."""
    options = load_settings(settings_file).answer_options()
    rows = list(_from_files(files)) if files else _from_store(store_url(given))
    if not rows:
        raise UsageError("there are no labelled answers; `toolvet review next` shows what to label")
    check = AnswerCheck(**options)
    base = check.model or shipped()
    if sys.stderr.isatty():
        with Status(f"learning from {len(rows):,} labelled answers", console=Console(stderr=True)):
            found = _find_out(rows, base, check, precision)
    else:
        found = _find_out(rows, base, check, precision)
    better = found.model is not None and found.model.refused is None
    home = Path(os.environ.get("XDG_DATA_HOME", ""))
    data = home if home.is_absolute() else Path.home() / ".local" / "share"
    place = output or data / "toolvet" / _MODEL
    written = better and not dry_run
    if written and found.model is not None:
        _write_model(place, found.model, base)
    sys.stdout.write(_as_json(found, place if written else None) if as_json else _as_text(found))
    if written:
        sys.stderr.write(
            f"{place} and {place.with_suffix('.md').name} written. Use it with\n\n"
            f"[checks.answer]\nmodel = {json.dumps(str(place.absolute()))}\n"
        )
    return 0 if better else 1


def _find_out(rows: Sequence[LabelledVerdict], base: Model, check: AnswerCheck, precision: float) -> _Learned:
    problems: list[str] = []
    model = threshold = None
    try:
        from toolvet.server.review import learn_model  # noqa: PLC0415 - NumPy is an extra

        model = learn_model(rows, base)
    except UsageError as error:
        problems.append(f"model: {error}")
    # Labels without a score are judged now; those of the store have the score of their time.
    scored = [
        row if row.score is not None else msgspec.structs.replace(row, score=check(row.text).score) for row in rows
    ]
    try:
        threshold = suggest_threshold(scored, precision)
    except UsageError as error:
        problems.append(f"threshold: {error}")
    learned, held = split_held_back(rows)
    phrases: list[SuggestedPhrase] = []
    for label in dict.fromkeys((*LABELS, *sorted({type_ for row in rows for type_ in row.named}))):
        # Faults come from the answers that are learned from, false alarms are looked for in all.
        compared = [*learned, *(row for row in held if not has_fault(row, label))]
        missed = [
            place
            for place, row in enumerate(learned)
            if has_fault(row, label)
            and not any(label in (each.label, each.type.value) for each in check(row.text).signals)
        ]
        phrases += suggest_phrases(compared, label, missed=missed)
    return _Learned(
        labelled=len(rows),
        model=model,
        phrases=tuple(phrases),
        threshold=threshold,
        types=tuple(type_precisions(rows)),
        problems=tuple(problems),
    )


def _from_files(files: Sequence[Path]) -> Iterator[LabelledVerdict]:
    for file in files:
        try:
            lines = file.read_bytes().splitlines()
        except OSError as error:
            raise UsageError(f"--labels {file}: {error.strerror or error}") from error
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    yield read_labelled_line(line, file.stem)
                except UsageError as error:
                    raise UsageError(f"{file}, line {number}: {error}") from error


def _from_store(url: str) -> list[LabelledVerdict]:
    found: list[LabelledVerdict] = []
    with Store(url, missing="refuse") as store:
        for item, labels in groupby(ReviewQueue(store).labels(), key=lambda label: label.item):
            verdict = store.verdict(item)
            row = None if verdict is None else labelled_verdict(verdict, list(labels))
            if row is not None:
                found.append(row)
    return found


def _write_model(place: Path, learned: "LearnedModel", base: Model) -> None:
    from toolvet.server.review import render_card  # noqa: PLC0415 - NumPy is an extra

    card = render_card(learned, base=base.to_bytes(), date=datetime.now(UTC).date().isoformat())
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        # A check that starts meanwhile reads the old one or the new one, never half of it.
        for path, content in ((place.with_suffix(".md"), card.encode()), (place, learned.model.to_bytes())):
            beside = path.with_name(f"{path.name}.{os.getpid()}.new")
            beside.write_bytes(content)
            beside.replace(path)
    except OSError as error:
        raise UsageError(f"--output {place}: {error.strerror or error}") from error


def _as_json(found: _Learned, written: Path | None) -> str:
    model = found.model
    document = {
        "labelled": found.labelled,
        "model": None
        if model is None
        else {
            "relearned": model.relearned,
            "kept": model.kept,
            "learned_from": model.learned_from,
            "held_back": model.held_back,
            "outcomes": model.outcomes,
            "refused": model.refused,
            "written": None if written is None else str(written),
        },
        "threshold": found.threshold,
        "types": found.types,
        "phrases": found.phrases,
        "problems": found.problems,
    }
    return json_text(document)


def _as_text(found: _Learned) -> str:
    parts = [f"{found.labelled:,} labelled answers\n"]
    if found.model is not None:
        from toolvet.server.review import outcome_table  # noqa: PLC0415 - as above

        verdict = "better" if found.model.refused is None else f"not installed: {found.model.refused}"
        parts.append(f"# Model\n{found.model.learned_from} answers learned from, {found.model.held_back} held back\n")
        parts.append(outcome_table(found.model) + f"{verdict}\n")
    if found.threshold is not None:
        each = found.threshold
        parts.append(
            f"# Threshold\n[checks.answer]\nthreshold = {each.threshold}\n"
            f"# {each.right} of {each.escalated} escalations right, proven {each.at_least:.3f} or more;"
            f" {each.missed} of {each.labelled} answers missed\n"
        )
    if found.types:
        lines = [
            f"{each.type}: {each.right} of {each.signals} confirmed, {each.at_least:.3f} or more"
            + (f"; missed in {each.missed}" if each.missed else "")
            for each in found.types
        ]
        parts.append("# Signals\n" + "\n".join(lines) + "\n")
    if found.phrases:
        parts.append("# Phrases to look at\n" + "\n".join(phrase_entry(each) for each in found.phrases))
    parts += [f"{words}\n" for words in found.problems]
    return "\n".join(parts)


def phrase_entry(phrase: SuggestedPhrase) -> str:
    """Return a suggestion in the form of the language files."""
    hits, misses = (json.dumps(list(each), ensure_ascii=False) for each in (phrase.hits, phrase.misses))
    return (
        f"# {phrase.label}: {phrase.count} answers with the label, {phrase.misses_count} without\n"
        f"[[phrase]]\nmatch = {json.dumps(phrase.pattern, ensure_ascii=False)}\nhits = {hits}\nmisses = {misses}\n"
    )
