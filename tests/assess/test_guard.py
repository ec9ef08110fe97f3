"""Tools that may change things are called only with the user's values and with what this run has made."""

import asyncio
import json
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from toolvet.assess import Options, Report, assess
from toolvet.assess.folder import Folder
from toolvet.assess.guard import action_of, guard_of, protected_parameters
from toolvet.assess.harvest import Harvest
from toolvet.assess.rules import ToolDefinition, tool_definition
from toolvet.mcp.transport import StdioTarget

SERVER = Path(__file__).parents[1] / "servers" / "tasks.py"
OLD = {1, 2, 17}  # The tasks that the server has before anything is called.


def assessed(tmp_path: Path, *words: str, **options: Any) -> Report:
    target = StdioTarget(command=sys.executable, args=(str(SERVER), str(tmp_path / "calls"), *words))
    return asyncio.run(assess(target, Options(timeout=5.0, **options)))


def calls(tmp_path: Path, tool: str) -> Iterator[Mapping[str, Any]]:
    for line in (tmp_path / "calls").read_text(encoding="utf-8").splitlines():
        note = json.loads(line)
        if note["tool"] == tool:
            yield note["arguments"]


def skipped(report: Report) -> dict[str, str]:
    return {tool.name: tool.skipped for tool in report.tools if tool.skipped is not None}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("words", [(), ("text",), ("flags",), ("upserts",), ("text", "upserts")])
def test_only_what_this_run_made_is_changed_and_deleted(tmp_path: Path, words: tuple[str, ...], seed: int) -> None:
    report = assessed(tmp_path, *words, destructive="call", seed=seed)
    for tool in ("rename_task", "delete_task"):
        sent = [arguments.get("task_id") for arguments in calls(tmp_path, tool)]
        assert sent, tool
        assert not OLD.intersection(sent), tool
        assert None not in sent, "a call without its target may take all for its target"
    assert {"kill_process", "run", "delete_all_of_host"} <= set(skipped(report))


def test_what_is_not_made_is_not_deleted_and_the_reason_names_the_parameter(tmp_path: Path) -> None:
    report = assessed(tmp_path, include=["delete_task", "kill_process"])
    assert not list(calls(tmp_path, "delete_task"))
    assert skipped(report)["delete_task"] == (
        "destructive, and this run made nothing that could be given as 'task_id': give it a fixture"
    )
    assert "'pid'" in skipped(report)["kill_process"]


def test_a_process_is_killed_only_with_the_users_own_pid(tmp_path: Path) -> None:
    assessed(tmp_path, include=["kill_process"], fixtures={"kill_process": [{"pid": 4242}]})
    assert {arguments["pid"] for arguments in calls(tmp_path, "kill_process")} == {4242}


def test_a_value_of_the_user_is_as_good_as_a_fixture(tmp_path: Path) -> None:
    assessed(tmp_path, include=["run"], values={"command": "true"})
    assert {arguments["command"] for arguments in calls(tmp_path, "run")} == {"true"}


def test_no_target_is_invented_for_a_tool_that_changes_something(tmp_path: Path) -> None:
    report = assessed(tmp_path, "targets", destructive="call")
    called = {json.loads(line)["tool"] for line in (tmp_path / "calls").read_text(encoding="utf-8").splitlines()}
    assert called.isdisjoint({"format_disk", "push_branch", "empty_bucket", "migrate", "pay"})
    assert skipped(report)["format_disk"].endswith("could be given as 'device': give it a fixture")


def test_tools_in_disguise_are_not_called_by_default(tmp_path: Path) -> None:
    table = Path(__file__).parents[1] / "core" / "tool_rules" / "disguised.toml"
    rows = [row.split("|") for row in tomllib.loads(table.read_text(encoding="utf-8"))["hits"]]
    tools: list[dict[str, object]] = []
    for name, words, parameters, _ in rows:
        split = [each.partition(":") for each in parameters.split(",") if each]
        properties = {key.rstrip("?"): {"type": kind} for key, _, kind in split}
        required = [key for key, _, _ in split if not key.endswith("?")]
        shape = {"type": "object", "properties": properties, "required": required}
        tools.append({"name": name, "description": words, "inputSchema": shape})
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"tools": tools, "answers": {"*": {"echo": True}}}), encoding="utf-8")
    scripted = SERVER.with_name("scripted.py")
    target = StdioTarget(command=sys.executable, args=(str(scripted), str(script)))
    report = asyncio.run(assess(target, Options(timeout=5.0)))
    assert len(rows) >= 30
    assert len(skipped(report)) == len(report.tools) == len(rows)


def test_an_included_tool_that_only_computes_is_called_with_any_value(tmp_path: Path) -> None:
    report = assessed(tmp_path, "targets", include=["parse_cidr", "generate_qr", "normalize_table"])
    assert next(calls(tmp_path, "parse_cidr"))["cidr"]
    assert {"parse_cidr", "generate_qr"}.isdisjoint(skipped(report))
    # It may change the table that it is given.
    assert "'table'" in skipped(report)["normalize_table"]


def test_what_creates_comes_before_what_changes_and_deletes(tmp_path: Path) -> None:
    assessed(tmp_path, destructive="call")
    lines = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
    order = [tool for tool in dict.fromkeys(json.loads(line)["tool"] for line in lines) if "toolvet" not in tool]
    assert order == ["list_tasks", "get_task", "create_task", "rename_task", "delete_task"]


def test_what_was_created_feeds_the_tools_that_read(tmp_path: Path) -> None:
    assessed(tmp_path, "forgets", include=["create_task"])
    assert next(calls(tmp_path, "get_task"))["task_id"] not in {1, 2, 17}
    assert any('"title"' in line for line in (tmp_path / "calls").read_text(encoding="utf-8").splitlines())


# ── which parameters ──


def tool(name: str, *required: str, **properties: object) -> ToolDefinition:
    all_properties = {key: {"type": "string"} for key in required} | properties
    return tool_definition(
        {"name": name, "inputSchema": {"type": "object", "properties": all_properties, "required": list(required)}}
    )


@pytest.mark.parametrize(
    ("name", "deed"),
    [
        ("create_task", "creates"),
        ("upload_file", "creates"),
        ("rename_task", "changes"),
        ("format_text", "changes"),
        ("delete_task", "deletes"),
        ("cleanup_resources", "deletes"),
        ("task_remove", "deletes"),
    ],
)
def test_the_words_of_a_name_say_what_is_done(name: str, deed: str) -> None:
    assert action_of(tool(name)) == deed


@pytest.mark.parametrize(
    ("name", "parameter", "is_protected"),
    [
        ("update_task", "task_id", True),
        ("update_task", "title", False),
        ("update_task", "note", False),
        ("update_server", "host", True),
        ("execute", "command", True),
        ("edit_file", "path", True),
        ("rename", "branch_name", True),
        ("send_mail", "recipient", True),
        ("delete_thing", "what", True),
        ("delete_thing", "reason", False),
        ("format_disk", "device", True),
        ("resize_partition", "partition_name", True),
        ("flush_cache", "host", True),
        ("push_changes", "branch", True),
        ("migrate", "database", True),
        ("rotate_logs", "table", True),
        ("empty_bucket", "bucket", True),
        ("charge", "from_account", True),
        ("invite", "recipients", True),
        ("attach", "volume", True),
        ("create_record", "zone", True),
        ("create_token", "for_user", True),
        ("toggle", "lamp", True),
        ("sync", "what", True),
        ("format_text", "text", False),
        ("paint", "colour", False),
        ("draw", "font_size", False),
        ("schedule", "start_time", False),
        ("create_bucket", "bucket", True),
        ("create_note", "body", False),
    ],
)
def test_what_names_a_thing_or_aims_at_something_is_protected(name: str, parameter: str, *, is_protected: bool) -> None:
    assert (parameter in protected_parameters(tool(name, parameter))) is is_protected


ITEMS = {"type": "array", "items": {"type": "object", "properties": {"task_id": {"type": "integer"}}}}
ENTITIES = {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}
CELLS = {"type": "array", "items": {"type": "object", "properties": {"colour": {"type": "string"}}}}


def test_what_a_structure_names_is_protected_as_well() -> None:
    assert protected_parameters(tool("update_tasks", items=ITEMS)) == ("items",)
    assert protected_parameters(tool("create_entities", entities=ENTITIES)) == ()
    assert protected_parameters(tool("paint", cells=CELLS)) == ()


def test_a_choice_of_targets_is_no_approval_and_a_choice_of_ways_needs_none() -> None:
    disks = {"type": "string", "enum": ["/dev/sda", "/dev/sdb"]}
    ways = {"type": "string", "enum": ["quick", "full"]}
    assert protected_parameters(tool("format_disk", device=disks, method=ways)) == ("device",)


def test_a_target_inside_a_structure_is_found_behind_its_reference() -> None:
    shape = {
        "type": "object",
        "properties": {"options": {"type": "object", "properties": {"bucket": {"type": "string"}}}},
    }
    definition = tool_definition(
        {
            "name": "sync",
            "inputSchema": {
                "type": "object",
                "properties": {"request": {"$ref": "#/$defs/Request"}, "style": {"$ref": "#/$defs/Style"}},
                "$defs": {"Request": shape, "Style": {"type": "object", "properties": {"colour": {"type": "string"}}}},
            },
        }
    )
    assert protected_parameters(definition) == ("request",)


def test_what_this_run_made_under_its_own_noun_is_given_to_what_deletes_it() -> None:
    creates = tool("create_bucket", "bucket")
    guard = guard_of(creates, Harvest(), known={}, fixtures=(), folder=None)
    assert guard.value("bucket") == "toolvet-made"
    harvest = Harvest()
    harvest.note_made([("bucket",)], "toolvet-made")
    deletes = guard_of(tool("empty_bucket", "bucket"), harvest, known={}, fixtures=(), folder=None)
    assert deletes.value("bucket") == "toolvet-made"
    assert guard_of(tool("format_disk", "device"), harvest, known={}, fixtures=(), folder=None).missing == ("device",)


def test_a_new_thing_gets_a_new_name_and_a_path_below_the_folder() -> None:
    writes = guard_of(
        tool("write_file", "path", "content"), Harvest(), known={}, fixtures=(), folder=Folder("/data", ("old.txt",))
    )
    assert writes.value("path") == "/data/toolvet-made.txt"
    assert writes.permits({"path": "/data/toolvet-made.txt", "content": "x"})
    assert not writes.permits({"path": "/etc/passwd", "content": "x"})
    assert not writes.permits({"content": "x"})
    deletes = guard_of(
        tool("delete_file", "path"), Harvest(), known={}, fixtures=(), folder=Folder("/data", ("old.txt",))
    )
    assert deletes.missing == ("path",)


@pytest.mark.parametrize(
    ("tool", "source", "destination"),
    [
        ("move_file", "source", "destination"),
        ("copy_file", "source_path", "dest_path"),
        ("rename_file", "path", "new_path"),
        ("copy_document", "source_filename", "destination_filename"),
    ],
)
def test_what_is_moved_goes_to_a_path_of_its_own_in_the_folder(tool: str, source: str, destination: str) -> None:
    declared = {source: {"type": "string"}, destination: {"type": "string"}}
    definition = tool_definition(
        {"name": tool, "inputSchema": {"type": "object", "properties": declared, "required": [source, destination]}}
    )
    harvest = Harvest()
    harvest.note_made([("path",)], "/data/toolvet-made.txt")
    guard = guard_of(definition, harvest, known={}, fixtures=[], folder=Folder("/data", ("a.txt",)))
    assert guard.value(destination) == "/data/toolvet-made-moved.txt"
    assert guard.value(source) == "/data/toolvet-made.txt" or action_of(definition) == "creates"
    assert guard.value(source) != guard.value(destination)


def test_one_path_alone_is_no_destination() -> None:
    declared = {"target_path": {"type": "string"}, "text": {"type": "string"}}
    definition = tool_definition({"name": "edit_file", "inputSchema": {"type": "object", "properties": declared}})
    harvest = Harvest()
    harvest.note_made([("path",)], "/data/toolvet-made.txt")
    guard = guard_of(definition, harvest, known={}, fixtures=[], folder=Folder("/data"))
    assert guard.value("target_path") == "/data/toolvet-made.txt"
