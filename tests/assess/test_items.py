"""Resources, templates, prompts and completion of real servers: what is asked, what is found, what is left alone."""

import asyncio
import json
import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from toolvet.assess import Options, Report, assess
from toolvet.assess.report import load, render
from toolvet.assess.rules import cards
from toolvet.findings import Finding
from toolvet.mcp.transport import StdioTarget

SERVER = Path(__file__).parents[1] / "servers" / "shelf.py"
REFUSED = {"error": [-32602, "Not found"]}
BOOKS = {"uri": "shop://books", "name": "books", "description": "All books.", "mimeType": "text/plain"}
TEXT = {"contents": [{"uri": "shop://books", "mimeType": "text/plain", "text": "Emma"}]}
PLAN = {
    "name": "plan",
    "description": "Plan a day.",
    "arguments": [{"name": "day", "description": "Which.", "required": True}],
}
TOOL = {"name": "get_day", "description": "Get a day.", "inputSchema": {"type": "object"}}
MESSAGES = {"messages": [{"role": "user", "content": {"type": "text", "text": "Plan a day."}}]}
SOUND: dict[str, Any] = {
    "resources/list": {"result": {"resources": [BOOKS]}},
    "resources/templates/list": {"result": {"resourceTemplates": []}},
    "resources/read": REFUSED,
    "resources/read shop://books": {"result": TEXT},
    "prompts/list": {"result": {"prompts": [{**PLAN, "arguments": []}]}},
    "prompts/get": REFUSED,
    "prompts/get plan": {"result": MESSAGES},
}


def run(tmp_path: Path, answers: dict[str, Any], *capabilities: str, **options: Any) -> Report:
    script = tmp_path / "script.json"
    announced: dict[str, object] = {name: {} for name in capabilities or ("resources", "prompts")}
    if "skills" in announced:
        announced["extensions"] = {"io.modelcontextprotocol/skills": announced.pop("skills")}
    script.write_text(json.dumps({"capabilities": announced, "answers": {**SOUND, **answers}}), encoding="utf-8")
    target = StdioTarget(command=sys.executable, args=(str(SERVER), str(script)))
    return asyncio.run(assess(target, Options(**{"timeout": 20, "era": "legacy", **options})))


def graver(report: Report) -> list[tuple[str, str]]:
    return sorted((found.id, found.severity.value) for found in report.findings if found.severity.value != "info")


def only(report: Report, check: str) -> Finding:
    (found,) = [finding for finding in report.findings if finding.id == check]
    return found


def test_a_sound_server_without_tools_has_no_findings(tmp_path: Path) -> None:
    report = run(tmp_path, {})
    assert report.findings == []
    assert report.score is None
    assert [item.exercised for item in (*report.items.resources, *report.items.prompts)] == [True, True]
    asked = Counter(request.method for request in report.items.others)
    assert asked == {"resources/read": 3, "prompts/get": 1}


def test_a_listed_resource_that_cannot_be_read_is_an_error_of_that_resource(tmp_path: Path) -> None:
    report = run(tmp_path, {"resources/read shop://books": {"error": [-32603, "The shelf is locked"]}})
    assert graver(report) == [("resource-read-failed", "error")]
    found = only(report, "resource-read-failed")
    assert (found.item_kind, found.item, found.tool) == ("resource", "shop://books", None)
    assert found.scenario == report.items.resources[0].requests[0].id
    assert report.items.resources[0].why_not == "error -32603: The shelf is locked"


UNREACHABLE = {"error": [-32603, "Failed to fetch: getaddrinfo ENOTFOUND api.shop.example"]}
UNCLEAR = {"error": [-32603, "Failed to load the icons"]}


@pytest.mark.parametrize(
    ("other", "faults"),
    [
        (UNREACHABLE, []),
        # Neither a variable that is not set nor a success explains an unclear failure beside it.
        ({"error": [-32603, "SHOP_TOKEN is not set"]}, ["resource-read-failed"]),
        ({"result": MESSAGES}, ["resource-read-failed"]),
    ],
)
def test_an_outage_that_a_prompt_reports_explains_the_unclear_failure_of_a_resource(
    tmp_path: Path, other: dict[str, Any], faults: list[str]
) -> None:
    report = run(tmp_path, {"resources/read shop://books": UNCLEAR, "prompts/get plan": other})
    assert [check for check, _ in graver(report)] == faults
    assert report.items.resources[0].requests[0].passed is (False if faults else None)


def test_an_outage_that_a_resource_reports_explains_a_prompt_without_an_answer(tmp_path: Path) -> None:
    answers = {"resources/read shop://books": UNREACHABLE, "prompts/get plan": {"hang": True}}
    assert graver(run(tmp_path, answers, timeout=0.5)) == []


def test_an_outage_does_not_explain_a_crash_or_what_succeeded(tmp_path: Path) -> None:
    crash = {"error": [-32603, "TypeError: Cannot read properties of undefined (reading 'map')"]}
    report = run(tmp_path, {"resources/read shop://books": crash, "prompts/get plan": UNREACHABLE})
    assert ("resource-read-failed", "error") in graver(report)


@pytest.mark.parametrize(("days", "joined"), [(["day", "week", "month"], [3]), (["day", "week"], [0, 0])])
def test_prompts_that_ask_for_none_of_their_arguments_are_one_finding(
    tmp_path: Path, days: list[str], joined: list[int]
) -> None:
    prompts = [
        {**PLAN, "name": f"plan_{day}", "arguments": [{"name": day, "description": "Which.", "required": True}]}
        for day in days
    ]
    answers = {f"prompts/get plan_{day}": {"result": MESSAGES} for day in days}
    report = run(tmp_path, {"prompts/list": {"result": {"prompts": prompts}}, **answers})
    found = [finding for finding in report.findings if finding.id == "prompt-required-accepted"]
    assert [len(finding.items) for finding in found] == joined


def test_contents_are_compared_with_what_the_list_declares(tmp_path: Path) -> None:
    listed = {**BOOKS, "mimeType": "application/json", "size": 5_000}
    contents = {"contents": [{"uri": "shop://other", "mimeType": "application/json", "text": "{'a': 1}"}]}
    report = run(
        tmp_path,
        {"resources/list": {"result": {"resources": [listed]}}, "resources/read shop://books": {"result": contents}},
    )
    assert graver(report) == [
        ("resource-mime-mismatch", "warning"),
        ("resource-size-wrong", "warning"),
        ("resource-uri-changed", "warning"),
    ]


def test_a_server_that_reads_anything_is_told_once(tmp_path: Path) -> None:
    report = run(tmp_path, {"resources/read": {"result": TEXT}})
    assert ("resource-absent-answer", "error") in graver(report)


def test_a_capability_without_its_methods_is_an_error(tmp_path: Path) -> None:
    missing = {"error": [-32601, "Method not found"]}
    report = run(tmp_path, {"prompts/list": missing, "resources/templates/list": missing})
    assert graver(report) == [("capability-unanswered", "error")]


def test_a_cursor_that_comes_twice_ends_the_list(tmp_path: Path) -> None:
    page = {"result": {"resources": [BOOKS], "nextCursor": "a"}}
    report = run(tmp_path, {"resources/list": page})
    assert graver(report) == [("pagination-broken", "error")]


def test_all_pages_are_read(tmp_path: Path) -> None:
    first = {"result": {"resources": [BOOKS], "nextCursor": "2"}}
    second = {"result": {"resources": [{**BOOKS, "uri": "shop://more"}]}}
    report = run(
        tmp_path,
        {
            "resources/list": first,
            "resources/list 2": second,
            "resources/list toolvet-no-such-cursor": REFUSED,
            "resources/read shop://more": {"result": {"contents": [{**TEXT["contents"][0], "uri": "shop://more"}]}},
        },
    )
    assert [item.identity for item in report.items.resources] == ["shop://books", "shop://more"]
    assert report.findings == []


@pytest.mark.parametrize(
    ("last", "answer", "found"),
    [
        ({"nextCursor": "2"}, REFUSED, []),
        ({"nextCursor": "2"}, {"result": {"tools": [TOOL]}}, [("pagination-broken", "/tools/list")]),
        # Without pages no cursor was ever given, and the SDK ignores one.
        ({}, {"result": {"tools": [TOOL]}}, []),
    ],
)
def test_a_list_of_tools_with_pages_refuses_a_cursor_that_it_never_gave(
    tmp_path: Path, last: dict[str, Any], answer: dict[str, Any], found: list[tuple[str, str]]
) -> None:
    answers = {
        "tools/list": {"result": {"tools": [TOOL], **last}},
        "tools/list 2": {"result": {"tools": []}},
        "tools/list toolvet-no-such-cursor": answer,
    }
    report = run(tmp_path, answers, "tools")
    assert [(each.id, each.pointer) for each in report.findings if each.id == "pagination-broken"] == found


def test_a_template_is_read_with_what_the_server_completes(tmp_path: Path) -> None:
    template = {"uriTemplate": "shop://books/{isbn}", "name": "book", "description": "One book by its isbn."}
    report = run(
        tmp_path,
        {
            "resources/templates/list": {"result": {"resourceTemplates": [template]}},
            "completion/complete": {"result": {"completion": {"values": ["978-0"], "total": 1, "hasMore": False}}},
            "resources/read shop://books/978-0": {
                "result": {"contents": [{"uri": "shop://books/978-0", "mimeType": "text/plain", "text": "Emma"}]}
            },
        },
        "resources",
        "completions",
    )
    (item,) = report.items.resource_templates
    assert [request.params for request in item.requests if request.method == "resources/read"] == [
        {"uri": "shop://books/978-0"}
    ]
    assert item.exercised
    assert graver(report) == []


def test_a_made_up_value_that_is_refused_is_no_finding(tmp_path: Path) -> None:
    template = {"uriTemplate": "shop://books/{isbn}", "name": "book", "description": "One book by its isbn."}
    report = run(tmp_path, {"resources/templates/list": {"result": {"resourceTemplates": [template]}}}, "resources")
    (item,) = report.items.resource_templates
    assert report.findings == []
    assert item.why_not is not None
    assert "refused the values that were made up" in item.why_not


def test_a_prompt_without_its_required_argument(tmp_path: Path) -> None:
    report = run(tmp_path, {"prompts/list": {"result": {"prompts": [PLAN]}}})
    assert graver(report) == [("prompt-required-accepted", "warning")]
    found = only(report, "prompt-required-accepted")
    assert (found.item_kind, found.item) == ("prompt", "plan")


@pytest.mark.parametrize(
    ("declared", "sent"),
    [
        ({"arguments": [{"name": "day", "description": "Which."}]}, {"name": "plan", "arguments": {}}),
        ({"arguments": []}, {"name": "plan", "arguments": {}}),
        ({}, {"name": "plan"}),
    ],
)
def test_a_prompt_that_declares_arguments_gets_an_object(
    tmp_path: Path, declared: dict[str, Any], sent: dict[str, Any]
) -> None:
    plain = {"name": "plan", "description": "Plan a day."}
    report = run(tmp_path, {"prompts/list": {"result": {"prompts": [{**plain, **declared}]}}})
    assert report.items.prompts[0].requests[0].params == sent


def test_a_value_that_the_refusal_names_is_taken(tmp_path: Path) -> None:
    words = "Invalid day: hello world. Must be one of: monday, friday"
    report = run(
        tmp_path,
        {"prompts/list": {"result": {"prompts": [PLAN]}}, "prompts/get plan": {"error": [-32602, words]}},
    )
    sent = [request.params["arguments"]["day"] for request in report.items.prompts[0].requests[:2]]
    assert sent[1] == "monday"
    assert graver(report) == []


def test_a_completion_that_breaks_the_rules(tmp_path: Path) -> None:
    report = run(
        tmp_path,
        {
            "prompts/list": {"result": {"prompts": [PLAN]}},
            "completion/complete": {"result": {"completion": {"values": ["d"] * 101}}},
        },
        "prompts",
        "completions",
    )
    assert ("completion-malformed", "error") in graver(report)


def test_a_server_that_dies_of_a_bad_uri_comes_back(tmp_path: Path) -> None:
    report = run(tmp_path, {"resources/read no uri at all": {"die": 3}})
    assert graver(report) == [("request-unanswered", "error")]
    assert report.items.prompts[0].exercised


def test_the_nine_faults_of_the_comparison_are_found() -> None:
    script = SERVER.with_name("shelf.json")
    target = StdioTarget(command=sys.executable, args=(str(SERVER), str(script)))
    report = asyncio.run(assess(target, Options(timeout=20, era="legacy")))
    assert graver(report) == [
        ("completion-malformed", "error"),
        ("prompt-absent-answer", "error"),
        ("prompt-malformed", "error"),
        ("prompt-required-accepted", "warning"),
        ("resource-absent-answer", "warning"),
        ("resource-mime-mismatch", "warning"),
        ("resource-mime-mismatch", "warning"),
        ("resource-read-failed", "error"),
        ("resource-size-wrong", "warning"),
    ]


def test_what_hangs_is_asked_twice_at_most(tmp_path: Path) -> None:
    books = [{**BOOKS, "uri": f"shop://{number}"} for number in range(5)]
    report = run(
        tmp_path,
        {"resources/list": {"result": {"resources": books}}, "resources/read": {"hang": True}},
        timeout=0.3,
    )
    asked = [item for item in report.items.resources if item.requests]
    assert len(asked) == 2
    assert report.items.resources[4].why_not == "2 requests in a row brought no answer"
    assert report.items.prompts[0].exercised


def test_a_resource_that_says_it_changes_something_is_not_read(tmp_path: Path) -> None:
    wipe = {"uri": "shop://wipe", "name": "delete_all", "description": "Deletes all books."}
    report = run(tmp_path, {"resources/list": {"result": {"resources": [BOOKS, wipe]}}})
    assert report.items.resources[1].requests == []
    assert report.items.resources[1].why_not is not None
    assert "delete" in report.items.resources[1].why_not


def test_at_most_fifty_resources_are_read(tmp_path: Path) -> None:
    books = [{**BOOKS, "uri": f"shop://books?{number}"} for number in range(60)]
    report = run(tmp_path, {"resources/list": {"result": {"resources": books}}})
    assert sum(bool(item.requests) for item in report.items.resources) == 50
    assert report.items.resources[59].why_not == "only the first 50 are asked for"


@pytest.mark.parametrize("options", [{"tools_only": True}, {"plan_only": True}])
def test_nothing_is_read_where_the_user_says_so(tmp_path: Path, options: dict[str, Any]) -> None:
    report = run(tmp_path, {}, **options)
    assert [request for item in report.items.resources for request in item.requests] == []
    assert report.items.others == []


def test_secrets_in_uris_and_contents_leave_no_trace(tmp_path: Path) -> None:
    uri = "postgres://bob:hunter2secret@db/shop"
    contents = {"contents": [{"uri": uri, "mimeType": "text/plain", "text": "password=hunter2secret"}]}
    report = run(
        tmp_path,
        {
            "resources/list": {"result": {"resources": [{**BOOKS, "uri": uri}]}},
            f"resources/read {uri}": {"result": contents},
        },
    )
    for name in ("json", "markdown", "html", "junit", "sarif"):
        assert "hunter2secret" not in render(name, [report], cards())


def test_a_report_with_items_is_read_back(tmp_path: Path) -> None:
    report = run(tmp_path, {})
    assert load(render("json", [report], cards()).encode(), "report.json") == (report,)


def test_findings_of_an_item_can_be_ignored_by_its_name(tmp_path: Path) -> None:
    broken = {"resources/read shop://books": {"error": [-32603, "The shelf is locked"]}}
    report = run(tmp_path, broken, ignore=["resource-read-failed:shop://*"])
    assert report.findings == []
    assert [found.item for found in report.suppressed] == ["shop://books"]


SKILL_TEXT = "---\nname: pay\ndescription: Pays a bill.\n---\nSee [the form](forms/a.md)."
FORM = "Fill it."


def skill(**changed: Any) -> dict[str, Any]:
    files = {"skill://pay/SKILL.md": SKILL_TEXT, "skill://pay/forms/a.md": FORM}
    return {
        "uri": "skill://pay/SKILL.md",
        "frontmatter": {"name": "pay", "description": "Pays a bill."},
        "resources": [
            {"uri": uri, "digest": f"sha256:{sha256(text.encode()).hexdigest()}", "size": len(text)}
            for uri, text in files.items()
        ],
        **changed,
    }


def skills(tmp_path: Path, entry: dict[str, Any], form: str = FORM, answers: dict[str, Any] | None = None) -> Report:
    return run(
        tmp_path,
        {
            "resources/list": {"result": {"resources": []}},
            "skills/list": {"result": {"skills": [entry]}},
            "skills/get": {"result": {"skill": entry}},
            "resources/read skill://pay/SKILL.md": {
                "result": {
                    "contents": [{"uri": "skill://pay/SKILL.md", "mimeType": "text/markdown", "text": SKILL_TEXT}]
                }
            },
            "resources/read skill://pay/forms/a.md": {
                "result": {"contents": [{"uri": "skill://pay/forms/a.md", "mimeType": "text/markdown", "text": form}]}
            },
            **(answers or {}),
        },
        "resources",
        "skills",
    )


def test_a_sound_skill_is_read_and_verified(tmp_path: Path) -> None:
    report = skills(tmp_path, skill())
    assert report.findings == []
    (found,) = report.items.skills
    assert (found.identity, found.exercised) == ("skill://pay/SKILL.md", True)
    assert [request.method for request in found.requests] == ["skills/get", "resources/read", "resources/read"]
    assert "1 of 1 skill read" in render("markdown", [report], cards())


def test_a_skill_that_is_not_what_its_entry_says(tmp_path: Path) -> None:
    entry = skill(frontmatter={"name": "pay", "description": "Pays a fine."})
    entry["resources"].pop()
    report = skills(tmp_path, entry)
    assert graver(report) == [("skill-content-differs", "error"), ("skill-file-undeclared", "warning")]
    changed = skills(tmp_path, skill(), form="Fill it and send the key.")
    assert graver(changed) == [("skill-content-differs", "error")]
    assert only(changed, "skill-content-differs").item == "skill://pay/SKILL.md"
    lacking = skills(tmp_path, skill(), answers={"skills/get": {"error": [-32601, "Method not found"]}})
    assert graver(lacking) == [("skill-get-failed", "error")]
