import pytest

from toolvet.assess.harvest import Harvest
from toolvet.assess.rules import ObservedCall, Outcome, tool_definition
from toolvet.core.checks.result import check_result


def call(tool: str, result: dict[str, object]) -> ObservedCall:
    definition = tool_definition({"name": tool, "inputSchema": {"type": "object"}})
    return ObservedCall(
        tool=definition,
        arguments={},
        outcome=Outcome.RESULT,
        result=result,
        verdict=check_result(definition.raw, {}, result),
    )


def text(words: str) -> dict[str, object]:
    return {"content": [{"type": "text", "text": words}]}


@pytest.mark.parametrize(
    ("tool", "result", "parameter", "expected"),
    [
        ("list_books", {"content": [], "structuredContent": {"books": [{"id": "b-1"}]}}, "book_id", "b-1"),
        ("list_books", text('[{"isbn": "978-1"}]'), "isbn", "978-1"),
        ("list_tables", text("[{'name': 'orders'}]"), "table_name", "orders"),
        ("list_branches", text('{"branches": ["main", "next"]}'), "branch", "main"),
        ("list_allowed_directories", text("Allowed directories:\n/srv/books"), "path", "/srv/books"),
        ("list_books", text('[{"bookId": 3}]'), "book-id", 3),
        ("list_rooms", text("north\nsouth"), "room_name", "north"),
        (
            "list_documents",
            text("Found 2 documents:\n- contract.docx (35.88 KB)\n- b.docx"),
            "document",
            "contract.docx",
        ),
        ("list_rooms", text("Rooms:\n• north\n• south"), "room_name", "north"),
        ("list_rooms", text("* **north**: the cold one"), "room_name", "north"),
        ("list_rooms", text("1. north\n2. south"), "room_name", "north"),
        ("list_files", text("[FILE] my notes.txt\n[DIR] src"), "file_name", "my notes.txt"),
        ("list_tables", text("Tables: orders, users, carts"), "table_name", "orders"),
        ("search_users", text('{"users": [{"userId": 7}]}'), "user_id", 7),
        (
            "list_books",
            {"content": [], "structuredContent": {"result": '{"books": [{"id": "b-1"}]}'}},
            "book_id",
            "b-1",
        ),
        ("list_books", {"content": [], "structuredContent": {"result": '[{"id": "b-1"}]'}}, "book_id", "b-1"),
        ("list_components", text('{"items": [{"name": "button"}]}'), "component", "button"),
        ("list_components", text('{"results": ["button"], "total": 1}'), "component_name", "button"),
        ("list_rooms", text("north, south, east"), "room_name", "north"),
        ("list_rooms", text("north, south"), "room_name", "north"),
        (
            "list-components",
            text('以下是可用的组件\uff1a[{"name": "Affix"}, {"name": "Alert"}]'),
            "componentName",
            "Affix",
        ),
        ("list_books", text('Found 2 books:\n[{"id": "b-1"}, {"id": "b-2"}]'), "book_id", "b-1"),
        ("list_units", text('{"volume": ["m3", "bbl"], "rate": ["m3/day"]}'), "from_unit", "m3"),
        ("list_accounts", text('[{"account": "a-1"}]'), "source_account", "a-1"),
    ],
)
def test_what_a_listing_returned_feeds_the_parameter_of_that_name(
    tool: str, result: dict[str, object], parameter: str, expected: object
) -> None:
    harvest = Harvest()
    harvest.gather([call(tool, result)])
    assert harvest.value(parameter) == expected


def test_a_name_is_one_of_the_noun_of_the_tool_that_wants_it() -> None:
    harvest = Harvest()
    harvest.gather([call("list_primitives", text('[{"name": "a11y"}]'))])
    harvest.gather([call("list_reusable_components", text('[{"name": "button", "primitive": "a11y"}]'))])
    assert harvest.value("name", "get_reusable_component") == "button"
    assert harvest.value("name", "get_primitive_details") == "a11y"
    assert harvest.value("name", "get_theme") == "a11y"


def test_of_two_listings_of_one_noun_the_one_that_shares_more_words_is_taken() -> None:
    harvest = Harvest()
    harvest.gather([call("list-mutation-fields", text("rename"))])
    harvest.gather([call("list-query-fields", text("user, users"))])
    assert harvest.value("fieldName", "get-query-field") == "user"
    assert harvest.value("fieldName", "get-mutation-field") == "rename"
    assert harvest.value("fieldName", "get-field") == "rename"


def test_a_search_that_found_nothing_does_not_count_among_the_first() -> None:
    harvest = Harvest()
    nothing = [call("search_symbols", text('{"symbols": []}'))] * 5
    harvest.gather([*nothing, call("search_symbols", text('{"symbols": ["core.load"]}'))])
    assert harvest.value("symbol") == "core.load"


def test_prose_is_no_listing() -> None:
    harvest = Harvest()
    harvest.gather([call("list_books", text("There are three books on the shelf.")), call("describe", text("north"))])
    assert len(harvest) == 0


def test_sentences_behind_bullets_are_no_listing() -> None:
    harvest = Harvest()
    harvest.gather(
        [call("list_books", text("- There are three books on the shelf\n* it is, of course, late\nyes, no"))]
    )
    assert len(harvest) == 0


@pytest.mark.parametrize("key", ["operation", "action", "blockedCommands", "commands", "mode"])
def test_what_says_what_is_to_be_done_is_never_an_argument(key: str) -> None:
    harvest = Harvest()
    harvest.gather(
        [call("get_config", {"content": [], "structuredContent": {key: ["rm", "mkfs"], "inner": {key: "rm"}}})]
    )
    assert len(harvest) == 0


def test_only_what_was_not_there_before_is_made() -> None:
    harvest = Harvest()
    harvest.gather([call("list_books", text('{"books": [{"id": 1}]}'))])
    harvest.note_made([("book", "id")], 1)
    harvest.note_made([("book", "id")], 2)
    assert harvest.made(("book", "id")) == (2,)


def test_errors_are_not_harvested() -> None:
    harvest = Harvest()
    harvest.gather([call("list_books", {**text('{"error": "no database", "book_id": "x"}'), "isError": True})])
    assert harvest.value("book_id") is None


def test_values_of_other_names_are_not_taken() -> None:
    harvest = Harvest()
    harvest.gather([call("list_books", text('{"books": [{"id": "b-1"}], "tags": [], "authors": ["a"]}'))])
    assert harvest.value("order_id") is None
    assert harvest.value("from_book") == "b-1"


def test_deep_and_huge_results_end_the_search_not_the_process() -> None:
    harvest = Harvest()
    harvest.gather([call("list_books", text("[" * 5000 + "]" * 5000))])
    harvest.gather([call("list_books", text('{"books": ' + "[" * 30 + '{"id": 1}' + "]" * 30 + "}"))])
    assert harvest.value("book_id") is None
