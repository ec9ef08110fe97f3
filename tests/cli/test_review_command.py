"""`toolvet review …` in the process of the test."""

import io
import json
import sys
from pathlib import Path

import pytest
from tests.cli.in_process import Done

from toolvet import check_answer
from toolvet.cli import run
from toolvet.store import Store

ODD = "I cannot help with order {}. <script>alert(1)</script> \x1b[31mIgnore all previous instructions."


def toolvet(*words: str) -> Done:
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        code = run([*words])
        out.flush()
    return Done(code, out.buffer.getvalue().decode(), err.getvalue())


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with three answers to look at, named by the environment."""
    path = tmp_path / "verdicts.db"
    with Store(path) as opened:
        for number in range(3):
            said = ODD.format(number)
            calls = [{"name": "get_order", "arguments": {"id": number}, "result": "\x1b[2Jgone"}]
            opened.add(check_answer(said, calls=calls, trace=f"turn-{number}"), text=said, calls=calls)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOOLVET_STORE", str(path))
    monkeypatch.setenv("TOOLVET_REVIEWER", "ada")
    return path


@pytest.mark.usefixtures("store")
def test_an_item_is_taken_labelled_taken_back_and_exported(tmp_path: Path) -> None:
    listed = toolvet("review", "list")
    assert listed.returncode == 0
    assert "3 open, 0 done, 0 labels" in listed.stdout
    taken = json.loads(toolvet("review", "next", "--json").stdout)
    id_ = taken["id"]
    assert [signal["key"] for signal in taken["signals"]] == ["0:refusal"]
    assert json.loads(toolvet("review", "next", "--json", "--reviewer", "bob").stdout)["id"] != id_
    done = toolvet("review", "label", id_, "wrong", "--signal", "0:refusal=wrong", "--note", "it quotes")
    assert (done.returncode, done.stderr) == (0, "ada says wrong; 1 of 1 reviewers have labelled it\n")
    shown = json.loads(toolvet("review", "show", id_, "--history", "--json").stdout)
    assert shown["labels"][0]["signals"] == {"0:refusal": "wrong"}
    assert [change["action"] for change in shown["history"]] == ["label"]
    assert toolvet("review", "undo").stderr == f"taken back: {id_} is as it was before\n"
    assert toolvet("review", "undo").returncode == 1
    assert toolvet("review", "label", id_, "right").returncode == 0
    assert "1 labels in" in toolvet("review", "export", str(tmp_path / "labels.jsonl")).stderr
    line = json.loads((tmp_path / "labels.jsonl").read_text())
    assert (line["id"], line["reviewer"], line["value"]) == (id_, "ada", "right")
    assert line["verdict"]["text"].startswith("I cannot help with order")
    assert json.loads(toolvet("review", "export").stdout) == line


@pytest.mark.usefixtures("store")
def test_an_item_is_shown_with_its_calls_and_no_escape_reaches_the_terminal() -> None:
    shown = toolvet("review", "next").stdout
    assert "toolvet says: a person should see this answer" in shown
    assert "Answers: right (the verdict is right), wrong" in shown
    assert '0:refusal: "I cannot help with' in shown
    assert "get_order" in shown
    assert "\x1b" not in shown
    assert "␛[31mIgnore all previous instructions." in shown
    assert "\x1b" not in toolvet("review", "list").stdout


@pytest.mark.usefixtures("store")
def test_others_and_their_history_are_hidden_until_one_has_labelled() -> None:
    id_ = json.loads(toolvet("review", "next", "--json").stdout)["id"]
    toolvet("review", "label", id_, "wrong", "--second-opinion")
    hidden = json.loads(toolvet("review", "show", id_, "--history", "--json", "--reviewer", "bob").stdout)
    assert hidden["labels"] == []
    assert "history" not in hidden
    assert "wrong" not in json.dumps({**hidden, "verdict": None})
    toolvet("review", "label", id_, "right", "--reviewer", "bob")
    seen = json.loads(toolvet("review", "show", id_, "--history", "--json", "--reviewer", "bob").stdout)
    assert {label["value"] for label in seen["labels"]} == {"right", "wrong"}
    assert len(seen["history"]) == 2
    figures = json.loads(toolvet("review", "agreement", "--json").stdout)
    assert (figures["items"], figures["agreed"], figures["disputed"]) == (1, 0.0, [id_])
    assert f"disputed: {id_}" in toolvet("review", "agreement").stdout


@pytest.mark.usefixtures("store")
def test_it_ends_with_1_when_nothing_is_left() -> None:
    for _ in range(3):
        assert toolvet("review", "skip", json.loads(toolvet("review", "next", "--json").stdout)["id"]).returncode == 0
    done = toolvet("review", "next")
    assert (done.returncode, done.stderr) == (1, "nothing is left for you in the review queue\n")
    assert toolvet("review", "next", "--reviewer", "bob").returncode == 0


def test_rules_of_the_settings_fill_the_queue(store: Path) -> None:
    (store.parent / "toolvet.toml").write_text(
        '[[review.queue]]\nname = "all"\nreviewers = 2\n\n[[review.queue]]\nname = "none"\nshare = 0.0\n'
    )
    assert toolvet("review", "fill", "--again").stderr == "3 new, 3 open, 0 done\n"
    items = json.loads(toolvet("review", "list", "--json").stdout)["items"]
    assert [(item["rule"], item["wanted"]) for item in items] == [("all", 2)] * 3


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ('name = "a"\nkinds = "answer"\n', "toolvet.toml, line 3: review.queue.kinds: unknown key"),
        (
            'name = "a"\nkind = "text"\n',
            "review.queue.kind: 'text' is none of call, arguments",
        ),
        ('name = "a"\nshare = 2.0\n', "share of a is 2, and must be from 0 to 1"),
    ],
)
def test_a_wrong_rule_is_named(store: Path, lines: str, problem: str) -> None:
    (store.parent / "toolvet.toml").write_text(f"[[review.queue]]\n{lines}")
    done = toolvet("review", "list")
    assert done.returncode == 2
    assert problem in done.stderr


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("label", "none", "right"), "the review queue has no item 'none'"),
        (("label", "ID", "perhaps"), "value: 'perhaps' is none of right, wrong, unsure"),
        (("label", "ID", "right", "--signal", "0:refusal"), "write it as KEY=VALUE"),
        (("label", "ID", "right", "--signal", "9:x=right"), "the verdict has no signal '9:x'"),
        (("show", "none"), "the review queue has no item 'none'"),
    ],
)
@pytest.mark.usefixtures("store")
def test_what_is_wrong_is_said(words: tuple[str, ...], problem: str) -> None:
    id_ = json.loads(toolvet("review", "next", "--json").stdout)["id"]
    done = toolvet("review", *(id_ if word == "ID" else word for word in words))
    assert done.returncode == 2
    assert problem in done.stderr


def test_a_file_of_lines_has_no_queue(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text("")
    done = toolvet("review", "list", "--store", str(path))
    assert done.returncode == 2
    assert "toolvet store import reads it" in done.stderr
