"""Reports to render: a realistic server, a hostile one, an empty one, and cards for the checks they name."""

import msgspec
from tests.assess.report.bookshop_tools import export_catalogue, find_books, get_loan, order_book, reserve_copy
from tests.assess.report.parts import COMMAND, answered, called, report, reproduce, scenario

from toolvet.assess.report.document import (
    Item,
    ItemRequest,
    Items,
    Report,
    ReportedProbe,
    ReportedTransport,
    Server,
    Tool,
)
from toolvet.assess.report.gate import apply_baseline
from toolvet.findings import Card, Finding, ItemKind, Severity

HOSTILE = (
    "</script><img src=x onerror=alert(1)>\x1b[31m\x00\u202egnp.exe [bold]]]>\ufffe &amp; \"'` | %0A ::error::\r\n<!--"
)


def _undescribed() -> list[Finding]:
    return [
        Finding(
            id="parameter-without-description",
            severity=Severity.WARNING,
            tool=tool,
            pointer=f"/inputSchema/properties/{parameter}",
            message=f"The parameter '{parameter}' has no description.",
            evidence='{"type": "string"}',
            why="A model guesses what to put there.",
            remedy="Say in one sentence what the parameter means, with an example.",
        )
        for tool, parameter in [
            ("find_books", "subject"), ("order_book", "book_id"), ("order_book", "note"),
            ("reserve_copy", "until"), ("export_catalogue", "format"), ("delete_book", "book_id"),
        ]
    ]  # fmt: skip


def _findings() -> list[Finding]:
    return [*_errors(), *_undescribed(), *_lesser()]


def _errors() -> list[Finding]:
    return [
        Finding(
            id="error-without-iserror",
            severity=Severity.ERROR,
            confidence=95,
            tool="order_book",
            pointer="/content/0/text",
            message="The text reports an error, but `isError` is false.",
            evidence="Error: no book has the id bk_0",
            why="A model, and every program in between, takes this for a success.",
            remedy="Return the same text with isError: true.",
            reproduce=reproduce("order_book", '{"book_id":"bk_0"}'),
            scenario="order_book/2",
        ),
        Finding(
            id="crash-text-leaked",
            severity=Severity.ERROR,
            tool="export_catalogue",
            pointer="/content/0/text",
            message="A stack trace is sent to the model.",
            evidence="Traceback (most recent call last):\n  File \"/srv/bookshop/app.py\", line 88\nKeyError: 'csv'",
            why="It says nothing a model can act on, and shows how the server is built.",
            remedy="Catch the exception and say in a sentence what went wrong and what to try.",
            reproduce=reproduce("export_catalogue", '{"format":"csv"}'),
            scenario="export_catalogue/1",
            occurrences=3,
        ),
        Finding(
            id="call-timed-out",
            severity=Severity.ERROR,
            tool="reserve_copy",
            message="No answer within 10 s.",
            why="An agent waits, then gives up, and does not know whether the copy is reserved.",
            remedy="Answer in time, or report progress.",
            reproduce=reproduce("reserve_copy", '{"book_id":"bk_1","until":"2026-12-01"}'),
            scenario="reserve_copy/2",
        ),
    ]


def _lesser() -> list[Finding]:
    return [
        Finding(
            id="wrong-arguments-crash",
            severity=Severity.WARNING,
            tools=("find_books", "order_book", "get_loan"),
            cause="… object is not iterable",
            message="A wrong 'id' (required) ended in a crash instead of a refusal.",
            evidence="'NoneType' object is not iterable",
            why="A model cannot correct its call from that.",
            remedy="Check the arguments before using them.",
            reproduce=reproduce("find_books", "{}"),
            scenario="find_books/1",
            occurrences=5,
        ),
        Finding(
            id="unknown-tool-answered",
            severity=Severity.INFO,
            confidence=80,
            message="A call of a tool that does not exist was answered with a result.",
            evidence="Unknown tool",
            why="The specification asks for a protocol error.",
            remedy="Answer with the JSON-RPC error -32602.",
        ),
    ]


def bookshop() -> Report:
    """A small server with every status, a skipped tool and findings of every severity."""
    return report(
        Server(name="bookshop", version="1.4.0", protocol_version="2025-11-25", transport="stdio", command=COMMAND),
        tools=[
            find_books(),
            order_book(),
            export_catalogue(),
            reserve_copy(),
            get_loan(),
            Tool(name="catalogue_stats", status="untested", confidence=0.0),
            Tool(
                name="delete_book",
                status="untested",
                confidence=0.0,
                skipped="sounds destructive ('delete'); call it with --include-destructive",
            ),
        ],
        findings=_findings(),
        score=58.0,
        status="partially_working",
        stderr="INFO bookshop: 120 books loaded\nWARNING bookshop: cache is cold\n",
    )


def hostile() -> Report:
    """Every text of the server tries to break out of the page, the terminal or the file."""
    hostile_tool = called(
        name=HOSTILE,
        status="broken",
        confidence=0.0,
        description=HOSTILE,
        scenarios=[
            msgspec.structs.replace(
                scenario("minimal", "progressive", {HOSTILE: HOSTILE}, answered(HOSTILE), passed=False, note=HOSTILE),
                reproduce=HOSTILE,
                name=HOSTILE,
            )
        ],
    )
    finding = Finding(
        id="crash-text-leaked", severity=Severity.ERROR, tool=HOSTILE, pointer=HOSTILE, message=HOSTILE,
        evidence=HOSTILE, why=HOSTILE, remedy=HOSTILE, reproduce=HOSTILE, scenario=f"{HOSTILE}/1",
    )  # fmt: skip
    return report(
        Server(name=HOSTILE, version=HOSTILE, protocol_version=HOSTILE, transport="http", command=HOSTILE),
        tools=[hostile_tool, Tool(name=f"{HOSTILE} 2", status="untested", confidence=0.0, skipped=HOSTILE)],
        findings=[finding],
        score=0.0,
        status="broken",
        stderr=HOSTILE,
        incomplete=HOSTILE,
        items=Items(
            announced=[HOSTILE],
            resources=[_hostile_item("resource", exercised=True)],
            resource_templates=[_hostile_item("resource_template", exercised=False)],
            prompts=[_hostile_item("prompt", exercised=False)],
        ),
    )


def _hostile_item(kind: ItemKind, *, exercised: bool) -> Item:
    request = ItemRequest(
        id=f"{kind}{HOSTILE}", name=HOSTILE, method=HOSTILE, params={HOSTILE: HOSTILE}, outcome="result",
        passed=exercised, result={"contents": [{"uri": HOSTILE, "text": HOSTILE}]}, note=HOSTILE, origin=HOSTILE,
    )  # fmt: skip
    return Item(
        kind=kind, identity=HOSTILE, exercised=exercised, why_not=None if exercised else HOSTILE, name=HOSTILE,
        description=HOSTILE, mime_type=HOSTILE, requests=[request],
    )  # fmt: skip


def library() -> Report:
    """A server with resources and prompts: one that was read, one that was not, and a finding about each kind."""
    read = ItemRequest(
        id="resources/read#1", name="as it is listed", method="resources/read", params={"uri": "books://index"},
        outcome="result", passed=True, note="answered", origin="list", duration_ms=2.5,
        result={"contents": [{"uri": "books://index", "mimeType": "application/json", "text": "[]"}]},
    )  # fmt: skip
    refused = ItemRequest(
        id="prompts/get#2", name="as it is listed", method="prompts/get", params={"name": "review"},
        outcome="protocol_error", passed=False, note="error -32603: no template", duration_ms=1.0,
        result={"error": {"code": -32603, "message": "no template", "data": None}},
    )  # fmt: skip
    failed = Finding(
        id="prompt-get-failed", severity=Severity.ERROR, item="review", item_kind="prompt", scenario="prompts/get#2",
        message='prompts/get fails with error -32603: "no template"', evidence="no template", remedy="Handle it.",
        why="A user who picks the prompt gets an error.", reproduce="toolvet assess -- library",
    )  # fmt: skip
    odd = Finding(
        id="resource-mime-mismatch", severity=Severity.WARNING, item="books://index", item_kind="resource",
        message="The contents sent as 'application/json' are not JSON.", pointer="/contents/0/mimeType",
        scenario="resources/read#1",
    )  # fmt: skip
    tool = called(
        name="now", status="fully_working", confidence=100.0, error_message_score=100.0,
        scenarios=[scenario("minimal", "progressive", {}, answered("2026-11-21T12:00:00Z"), tool="now")],
    )  # fmt: skip
    return report(
        Server(name="library", version="0.1", protocol_version="2026-07-28", command="library"),
        tools=[tool], findings=[failed, odd], score=100.0, status="fully_working",
        items=Items(
            announced=["resources", "prompts"],
            resources=[
                Item(kind="resource", identity="books://index", exercised=True, name="index", requests=[read],
                     description="All books.", mime_type="application/json"),
                Item(kind="resource", identity="books://purge", exercised=False, name="purge",
                     why_not="its name says 'purge'"),
            ],
            prompts=[Item(kind="prompt", identity="review", exercised=False, why_not=refused.note, requests=[refused])],
        ),
    )  # fmt: skip


def empty() -> Report:
    """A server over HTTP without tools, and with a fault in its transport."""
    bare = report(
        Server(name="bare", transport="http", command="http://127.0.0.1:8000/mcp"),
        tools=[], findings=[], score=None, status="untested",
    )  # fmt: skip
    probes = [
        ReportedProbe(id="ping", sent="ping", wanted="a result", outcome="answered", status=200, as_wanted=True),
        ReportedProbe(
            id="foreign-origin", sent="a request from another web site (Origin: https://attacker.example)",
            wanted="403", outcome="answered", status=200, as_wanted=False,
        ),
        ReportedProbe(id="deep-json", sent="JSON arrays in each other", wanted="a refusal", outcome="failed"),
    ]  # fmt: skip
    return msgspec.structs.replace(
        bare, transport=ReportedTransport(probes=probes, requests=3, not_probed="2 probes brought no response")
    )


def clock() -> Report:
    """A second server, and nothing is wrong with it."""
    tool = called(
        name="now", status="fully_working", confidence=100.0, error_message_score=100.0,
        scenarios=[scenario("minimal", "progressive", {}, answered("2026-11-21T12:00:00Z"), tool="now")],
    )  # fmt: skip
    return report(
        Server(name="clock", version="0.1", protocol_version="2026-07-28", command="uvx clock"),
        tools=[tool], findings=[], score=100.0, status="fully_working",
    )  # fmt: skip


def forty() -> Report:
    """Forty tools with the same fault, and one finding of another kind."""
    names = [f"tool_{number:02d}" for number in range(1, 41)]
    finding = Finding(
        id="parameter-without-description", severity=Severity.WARNING, message="The parameter 'id' has no description.",
        pointer="/inputSchema/properties/id", why="A model guesses what to put there.", remedy="Describe it.",
    )  # fmt: skip
    alone = Finding(id="call-timed-out", severity=Severity.ERROR, tool="tool_07", message="No answer within 10 s.")
    call = scenario("minimal", "progressive", {"id": "1"}, answered("ok"))
    return report(
        Server(name="forty", version="2", protocol_version="2025-11-25"),
        tools=[called(name, status="fully_working", confidence=100.0, scenarios=[call]) for name in names],
        findings=[*(msgspec.structs.replace(finding, tool=name) for name in names), alone],
        score=97.5,
        status="fully_working",
    )


def baselined() -> Report:
    """The bookshop with a baseline that knows one of its findings and one that is gone, and a filtered tool."""
    shop = bookshop()
    gone = Finding(id="tool-without-description", severity=Severity.WARNING, tool="find_books", message="It has none.")
    earlier = msgspec.structs.replace(shop, findings=[shop.findings[0], gone])
    return apply_baseline(msgspec.structs.replace(shop, filtered=["close_shop"]), [earlier], "baseline.json")


def named(name: str) -> tuple[Report, ...]:
    """The reports of a sample by its name."""
    if name == "several":
        return (bookshop(), clock(), empty())
    makers = {
        "bookshop": bookshop,
        "hostile": hostile,
        "empty": empty,
        "forty": forty,
        "baselined": baselined,
        "library": library,
    }
    return (makers[name](),)


CARDS = {
    card.id: card
    for card in (
        Card(
            id="error-without-iserror",
            title="Error reported without isError",
            severity=Severity.ERROR,
            looks_for="A result whose text reports an error while `isError` is false or missing.",
            why="A model, and every program in between, takes it for a success.",
            remedy="Return the same text with `isError: true`.",
        ),
        Card(
            id="parameter-without-description",
            title="Parameter without description",
            severity=Severity.WARNING,
            looks_for="A property of `inputSchema` that has no `description`.",
            why="A model guesses what to put there.",
            remedy="Say in one sentence what the parameter means, with an example.",
        ),
    )
}
