"""`toolvet contract`: a schema for each tool from a record of a real server, and the new version that leaves it."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.assess.replay.recording import LIBRARY, SECRET
from tests.cli.test_mock_command import conversation

from toolvet.cli import run
from toolvet.store import Store, VerdictFilter

ROOT = Path(__file__).parents[2]
CALLS: list[tuple[str, dict[str, Any]]] = [
    *[("get_shape", {"id": each}) for each in range(12)],
    *[("get_shape", {"id": 1})] * 3,
    *[("list_random", {})] * 40,
    *[("find_renamed", {"query": f"word {each}"}) for each in range(4)],
    *[("get_news", {"topic": f"topic {each}"}) for each in range(12)],
    *[("get_hidden_failure", {"id": each}) for each in range(12)],
    *[("count_output", {"shelf": f"shelf {each}"}) for each in range(12)],
    ("get_secret", {"api_key": SECRET}),
]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("record") / "record.db")
    conversation("auto", "record", "--out", path, "--", *LIBRARY, "old", calls=CALLS)
    return path


@pytest.fixture(scope="module")
def contracts(recorded: str) -> str:
    """The lock file with the contracts of the old version."""
    path = str(Path(recorded).with_name("contracts.json"))
    assert run(["contract", recorded, "--out", path]) == 0
    return path


def test_the_table_says_of_each_tool_what_is_proposed_or_why_nothing_is(
    recorded: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["contract", recorded]) == 0
    table = capsys.readouterr().out
    assert table in (ROOT / "docs" / "contract.md").read_text(encoding="utf-8")
    said = {line.split()[0]: " ".join(line.split()[1:]) for line in table.splitlines()}
    assert said["tool"] == "results left out constraints undecided"
    assert said == {
        **said,
        "get_shape": "12 0 4 0 JSON as text: also send structuredContent",
        "find_renamed": "4 0 - - 4 different results, and 10 are needed",
        "get_news": "12 0 - - 12 of 12 results are not JSON",
        "get_hidden_failure": "0 12 - - 0 different results, and 10 are needed",
        "count_output": "12 0 - - declares an outputSchema",
    }


def test_a_schema_follows_for_a_tool_that_is_named(recorded: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["contract", recorded, "--tool", "list_random", "--least", "40"]) == 0
    schema = json.loads(capsys.readouterr().out.partition("\nlist_random\n")[2])
    assert schema["required"] == ["asked_at", "request", "books", "by_id"]
    assert schema["properties"]["by_id"]["additionalProperties"]["required"] == ["title"]
    assert schema["properties"]["books"]["items"]["properties"]["note"] == {"type": ["string", "null"]}
    assert run(["contract", recorded, "--tool", "count_output", "--json"]) == 0
    (tool,) = json.loads(capsys.readouterr().out)["tools"]
    assert tool["proposal"]["evidence"] == {"/type": 12, "/properties/count/type": 12, "/required": 12}


def test_wrong_words_say_what_to_give(recorded: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["contract", recorded, "--tool", "get_nothing"]) == 2
    assert "the record has no call of it; it has count_output, find_renamed" in capsys.readouterr().err
    assert run(["contract", recorded, "--least", "0"]) == 2
    assert run(["contract", recorded, "--out", str(tmp_path / "none" / "x.json")]) == 2
    assert run(["contract", recorded, "--lock", str(tmp_path / "none.json")]) == 2


def test_the_file_is_a_lock_that_a_new_lock_keeps(contracts: str, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(Path(contracts).read_text(encoding="utf-8"))
    assert [each["name"] for each in document["contracts"]] == ["get_shape", "list_random"]
    assert len(document["tools"]) == 11
    assert run(["lock", "check", contracts, "--", *LIBRARY, "old"]) == 0
    assert capsys.readouterr().out == "no change\n"
    assert run(["lock", "--out", contracts, "--", *LIBRARY, "old"]) == 0
    assert json.loads(Path(contracts).read_text(encoding="utf-8")) == document


def test_the_proxy_reports_a_result_of_a_new_version_and_none_of_the_old_one(contracts: str, tmp_path: Path) -> None:
    for version, expected in (("old", 0), ("new", 1)):
        store = str(tmp_path / f"{version}.db")
        words = ("proxy", "--lock", contracts, "--store", store, "--", *LIBRARY, version)
        conversation("auto", *words, calls=[("get_shape", {"id": 99}), *[("list_random", {})] * 10])
        with Store(store) as kept:
            issues = [str(each.detail) for each in kept.verdicts(VerdictFilter(kind="call"), limit=20)]
        assert sum("contract: /pages" in each for each in issues) == expected
        assert sum("Contract: " in each for each in issues) == expected


def test_a_replay_counts_a_result_that_leaves_its_contract_as_worse(
    recorded: str, contracts: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--json", "--tool", "get_shape", "--tool", "list_random", "--lock", contracts]
    assert run(["replay", recorded, *words, "--", *LIBRARY, "new"]) == 1
    calls = json.loads(capsys.readouterr().out)["calls"]
    found = {(call["tool"], change["kind"]) for call in calls for change in call["changes"]}
    assert found == {("get_shape", "contract"), ("get_shape", "shape")}
    assert run(["replay", recorded, *words, "--", *LIBRARY, "text"]) == 0


def test_an_assessment_reports_it_as_a_finding(contracts: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--json", "--tool", "get_shape", "--tool", "list_random", "--lock", contracts, "--fail-on", "never"]
    for version, expected in (("old", set[str]()), ("new", {"get_shape"})):
        assert run(["assess", *words, "--", *LIBRARY, version]) == 0
        report = json.loads(capsys.readouterr().out)
        assert {each["tool"] for each in report["findings"] if each["id"] == "contract-left"} == expected


def test_a_batch_of_results_is_held_to_the_contracts(contracts: str, tmp_path: Path) -> None:
    rows = [{"tool": "get_shape", "result": {"title": "Emma", "pages": pages}} for pages in (474, {"total": 474})]
    source, output = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    assert run(["batch", "results", str(source), str(output), "--lock", contracts, "--quiet"]) == 0
    issues = [json.loads(line)["issues"] for line in output.read_text(encoding="utf-8").splitlines()]
    assert [any("Contract: " in each for each in found) for found in issues] == [False, True]
