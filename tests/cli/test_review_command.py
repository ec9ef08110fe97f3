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
def test_the_item_that_one_has_needs_no_id() -> None:
    refused = toolvet("review", "label", "mine", "right")
    assert refused.returncode == 2
    assert "ada has no item, or its lease ran out: take one with `toolvet review next`" in refused.stderr
    id_ = json.loads(toolvet("review", "next", "--json").stdout)["id"]
    assert json.loads(toolvet("review", "show", "mine", "--json").stdout)["id"] == id_
    assert toolvet("review", "release").stderr == f"{id_} is free again\n"
    assert json.loads(toolvet("review", "next", "--json", "--reviewer", "bob").stdout)["id"] == id_
    assert toolvet("review", "release", id_).returncode == 1
    assert json.loads(toolvet("review", "release", "--reviewer", "bob", "--json").stdout) == {
        "id": id_,
        "released": True,
    }
    assert json.loads(toolvet("review", "next", "--json").stdout)["id"] == id_
    assert json.loads(toolvet("review", "label", "mine", "right", "--json").stdout)["labelled"] == 1


@pytest.mark.usefixtures("store")
def test_the_labels_of_others_are_said_to_be_there_and_every_change_is_shown() -> None:
    id_ = json.loads(toolvet("review", "next", "--json").stdout)["id"]
    toolvet("review", "label", id_, "wrong", "--second-opinion", "--note", "it quotes")
    assert (
        "1 label of others: shown once you have labelled it"
        in toolvet("review", "show", id_, "--reviewer", "bob").stdout
    )
    toolvet("review", "label", id_, "right")
    toolvet("review", "undo")
    shown = toolvet("review", "show", id_, "--history").stdout
    assert "of others" not in shown
    assert 'ada  undo right → wrong "it quotes"' in shown
    assert "ada  label wrong → right\n" in shown
    assert 'ada  label wrong "it quotes"\n' in shown


def test_the_list_can_be_narrowed_and_a_verdict_put_in(store: Path) -> None:
    with Store(store) as opened:
        good = opened.add(check_answer("The book is on the shelf."), text="The book is on the shelf.", at=1.0)
    done = toolvet("review", "add", good, "--priority", "99", "--reviewers", "2")
    assert (done.returncode, done.stderr) == (0, f"{good} is in the queue (by hand) and wants 2 reviewers\n")
    assert toolvet("review", "add", "none").returncode == 2
    assert toolvet("review", "add", good, "--reviewers", "0").returncode == 2
    assert json.loads(toolvet("review", "add", good, "--json").stdout)["wanted"] == 2
    assert json.loads(toolvet("review", "next", "--json").stdout)["id"] == good
    assert toolvet("review", "label", "mine", "right").returncode == 0
    for words, count in (
        (("--rule", "by hand"), 1),
        (("--rule", "escalated"), 3),
        (("--kind", "call"), 0),
        (("--mine",), 1),
        (("--mine", "--reviewer", "bob"), 0),
        (("--limit", "1"), 4),
    ):
        assert json.loads(toolvet("review", "list", "--json", *words).stdout)["total"] == count
    assert "the first 1 of 4; --limit shows more" in toolvet("review", "list", "--limit", "1").stdout
    assert toolvet("review", "list", "--limit", "-1").returncode == 2


@pytest.mark.usefixtures("store")
def test_what_only_changes_something_says_so_as_json_too(tmp_path: Path) -> None:
    filled = json.loads(toolvet("review", "fill", "--json").stdout)
    assert filled == {"new": 3, "progress": {"items": 3, "open": 3, "done": 0, "labels": 0}}
    id_ = json.loads(toolvet("review", "next", "--json").stdout)["id"]
    assert json.loads(toolvet("review", "skip", "mine", "--json").stdout) == {"id": id_, "skipped": True}
    assert toolvet("review", "undo").returncode == 0
    toolvet("review", "label", "mine", "right")
    file = tmp_path / "labels.jsonl"
    assert json.loads(toolvet("review", "export", str(file), "--json").stdout) == {"labels": 1, "file": str(file)}


@pytest.mark.usefixtures("store")
def test_a_name_that_no_database_takes_is_made_one() -> None:
    id_ = json.loads(toolvet("review", "next", "--json", "--reviewer", "a\udcffb").stdout)["id"]
    assert toolvet("review", "label", id_, "right", "--reviewer", "a\udcffb").stderr.startswith("a?b says right")


@pytest.mark.usefixtures("store")
def test_evidence_is_underlined_on_a_terminal() -> None:
    from toolvet.cli.commands.review.run import item_lines  # noqa: PLC0415
    from toolvet.store.judged import VerdictContext, verdict_record  # noqa: PLC0415
    from toolvet.store.queue_records import QueueItem  # noqa: PLC0415

    said = "Well, I cannot help with that order. " + "x" * 5_000
    record = verdict_record(check_answer(said), VerdictContext(text=said, at=1.0))
    item = QueueItem(id="1", seq=1, at=1.0, rule="r", priority=0, wanted=1, labelled=0, verdict=record)
    text = next(line for line in item_lines(item, None) if line.plain.startswith("Well"))
    (span,) = [span for span in text.spans if span.style == "underline"]
    assert text.plain[span.start : span.end].startswith("I cannot help")
    assert text.plain.endswith(f" … ({len(said) - 4_000:,} more characters)")


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
            "review.queue.kind: 'text' is not one of call, arguments",
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
        (("label", "ID", "perhaps"), "value: 'perhaps' is not one of right, wrong, unsure"),
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


@pytest.mark.usefixtures("store")
def test_a_team_goes_from_the_queue_to_the_export(tmp_path: Path) -> None:
    listed = json.loads(toolvet("review", "list", "--json").stdout)["items"]
    assert listed[0]["reasons"] == ["refusal"]
    assert "  refusal 0" in toolvet("review", "list").stdout
    last = listed[-1]["id"]
    assert toolvet("review", "assign", last, "bob").stderr == f"{last} is for bob\n"
    assert ", for bob" in toolvet("review", "list", "--assigned", "--reviewer", "bob").stdout
    assert last not in toolvet("review", "list", "--assigned").stdout
    taken = json.loads(toolvet("review", "next", "--json", "--reviewer", "bob").stdout)
    assert taken["id"] == last
    refused = toolvet("review", "label", "mine", "wrong", "--reviewer", "bob", "--missed", "evasive=never said")
    assert refused.returncode == 2
    assert "missed.evasive: the answer does not contain 'never said'" in refused.stderr
    named = ("--missed", "evasive=help with order", "--second-opinion")
    assert toolvet("review", "label", "mine", "wrong", "--reviewer", "bob", *named).returncode == 0
    assert toolvet("review", "label", last, "right").returncode == 0
    assert "1 of" not in (disputed := toolvet("review", "list", "--state", "disputed").stdout)
    assert last in disputed
    assert ", disputed" in disputed
    assert 'wrong; missed evasive "help with order"' in toolvet("review", "show", last).stdout
    assert toolvet("review", "label", last, "wrong", "--final").stderr == "ada settled it: wrong\n"
    assert "wrong (final)" in toolvet("review", "show", last).stdout
    assert "reviewed   bob: wrong; missed evasive" in toolvet("trace", "turn-2").stdout
    toolvet("review", "export", str(tmp_path / "labels.jsonl"))
    lines = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    assert [(line["reviewer"], line["value"], line["final"]) for line in lines] == [
        ("bob", "wrong", False), ("ada", "right", False), ("ada", "wrong", True),
    ]  # fmt: skip
    assert lines[0]["missed"] == {"evasive": "help with order"}
    assert toolvet("review", "assign", listed[0]["id"]).stderr.endswith("is for anybody who is free\n")
