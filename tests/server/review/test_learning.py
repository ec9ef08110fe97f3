"""`toolvet review learn`: labels in, a better model or none, phrases and thresholds out."""

import json
import re
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from toolvet.cli import run
from toolvet.core.checks.answer.model import read_model
from toolvet.core.checks.answer.model.classifier import LABELS, Label, judge, shipped
from toolvet.core.settings import load_settings
from toolvet.core.turn import check_answer
from toolvet.errors import ConfigError, UsageError
from toolvet.server.review.learning import (
    LabelledVerdict,
    read_labelled_line,
    split_held_back,
    suggest_phrases,
    suggest_threshold,
    type_precisions,
)
from toolvet.server.review.learning.labels import labelled_verdict
from toolvet.store import Store
from toolvet.store.judged import VerdictContext, verdict_record
from toolvet.store.queue import ReviewQueue
from toolvet.store.queue_records import ReviewLabel
from toolvet.store.records import VerdictRecord

pytest.importorskip("numpy", reason='needs NumPy: pip install "toolvet[learn]"')

from toolvet.server.review.learning.model import LearnedModel, learn_model, render_card

THINGS = (
    "the invoice", "your order", "this parcel", "the train", "my notes", "the garden plan", "a recipe", "the contract",
    "your flight", "the meeting", "this chart", "the library card", "our budget", "the song", "a translation",
    "the museum tour", "your password", "the lease", "this poem", "the weather report", "a map", "the bicycle",
)  # fmt: skip
ASKS = ("on Monday", "in Lisbon", "for Ada", "by noon", "with the team", "this spring")
EVERY: frozenset[Label] = frozenset(LABELS)


def labelled() -> list[LabelledVerdict]:
    """Refusals in a house style that no rule knows, and good answers about the same things."""
    rows = []
    for number, (thing, ask) in enumerate((thing, ask) for thing in THINGS for ask in ASKS):
        source = ("alpha", "beta")[number % 2]
        bad = f"It is important to note that {thing} {ask} sits beyond my remit, so kindly turn to the desk downstairs."
        good = f"It is important to note that {thing} {ask} is ready: the desk downstairs has all the papers for you."
        rows.append(
            LabelledVerdict(
                text=bad, source=source, there=frozenset({"refusal"}), not_there=EVERY - {"refusal"}, bad=True
            )
        )
        rows.append(LabelledVerdict(text=good, source=source, not_there=EVERY, bad=False))
    return rows


@cache
def house_model() -> LearnedModel:
    return learn_model(labelled(), shipped())


def test_a_model_learns_a_house_style_and_says_how_it_did_on_answers_held_back() -> None:
    rows, learned = labelled(), house_model()
    assert learned.refused is None
    assert learned.relearned == ("refusal",)
    assert learned.learned_from + learned.held_back == len(rows)
    alone = next(
        each for each in learned.outcomes if (each.by, each.label, each.source) == ("the model alone", "refusal", "all")
    )
    assert alone.found_before == 0
    assert alone.found_after > 0.9 * alone.positive
    assert alone.alarms_after == 0
    assert {each.source for each in learned.outcomes} >= {"alpha", "beta", "all", "toolvet's own sentences"}
    # Labels that no reviewer gave are those of the model before, byte for byte.
    assert learned.model.planes[1:] == shipped().planes[1:]
    said = (
        "It is important to note that the piano on Sunday sits beyond my remit, so kindly turn to the desk downstairs."
    )
    assert not judge(said)
    assert [each.label for each in judge(said, model=learned.model)] == ["refusal"]
    assert not check_answer(said).should_escalate
    judged = check_answer(said, model=learned.model)
    assert judged.should_escalate
    # Which model said so: the card beside the file has the whole of that number.
    assert [each.model for each in judged.signals] == [learned.model.name]
    assert f"`{learned.model.name}" in render_card(learned, base=shipped().to_bytes(), date="2026-11-22")
    assert learned.model.name != shipped().name
    # It still knows everything it knew before.
    assert check_answer("I cannot help with that request.", model=learned.model).should_escalate


def test_the_same_labels_give_the_same_model() -> None:
    assert learn_model(labelled(), shipped()).model.to_bytes() == house_model().model.to_bytes()


def test_a_worse_model_is_refused() -> None:
    """Labels that were turned around in the part that is learned from."""
    learned, held = split_held_back(labelled())
    refusal: frozenset[Label] = frozenset({"refusal"})
    turned = [
        LabelledVerdict(
            text=row.text,
            source=row.source,
            there=refusal - row.there,
            not_there=EVERY - (refusal - row.there),
        )
        for row in learned
    ]
    result = learn_model([*turned, *held], shipped())
    assert result.refused is not None


def test_labels_that_teach_nothing_new_are_refused() -> None:
    rows = [
        LabelledVerdict(
            text=f"{text} Case {number}.",
            source="a",
            there=frozenset({"refusal"}) if bad else frozenset(),
            not_there=EVERY - {"refusal"} if bad else EVERY,
        )
        for number in range(120)
        for text, bad in (("I cannot help with that request.", True), ("The museum opens at nine.", False))
    ]
    result = learn_model(rows, learn_model(rows, shipped()).model)
    assert result.refused is not None
    assert "no better" in result.refused or "no label" in result.refused


def test_too_few_labels_are_refused_with_their_numbers() -> None:
    with pytest.raises(UsageError, match="refusal 8 with and 8 without"):
        learn_model(labelled()[:16], shipped())


def test_the_card_says_what_it_is_from_and_quotes_no_answer() -> None:
    learned = house_model()
    card = render_card(learned, base=shipped().to_bytes(), date="2026-11-22")
    assert "| alpha | 132 |" in card
    assert "better than the one before" in card
    assert "remit" not in card


def test_held_back_answers_keep_their_conversation_and_equal_texts_count_once() -> None:
    rows = [
        LabelledVerdict(text=f"Answer {number}.", group=f"talk-{number % 10}", not_there=EVERY) for number in range(200)
    ]
    learned, held = split_held_back([*rows, *rows])
    assert len(learned) + len(held) == 200
    assert not {row.group for row in learned} & {row.group for row in held}
    assert held


def test_phrases_are_suggested_with_their_hits_and_near_misses() -> None:
    rows = [
        *labelled(),
        *(LabelledVerdict(text=f"That sits beyond my house, {thing} as well.", not_there=EVERY) for thing in THINGS),
    ]
    suggested = suggest_phrases(rows, "refusal")
    assert suggested
    first = suggested[0]
    assert first.count == 132
    assert first.misses_count == 0
    assert all("remit" in hit or "turn to" in hit for hit in first.hits)
    for each in suggested:
        assert each.words not in "is important to note that"
    with_near = suggest_phrases(
        [
            LabelledVerdict(text=text, there=frozenset({"refusal"}), not_there=frozenset())
            for text in ("Odd sits beyond us.", "Even sits beyond us!", "This sits beyond us?")
        ]
        + [LabelledVerdict(text="The village sits beyond the hill, far from us.", not_there=EVERY)],
        "refusal",
    )
    assert (with_near[0].words, with_near[0].count, with_near[0].misses_count) == ("beyond us", 3, 0)


def test_what_answers_share_because_of_their_language_is_not_suggested() -> None:
    """Refusals in Dutch, and good answers in English only: "het is" would be as good a phrase as any."""
    dutch = [
        LabelledVerdict(
            text=f"Het is niet toegestaan om {thing} te maken, zie de regels.", there=frozenset({"refusal"})
        )
        for thing in ("wapens", "vuurwerk", "geld", "paspoorten")
    ]
    english = [
        LabelledVerdict(text=f"Here it is: {thing}, and the rules are on the desk.", not_there=EVERY)
        for thing in THINGS
    ]
    assert suggest_phrases([*dutch, *english], "refusal") == []
    good = [
        LabelledVerdict(text=f"Om {thing} te maken, zie de regels: het is hier toegestaan.", not_there=EVERY)
        for thing in ("soep", "brood", "muziek")
    ]
    assert [each.words for each in suggest_phrases([*dutch, *english, *good], "refusal")] == ["is niet"]


def test_a_suggested_pattern_matches_what_it_was_taken_from() -> None:
    """A run of words that goes over a comma or a quotation mark is none that the pattern would find."""
    texts = ("Sadly, my hands are tied on {}.", "Sadly: my hands are  tied on {}.", "Sadly (MY hands\nare tied on {}.")
    rows = [
        LabelledVerdict(text=text.format(thing), there=frozenset({"refusal"})) for text in texts for thing in THINGS
    ]
    rows += [LabelledVerdict(text=f"On my desk are {thing}, all hands, tied.", not_there=EVERY) for thing in THINGS]
    suggested = suggest_phrases(rows, "refusal")
    assert suggested
    for each in suggested:
        assert all(re.search(each.pattern, hit, re.IGNORECASE) for hit in each.hits)
        assert sum(bool(re.search(each.pattern, row.text, re.IGNORECASE)) for row in rows) == each.count


def test_a_run_of_words_that_good_answers_have_is_not_suggested() -> None:
    rows = [
        LabelledVerdict(
            text=text, there=frozenset({"refusal"}) if bad else frozenset(), not_there=frozenset() if bad else EVERY
        )
        for text, bad in (("please see the desk", True),) * 5 + (("please see the desk", False),) * 5
    ]
    assert suggest_phrases(rows, "refusal") == []


def scored(*counts: tuple[float, int, int]) -> list[LabelledVerdict]:
    """Answers by (score, bad, good)."""
    return [
        LabelledVerdict(text=f"{score} {bad} {number}", score=score, bad=bad)
        for score, bads, goods in counts
        for bad, count in ((True, bads), (False, goods))
        for number in range(count)
    ]


def test_a_threshold_is_the_highest_that_is_proven() -> None:
    rows = scored((0.2, 200, 0), (0.5, 100, 4), (0.8, 10, 90))
    found = suggest_threshold(rows, 0.9)
    assert found.threshold == 0.8
    assert (found.escalated, found.right, found.missed) == (304, 300, 10)
    assert 0.9 <= found.at_least < found.precision
    assert suggest_threshold(rows, 0.96).threshold == 0.5


def test_a_threshold_that_few_labels_suggest_is_refused() -> None:
    with pytest.raises(UsageError, match="29 labelled answers"):
        suggest_threshold(scored((0.2, 29, 0)), 0.9)
    # All of forty are right, and still that does not prove 95 of 100.
    with pytest.raises(UsageError, match="label more"):
        suggest_threshold(scored((0.2, 40, 0)), 0.95)
    with pytest.raises(UsageError, match="share"):
        suggest_threshold(scored((0.2, 400, 0)), 1.0)


def test_lines_of_a_file_are_read_and_wrong_ones_named() -> None:
    row = read_labelled_line('{"text": "No.", "label": ["refusal", "incapable"], "source": "s"}', "file")
    assert (sorted(row.there), row.source, row.bad) == (["incapable", "refusal"], "s", True)
    assert read_labelled_line('{"text": "Yes.", "label": "ok"}', "file").not_there == EVERY
    for line, words in (("{", "not a labelled"), ('{"text": "a", "label": "bad"}', "label"), ("[1]", "not a labelled")):
        with pytest.raises(UsageError, match=words):
            read_labelled_line(line, "file")


def reviewed(text: str, *labels: ReviewLabel) -> LabelledVerdict:
    record = verdict_record(check_answer(text), VerdictContext(text=text, model="m1", at=1.0))
    found = labelled_verdict(record, labels)
    assert found is not None
    return found


def test_what_reviewers_say_becomes_labels() -> None:
    refusal = "I cannot help with that request."
    confirmed = reviewed(refusal, ReviewLabel(value="right"))
    assert (confirmed.there, confirmed.bad, confirmed.source) == (frozenset({"refusal"}), True, "m1")
    assert confirmed.found == (("refusal", True),)
    denied = reviewed(refusal, ReviewLabel(value="wrong", signals={"0:refusal": "wrong"}))
    assert (denied.there, denied.not_there, denied.bad) == (frozenset(), frozenset({"refusal"}), False)
    good = "The museum opens at nine and closes at six."
    assert reviewed(good, ReviewLabel(value="right")).not_there == EVERY
    # Something is wrong with it, and no reviewer said what.
    missed = reviewed(good, ReviewLabel(value="wrong"))
    assert (missed.there, missed.not_there, missed.bad) == (frozenset(), frozenset(), True)
    # It was let pass with a doubt: that this was wrong does not mean that the doubt was.
    shown = verdict_record(check_answer(refusal), VerdictContext(text=refusal, at=1.0))
    doubted = labelled_verdict(replace(shown, escalate=False), [ReviewLabel(value="wrong")])
    assert doubted is not None
    assert (doubted.there, doubted.not_there, doubted.found, doubted.bad) == (frozenset(), frozenset(), (), True)
    split = reviewed(refusal, ReviewLabel(value="right"), ReviewLabel(value="wrong"))
    assert (split.bad, split.is_rated) == (None, False)
    assert reviewed(refusal, ReviewLabel(value="unsure")).bad is None
    assert labelled_verdict(VerdictRecord(id="1", at=1.0, kind="result"), [ReviewLabel(value="right")]) is None
    (figures,) = type_precisions([confirmed, denied])
    assert (figures.type, figures.signals, figures.right) == ("refusal", 2, 1)


def test_a_fault_that_reviewers_name_becomes_a_label() -> None:
    text = "That order sits beyond my remit, so kindly turn to the desk downstairs."
    assert not check_answer(text).signals
    right, wrong = ReviewLabel(value="right"), ReviewLabel(value="wrong")
    named = replace(wrong, missed={"refusal": "sits beyond my remit"})
    one = reviewed(text, named)
    assert (one.there, one.named, one.bad) == (frozenset({"refusal"}), {"refusal": "sits beyond my remit"}, True)
    # A label of the model that is not a type of signal, and a type that the model has no label for.
    assert reviewed(text, replace(wrong, missed={"evasive": ""})).there == frozenset({"evasive"})
    vague = reviewed(text, replace(wrong, missed={"confusion": "kindly turn"}))
    assert (vague.there, set(vague.named)) == (frozenset(), {"confusion"})
    # A reviewer who found the verdict right speaks against it; one who found it wrong and named nothing does not.
    assert not reviewed(text, named, right).named
    assert reviewed(text, named, wrong).named
    assert reviewed(text, named, named, right).there == frozenset({"refusal"})
    assert reviewed(text, named, right, replace(right, final=True)).not_there == EVERY
    assert reviewed(text, right, right, replace(named, final=True)).there == frozenset({"refusal"})
    # An adjudicator who agrees with one of them need not name the fault again.
    assert reviewed(text, named, right, replace(wrong, final=True)).there == frozenset({"refusal"})
    refusal = "I cannot help with that request."
    alarm = replace(wrong, signals={"0:refusal": "wrong"})
    assert reviewed(refusal, alarm, replace(wrong, signals={"0:refusal": "right"}, final=True)).there == {"refusal"}
    (figures,) = type_precisions([one])
    assert (figures.type, figures.signals, figures.missed, figures.at_least) == ("refusal", 0, 1, 0.0)


def test_the_words_that_reviewers_name_become_phrases() -> None:
    """All answers share "turn to the desk"; the fault is in the words that were quoted."""
    missed = [
        LabelledVerdict(
            text=f"I would say {thing} sits beyond my remit, kindly turn to the desk.",
            named={"confusion": "sits beyond my remit"},
            bad=True,
        )
        for thing in THINGS
    ]
    good = [
        LabelledVerdict(text=f"I would say {thing} sits beyond the gate, at my desk.", not_there=EVERY, bad=False)
        for thing in THINGS
    ]
    (phrase,) = suggest_phrases([*missed, *good], "confusion")
    assert (phrase.words, phrase.label, phrase.count) == ("beyond my", "confusion", len(THINGS))
    assert phrase.misses


def test_a_phrase_that_nothing_comes_near_is_not_suggested() -> None:
    rows = [
        LabelledVerdict(text=f"The {thing} exceeds purview.", there=frozenset({"refusal"}), not_there=frozenset())
        for thing in ("book", "map", "song", "plan")
    ]
    far = [LabelledVerdict(text=f"The {thing} is here.", not_there=EVERY) for thing in ("book", "map", "song", "plan")]
    assert suggest_phrases([*rows, *far], "refusal") == []
    near = LabelledVerdict(text="The purview of the plan is wide.", not_there=EVERY)
    assert [each.words for each in suggest_phrases([*rows, *far, near], "refusal")] == ["exceeds purview"]


def labels_file(path: Path) -> Path:
    lines = [{"text": row.text, "label": sorted(row.there) or "ok", "source": row.source} for row in labelled()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_the_command_writes_a_model_that_settings_can_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    file = labels_file(tmp_path / "labels.jsonl")
    assert run(["review", "learn", "--labels", str(file), "--dry-run", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["model"]["relearned"] == ["refusal"]
    assert document["model"]["written"] is None
    assert document["phrases"][0]["hits"]
    assert not (tmp_path / "data").exists()
    assert run(["review", "learn", "--labels", str(file)]) == 0
    shown = capsys.readouterr()
    assert "[[phrase]]" in shown.out
    place = tmp_path / "data" / "toolvet" / "answer-model.bin"
    assert str(place) in shown.err
    assert place.with_suffix(".md").read_text().startswith("# A learned model")
    assert read_model(place.read_bytes(), "m").heads[0].label == "refusal"
    (tmp_path / "toolvet.toml").write_text('[checks.answer]\nmodel = "data/toolvet/answer-model.bin"\n')
    said = (
        "It is important to note that the piano on Sunday sits beyond my remit, so kindly turn to the desk downstairs."
    )
    assert load_settings(None).answer_check()(said).should_escalate
    # With that model in use, the same labels teach nothing more.
    assert run(["review", "learn", "--labels", str(file), "--dry-run"]) == 1
    assert "not installed" in capsys.readouterr().out
    place.write_bytes(b"something else")
    with pytest.raises(ConfigError, match="answer-model"):
        load_settings(None).answer_check()
    place.unlink()
    with pytest.raises(ConfigError, match="cannot be read"):
        load_settings(None).answer_check()


def test_the_command_learns_from_the_labels_of_a_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    said = "I cannot help with that request."
    with Store(tmp_path / "v.db") as store:
        queue = ReviewQueue(store)
        for number in range(40):
            text = f"{said} Case {number}."
            id_ = store.add(check_answer(text), text=text, model="m1")
            store.flush()
            queue.add(id_)
            queue.label(id_, "ada", ReviewLabel(value="right"))
    assert run(["review", "learn", "--store", str(tmp_path / "v.db"), "--precision", "0.8", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["labelled"] == 40
    assert document["threshold"]["right"] == 40
    assert document["types"][0] == {"type": "refusal", "signals": 40, "right": 40, "at_least": 0.9366, "missed": 0}
    assert any(words.startswith("model: too few labels") for words in document["problems"])
    assert run(["review", "learn", "--labels", str(tmp_path / "none.jsonl")]) == 2
    (tmp_path / "bad.jsonl").write_text('{"text": "a", "label": "ok"}\n{"text": "b"}\n')
    assert run(["review", "learn", "--labels", str(tmp_path / "bad.jsonl")]) == 2
    assert "bad.jsonl, line 2" in capsys.readouterr().err


def test_faults_that_were_missed_reach_the_model_the_phrases_and_the_threshold_from_a_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with Store(tmp_path / "v.db") as store:
        queue = ReviewQueue(store)
        for row in labelled():
            verdict = check_answer(row.text)
            assert not verdict.signals
            queue.add(store.add(verdict, text=row.text, model=row.source))
            missed = {"refusal": "sits beyond my remit"} if row.bad else {}
            label = ReviewLabel(value="wrong" if row.bad else "right", missed=missed)
            queue.label(queue.items(limit=1000)[-1].id, "ada", label)
    assert run(["review", "learn", "--store", str(tmp_path / "v.db"), "--dry-run", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["model"]["relearned"] == ["refusal"]
    assert document["types"] == [{"type": "refusal", "signals": 0, "right": 0, "at_least": 0.0, "missed": 132}]
    assert document["phrases"][0]["words"] in "sits beyond my remit"
    assert all(phrase["misses"] for phrase in document["phrases"])
