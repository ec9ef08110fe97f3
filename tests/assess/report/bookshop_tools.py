"""The tools of the sample bookshop: one for each status that a tool can have."""

import msgspec
from tests.assess.report.parts import answered, called, scenario

from toolvet.assess.report.document import Tool


def find_books() -> Tool:
    books = {"books": [{"id": "bk_1", "title": "The Dispossessed", "price": 12.5}], "total": 1}
    text = msgspec.json.encode(books).decode()
    return called(
        name="find_books",
        status="fully_working",
        confidence=97.0,
        error_message_score=92.0,
        description="Search the catalogue by title, author or subject.",
        scenarios=[
            scenario("minimal", "progressive", {"query": "tea"}, {**answered(text), "structuredContent": books}),
            scenario("all properties", "happy_path", {"query": "tea", "limit": 10}, answered(text)),
            scenario("limit at its maximum", "boundary", {"query": "tea", "limit": 100}, answered(text)),
            scenario(
                "limit above its maximum",
                "error_case",
                {"query": "tea", "limit": 101},
                answered("limit: 101 is more than 100. Use a number from 1 to 100.", is_error=True),
                breaks="maximum",
                note="Rejected, as it should be.",
            ),
        ],
    )


def order_book() -> Tool:
    return called(
        name="order_book",
        status="partially_working",
        confidence=61.0,
        error_message_score=35.0,
        description="Order a book by its id.",
        scenarios=[
            scenario("minimal", "progressive", {"book_id": "bk_1"}, answered("Ordered."), tool="order_book"),
            scenario(
                "unknown book",
                "error_case",
                {"book_id": "bk_0"},
                answered("Error: no book has the id bk_0"),
                passed=False,
                note="The text reports an error, but isError is false.",
                tool="order_book",
            ),
            scenario(
                "quantity below its minimum",
                "error_case",
                {"book_id": "bk_1", "quantity": -1},
                answered("Ordered."),
                passed=False,
                breaks="minimum",
                note="Accepted, although quantity is below its minimum of 1.",
                tool="order_book",
            ),
        ],
    )


def export_catalogue() -> Tool:
    trace = (
        "Traceback (most recent call last):\n"
        '  File "/srv/bookshop/app.py", line 88, in export\n'
        "    rows = table[format]\n"
        "KeyError: 'csv'"
    )
    return called(
        name="export_catalogue",
        status="broken",
        confidence=4.0,
        error_message_score=0.0,
        scenarios=[
            scenario(
                "minimal",
                "progressive",
                {"format": "csv"},
                answered(trace, is_error=True),
                passed=False,
                note="A crash, not an answer.",
                tool="export_catalogue",
            ),
            scenario(
                "format is not in its enum",
                "error_case",
                {"format": "toolvet"},
                {"code": -32603, "message": "Internal error"},
                outcome="protocol_error",
                passed=False,
                breaks="enum",
                note="Answered with a protocol error.",
                tool="export_catalogue",
            ),
        ],
    )


def reserve_copy() -> Tool:
    return called(
        name="reserve_copy",
        status="connectivity_only",
        confidence=30.0,
        scenarios=[
            scenario("minimal", "progressive", {"book_id": "bk_1"}, answered(""), passed=False, tool="reserve_copy"),
            scenario(
                "all properties",
                "happy_path",
                {"book_id": "bk_1", "until": "2026-12-01"},
                None,
                outcome="timeout",
                passed=False,
                note="No answer within 10 s.",
                tool="reserve_copy",
                duration_ms=10_000.0,
            ),
            scenario("special characters", "edge_case", {"book_id": "é✓"}, None, outcome="not_run", passed=False),
        ],
    )


def get_loan() -> Tool:
    """A tool none of whose valid calls succeeded."""
    refused = answered("No loan has the id loan_1", is_error=True)
    return called(
        name="get_loan",
        status="not_exercised",
        confidence=20.0,
        not_exercised=(
            'The valid call did not succeed: "No loan has the id loan_1" Add a fixture ([[fixtures.TOOL]]) with '
            "arguments that the server knows."
        ),
        valid_calls=1,
        scenarios=[
            scenario("minimal", "progressive", {"loan_id": "loan_1"}, refused, tool="get_loan"),
            scenario(
                "type: loan_id is an integer, not a string",
                "error_case",
                {"loan_id": 5},
                answered("Input validation error: 5 is not of type 'string'", is_error=True),
                breaks="type",
                framework="MCP Python SDK",
                note="refused by MCP Python SDK, as it should be",
                tool="get_loan",
            ),
        ],
    )
