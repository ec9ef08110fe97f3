"""The learned tier: what the shipped weights are, and that whatever it is given it judges, or says what is wrong."""

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, strategies as st

from toolvet.core.checks.answer.model import judge
from toolvet.core.checks.answer.model.classifier import LABELS, SLOTS, Model, features, shipped
from toolvet.errors import ConfigError, UsageError

WEIGHTS = Path(__file__).parents[3] / "src/toolvet/core/checks/answer/model/weights.bin"
FRANK = "I'm sorry, but I can't help with that request. It would be unethical and could harm people."
KIND = "The bridge was opened in 1932 and carries eight lanes of traffic over the harbour."


def every_label(model: Model) -> Model:
    """The same model, reporting whatever it thinks."""
    return Model([msgspec.structs.replace(head, threshold=0.0) for head in model.heads], model.planes)


def test_the_shipped_weights_load_and_are_small() -> None:
    content = WEIGHTS.read_bytes()
    assert len(content) <= 3 * 1024 * 1024
    assert Model.from_bytes(content).to_bytes() == content


def test_a_refusal_is_more_of_a_refusal_than_a_fact_is() -> None:
    refused, told = (shipped().probabilities(features(text))[0] for text in (FRANK, KIND))
    assert refused > 10 * told


def test_the_same_text_gives_the_same_judgement() -> None:
    model = every_label(shipped())
    assert judge(FRANK, model=model) == judge(FRANK, model=every_label(Model.from_bytes(WEIGHTS.read_bytes())))


def test_a_judgement_quotes_the_sentence_that_spoke_for_it() -> None:
    text = f"{KIND} {FRANK}"
    judged = {each.label: each for each in judge(text, model=every_label(shipped()))}
    refusal = judged["refusal"]
    assert set(judged) == set(LABELS)
    assert refusal.evidence == "I'm sorry, but I can't help with that request."
    assert text[refusal.position :].startswith(refusal.evidence)
    assert refusal.weight == pytest.approx(0.75 * refusal.probability, abs=0.001)


def test_what_a_model_thought_aloud_is_not_its_answer() -> None:
    thought = "<think>\nI could say that I can't help with that request. But I can.\n</think>\n"
    assert shipped().probabilities(features(thought + KIND))[0] == pytest.approx(
        shipped().probabilities(features(KIND))[0], abs=0.02
    )


def damaged() -> Iterator[tuple[str, bytes, str]]:
    content = WEIGHTS.read_bytes()
    line, _, body = content.partition(b"\n")
    yield "empty", b"", "is damaged"
    yield "cut", content[:-1000], "checksum"
    yield "one byte", content[:-5] + bytes([content[-5] ^ 1]) + content[-4:], "checksum"
    yield "not ours", b"PK\x03\x04" + content, "is damaged"
    later = line.replace(b"toolvet-answer-model/1", b"toolvet-answer-model/9")
    yield "later format", later + b"\n" + body, "this version reads"
    yield "a label less", line.replace(b'"evasive"', b'"refusal"') + b"\n" + body, "is damaged"


@pytest.mark.parametrize(("content", "says"), [case[1:] for case in damaged()], ids=[case[0] for case in damaged()])
def test_a_damaged_file_is_named_with_what_is_wrong(content: bytes, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as raised:
        Model.from_bytes(content, file="somewhere/weights.bin")
    assert "somewhere/weights.bin" in str(raised.value)


@given(st.text())
def test_any_text_is_judged_with_evidence_where_it_says(text: str) -> None:
    for each in judge(text, model=every_label(shipped())):
        assert 0 <= each.probability <= 1
        assert text[each.position : each.position + len(each.evidence)] == each.evidence


@pytest.mark.parametrize(
    "text", ["", " \n", "\ud800" * 50, "\0", "12345", "。" * 90, "<think>", "I" * 5000, "\u0130" * 900]
)
def test_odd_texts_are_judged_too(text: str) -> None:
    assert isinstance(judge(text), tuple)


def test_the_work_does_not_grow_with_the_text() -> None:
    """Counted in features, which is what the time goes with: only the two ends are read."""
    sentence = "This is a sentence of some words, and another. "
    assert len(features(sentence * 200_000)) == len(features(sentence * 100))
    assert len(features("拒" * 10_000_000)) <= 4 * 3 * 130
    assert max(features(sentence * 20)) < SLOTS


def test_no_numpy_is_loaded_to_judge() -> None:
    import subprocess  # noqa: PLC0415 - another process, because the tests here load NumPy.

    code = (
        "import sys; from toolvet.core.checks.answer.model import judge; "
        "judge('I am sorry, I cannot.'); sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


pytest.importorskip("numpy", reason='needs NumPy: pip install "toolvet[learn]"')

from toolvet.core.checks.answer.model.training import LabelledText, TrainingSettings, train  # noqa: E402

REFUSED = [
    "I cannot do {}.",
    "Sorry, {} is nothing that I help with.",
    "I won't talk about {}, sorry.",
    "I must decline {}.",
]
ANSWERED = ["The {} is ready.", "Here is how {} works.", "You asked about {}: it is blue.", "People like {} in spring."]
THINGS = ["apples", "rivers", "engines", "songs", "letters", "stars"]


def labelled(sources: list[str]) -> list[LabelledText]:
    return [
        LabelledText(text=form.format(thing), source=source, wrong=frozenset({"refusal"} if form in REFUSED else ()))
        for source in sources
        for form in (*REFUSED, *ANSWERED)
        for thing in THINGS
    ]


def test_training_gives_a_model_that_tells_its_labels_apart_and_says_how_well() -> None:
    trained = train(labelled(["one", "two"]), TrainingSettings(steps=40))
    refused, answered = (
        judge(text, model=trained.model) for text in ("I must decline roses.", "Here is how roses works.")
    )
    assert [each.label for each in refused] == ["refusal"]
    assert answered == ()
    measured = {(each.label, each.source): each for each in trained.measured}
    assert measured["refusal", "two"].positive == len(REFUSED) * len(THINGS)
    assert measured["refusal", "two"].auc == 1.0


def test_training_twice_gives_the_same_bytes() -> None:
    one, two = (train(labelled(["one", "two"]), TrainingSettings(steps=10)).model.to_bytes() for _ in range(2))
    assert one == two


def test_a_label_that_nobody_taught_is_never_reported() -> None:
    trained = train(labelled(["one", "two"]), TrainingSettings(steps=10))
    assert [head.threshold > 1 for head in trained.model.heads] == [False, True, True, True]


def test_texts_of_one_source_are_refused_because_nothing_could_be_measured() -> None:
    with pytest.raises(UsageError, match="at least two sources"):
        train(labelled(["one"]))
