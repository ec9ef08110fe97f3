"""`toolvet review learn` with few labels: a clear sentence, and nothing is installed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.test_review_command import toolvet

from toolvet import check_answer
from toolvet.store import Store
from toolvet.store.queue import ReviewQueue
from toolvet.store.queue_records import ReviewLabel

pytest.importorskip("numpy", reason='needs NumPy: pip install "toolvet[learn]"')

REFUSAL = "I cannot help with case {}."
GOOD = "Case {} is closed, and the museum opens at nine."


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to work in; at the end no model is in the user's folder for data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    yield tmp_path
    assert not (tmp_path / "data").exists()


def labelled(path: Path, refusals: int, good: int) -> Path:
    rows = [{"text": REFUSAL.format(number), "label": "refusal"} for number in range(refusals)]
    rows += [{"text": GOOD.format(number), "label": "ok"} for number in range(good)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_without_a_label_it_says_where_labels_come_from(place: Path) -> None:
    with Store(place / "v.db") as store:
        store.add(check_answer("I cannot help."), text="I cannot help.")
    done = toolvet("review", "learn", "--store", str(place / "v.db"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "there are no labelled answers; `toolvet review next` shows what to label" in done.stderr
    (place / "empty.jsonl").write_text("")
    assert toolvet("review", "learn", "--labels", str(place / "empty.jsonl")).returncode == 2


@pytest.mark.parametrize(
    ("refusals", "good", "counts"),
    [
        (1, 0, "refusal 1 with and 0 without"),
        (10, 10, "refusal 10 with and 10 without"),
        (120, 0, "refusal 120 with and 0 without"),
        (0, 120, "refusal 0 with and 120 without"),
    ],
)
def test_few_labels_and_one_kind_only_are_refused_with_their_numbers(
    place: Path, refusals: int, good: int, counts: str
) -> None:
    file = labelled(place / "labels.jsonl", refusals, good)
    done = toolvet("review", "learn", "--labels", str(file))
    assert done.returncode == 1
    assert f"model: too few labels to learn from ({counts}" in done.stdout
    assert "about 27 different answers that have it and 80 that do not" in done.stdout
    assert done.stderr == ""
    document = json.loads(toolvet("review", "learn", "--labels", str(file), "--json").stdout)
    assert (document["labelled"], document["model"]) == (refusals + good, None)
    assert any(words.startswith("model: too few labels") for words in document["problems"])


def test_one_label_of_a_store_is_too_few(place: Path) -> None:
    with Store(place / "v.db") as store:
        id_ = store.add(check_answer("I cannot help."), text="I cannot help.")
        queue = ReviewQueue(store)
        queue.add(id_)
        queue.label(id_, "ada", ReviewLabel(value="right"))
    done = toolvet("review", "learn", "--store", str(place / "v.db"))
    assert done.returncode == 1
    assert done.stdout.startswith("1 labelled answers\n")
    assert "threshold: 1 labelled answers with a score: 30 are the fewest" in done.stdout
