"""The statements of an answer against the results of its calls, in tables: which of its values are in no result.

Each row has an answer, a result, and the words of the answer that the result does not bear out.
"""

from types import SimpleNamespace

import pytest

from toolvet.core.checks.answer import FailureSignal
from toolvet.core.messages import UNKNOWN
from toolvet.core.turn.ledger import ToolCall, ground
from toolvet.core.turn.ledger.evidence import Evidence
from toolvet.core.turn.ledger.mentions import Kind, mentions_in
from toolvet.core.turn.ledger.outcome import outcome_of
from toolvet.core.turn.ledger.tokens import numerals_in, readings

AMOUNT = {"amount": 41.25}


def findings(text: str, result: object, question: str | None = None) -> list[FailureSignal]:
    """The findings in an answer with one call."""
    return ground(text, [ToolCall("get_data", {}, result)], question)


def doubted(text: str, result: object, question: str | None = None) -> list[tuple[str, str]]:
    """The kind of each value that is in no result, and its words; they are where the finding says."""
    found = [each for each in findings(text, result, question) if str(each.label).startswith("unsupported_")]
    for each in found:
        start = each.position or 0
        end = start + len(each.evidence)
        assert (text[start:end], each.context) == (each.evidence, text[max(0, start - 40) : end + 40])
    return [(str(each.label).removeprefix("unsupported_"), each.evidence) for each in found]


@pytest.mark.parametrize(
    ("text", "result", "found"),
    [
        # People, after a word that says that a name follows.
        ("Assigned to Maria Lopez.", {"assignee": "John Smith"}, [("name", "Maria Lopez")]),
        ("Dr. Maria Lopez will see you.", {"doctor": "John Smith"}, [("name", "Maria Lopez")]),
        ("Assigned to Maria Lopez.", {"assignee": "Lopez, M."}, []),
        ("Assigned to Li Wu.", {"mail": "li.wu@a.test"}, []),
        ("Assigned to Li Wu.", {"mail": "li.ma@a.test"}, [("name", "Li Wu")]),
        ("She used a pan Maria Lopez had.", {"assignee": "John Smith"}, []),
        ("It flies to New Zealand.", {"assignee": "John Smith"}, []),
        # The words of others, in any case and spacing.
        (
            'The page says: "the lamp ships in two days".',
            {"text": "Lamp: five days"},
            [("quote", "the lamp ships in two days")],
        ),
        ('The page says: "the lamp ships in two days".', {"text": "The lamp\nships, in two DAYS!"}, []),
        ('The page says: "the lamp … in two days".', {"text": "The lamp ships in two days."}, []),
        ('The page says: "the lamp [new] in two days".', {"text": "The lamp ships in two days."}, []),
        (
            'The page says: "the lamp ... in two days".',
            {"text": "The lamp ships in a day."},
            [("quote", "the lamp ... in two days")],
        ),
        ('The page says: "the big lamp".', {"text": "Lamp: five days"}, []),
        ('I would call it "the lamp that ships today".', {"text": "Lamp: five days"}, []),
        ("页面显示「台灯将于两天之内发货」", {"text": "台灯:五天"}, [("quote", "台灯将于两天之内发货")]),
        ("页面显示「台灯将于两天内发货」", {"text": "台灯:五天"}, []),
        (
            'Die Meldung lautet: "légende complète du plan de métro".',
            '{"l\\u00e9gende compl\\u00e8te du plan de m\\u00e9tro": 1}',
            [],
        ),
        # Days.
        ("It came on the 9th of November 2026.", {"at": "2026-11-03"}, [("date", "9th of November 2026")]),
        ("It came on the 3rd of November 2026.", {"at": "2026-11-03"}, []),
        ("订单日期是2026年11月9日。", {"at": "2026-11-03"}, [("date", "2026年11月9日")]),
        ("订单日期是2026年11月3日。", {"at": "2026-11-03"}, []),
        ("It came on November 3.", {"at": "2026-11-03"}, []),
        ("It came on November 3, 2025.", {"at": "2026-11-03"}, [("date", "November 3, 2025")]),
        ("It came on November 3, 2025.", {"at": "11-03"}, [("date", "November 3, 2025")]),
        ("It came on November 3, 2025.", {"at": "on 3 November"}, []),
        ("It came on 2026-11-22.", {"ms": 1795348800000}, []),
        ("It came on 2026-11-25.", {"ms": 1795348800000}, [("date", "2026-11-25")]),
        ("Monday, November 23, is fine.", {"at": "2026-11-20"}, []),
        ("Tuesday, November 23, is fine.", {"at": "2026-11-20"}, [("date", "November 23")]),
        ("The quarter starts on October 1, 2026.", {"at": "2026-11-03"}, []),
        ("The quarter starts on October 2, 2026.", {"at": "2026-11-03"}, [("date", "October 2, 2026")]),
        ("The quarter ends on September 30.", {"at": "2026-11-03"}, []),
        ("We meet on October 1, 2026.", {"at": "2026-11-03"}, [("date", "October 1, 2026")]),
        # How long it is between two days, one of them the answer's.
        ("The trip on November 20, 2026 is 37 days away.", {"today": "2026-10-14"}, []),
        (
            "The trip on November 20, 2026 is 38 days away.",
            {"today": "2026-10-14"},
            [("date", "November 20, 2026"), ("number", "38")],
        ),
        # The words for a span count in the sentence of the day.
        ("Returns close 30 days later, December 3, 2026.", {"at": "2026-11-03"}, []),
        (
            f"Within 30 days.\n{'It is so. ' * 3}Come on December 3, 2026.",
            {"at": "2026-11-03"},
            [("date", "December 3, 2026")],
        ),
        (
            f"Within 30 days. {'It is so. ' * 12}Come on December 3, 2026.",
            {"at": "2026-11-03"},
            [("date", "December 3, 2026")],
        ),
        # Times of day.
        ("It starts at 12:00.", "from 12 pm on", []),
        ("It starts at 0:00.", "from 12 am on", []),
        ("It starts at 13:00.", "from 1 pm on", []),
        ("It starts at 13:00.", "ab 13 Uhr", []),
        ("It starts at 13:00.", "from 2 pm on", [("date", "13:00")]),
        ("It starts at 11:45.", {"at": "09:15-05:00"}, []),
        ("It starts at 11:45.", {"at": "09:15+02:00"}, []),
        ("It starts at 11:45.", {"at": "09:15 UTC"}, []),
        ("It starts at 11:45.", {"at": "09:15"}, [("date", "11:45")]),
        ("It starts at 11:45.", {"at": "09:15Z", "end": "10:10Z"}, []),
        ("It starts at 9:30.", {"at": "21:30"}, []),
        # Units and magnitudes.
        ("It is 1254 meters (0.78 miles) away.", {"m": 1254}, []),
        ("It is 1254 meters (0.88 miles) away.", {"m": 1254}, [("number", "0.88")]),
        ("Revenue was $2.98B.", {"thousands": 2981160}, []),
        ("Revenue was $2.98B.", {"millions": 2981.16}, []),
        ("Revenue was $2.98B.", {"billions": 2.981}, []),
        ("Revenue was $2.98B.", {"revenue": 2981160000}, []),
        ("Revenue was $2.98B.", {"hundreds": 29811600}, [("number", "2.98B")]),
        ("Revenue was $2,980,000.", {"thousands": 2980}, []),
        ("Revenue was $2,980,001.", {"thousands": 2980}, [("number", "2,980,001")]),
        ("It is 70.6 °F.", {"celsius": 22}, []),
        ("It is 72.2 °F.", {"celsius": 22}, [("number", "72.2")]),
        ("It is 71 degrees.", {"celsius": 21.8}, []),
        ("It is a 71 degree day.", {"celsius": 21.8}, []),
        ("Es sind 71 Grad.", {"celsius": 21.8}, []),
        ("It is 71 stairs.", {"celsius": 21.8}, [("number", "71")]),
        ("That is 66.7 percent.", {"builds": ["a", "b", "c"]}, []),
        ("That is 66.7 %.", {"builds": ["a", "b", "c"]}, []),
        ("That is 66.7 points.", {"builds": ["a", "b", "c"]}, [("number", "66.7")]),
        ("It weighs 412 grams.", {"weight": 412.4}, []),
        ("It weighs 413 grams.", {"weight": 412.4}, [("number", "413")]),
        ("It weighs 412 grams.", {"weight": 412.6}, []),
        ("It weighs 413 grams.", {"weight": 412.6}, []),
        ("It weighs 414 grams.", {"weight": 412.6}, [("number", "414")]),
        ("It weighs 413 grams.", {"weight": 412}, [("number", "413")]),
        ("The card ends with 4242.", {"card": "555500004242"}, []),
        ("Card number 4242.", {"card": "555500004242"}, []),
        ("It is 4123 apples.", {"n": 41234}, [("number", "4123")]),
        ("It is 12:30-14:45.", {"from": "12:30", "to": "14:15"}, [("date", "14:45")]),
        ("It is 250-280km.", {"from": 250, "to": 270}, [("number", "280km")]),
        ("It is 55-57.", {"from": 55, "to": 58}, [("number", "57")]),
        ("About 27% of 900 apples is 243.", {"apples": 900}, []),
        ("It is 61.2 by 47 cm.", {"inches": [24.1, 18.5]}, []),
        ("It is 71.2 by 47 cm.", {"inches": [24.1, 18.5]}, [("number", "71.2")]),
        ("Card number 4243.", {"card": "555500004242"}, [("number", "4243")]),
        # Identifiers, and what only looks like one.
        ("See #123.", {"id": "#124"}, [("id", "#123")]),
        ("See #12.", {"id": "#14"}, []),
        ('{"ORD-9999": 3}', {"id": "ORD-2041"}, []),
        ('{"id": "ORD-9999"}', {"id": "ORD-2041"}, [("id", "ORD-9999")]),
        ("It is 4th-5th or 2x/3x.", AMOUNT, []),
        ("Its code is KX7RTB.", {"code": "KX2RTB"}, [("id", "KX7RTB")]),
        ("Its code is KX7RTB.", AMOUNT, []),
        ("Item 12345680.", {"rows": [{"n": 12345000}, {"n": 680}]}, []),
        ("Call 555-123-4567.", {"phone": "555-123-4568"}, [("id", "555-123-4567")]),
        ("It is EU-77_20.", {"zone": "eu-77"}, []),
        ("It is EU-77_204.", {"zone": "eu-77"}, [("id", "EU-77_204")]),
        # Addresses and paths.
        ("See https://shop.test/orders?id=77.", {"u": "https://shop.test/orders"}, []),
        ("See https://www.shop.test/orders/.", {"u": "http://shop.test/orders"}, []),
        (
            "See https://shop.test/orders/77.",
            {"u": "https://shop.test/orders/78"},
            [("url", "https://shop.test/orders/77")],
        ),
        ("See https://shop.test/search/lamps.", AMOUNT, []),
        ("See https://example.com/orders/77.", AMOUNT, []),
        ("See https://localhost:8080/orders/77.", AMOUNT, []),
        ("It is in /srv/data/notes.txt.", {"file": "notes.txt"}, []),
        ("It is in /srv/data/notes.txt.", {"file": "note.txt"}, [("path", "/srv/data/notes.txt")]),
        ("It is in C:\\data\\q\\notes.txt.", {"file": "note.txt"}, [("path", "C:\\data\\q\\notes.txt")]),
        ("It is in C:\\data\\q\\notes.txt.", "C:/data/q/notes.txt", []),
        ("See https://shop.test/orders/ORD-\n2041 now.", {"u": "https://shop.test/orders/ord2041"}, []),
        (
            "See https://shop.test/orders/ORD-\n2042.",
            {"u": "https://shop.test/orders/ord2041"},
            [("url", "https://shop.test/orders/ORD-")],
        ),
        # Values broken over two lines, in the answer or in the result.
        ("Your order ORD-\n2041 is here.", {"id": "ORD-2041"}, []),
        ("ORD\n  2041-77 is here.", {"id": "ORD2041-77"}, []),
        ("Your order ORD-2041-77 is here.", "Your order ORD-20\n41-77", []),
        ("Your order ORD-2041-78 is here.", "Your order ORD-20\n41-77", [("id", "ORD-2041-78")]),
    ],
)
def test_values_of_an_answer_that_no_result_has(text: str, result: object, found: list[tuple[str, str]]) -> None:
    assert doubted(text, result) == found


def test_amounts_are_added_up_before_all_other_numbers() -> None:
    counts = list(range(1_001, 1_046))
    said = f"Counts: {', '.join(map(str, counts))}. You pay $10.25 and $20.50, together "
    result = {"counts": counts, "a": 10.25, "b": 20.5}
    assert doubted(f"{said}$30.75.", result) == []
    assert doubted(f"{said}$30.85.", result) == [("number", "30.85")]


def test_of_very_many_values_the_first_are_looked_up_and_ten_are_told() -> None:
    for count, found in ((3, 3), (10, 10), (11, 10), (500, 10)):
        ids = [f"XQ-{number * 7919}" for number in range(1_000, 1_000 + count)]
        assert len(doubted(" ".join(ids), {"id": "none"})) == found
    known = [f"XQ-{number}" for number in range(10_000, 10_400)]
    # A value behind four hundred others is not looked up any more.
    for before, told in ((399, [("id", "XQ-7")]), (400, [])):
        assert doubted(" ".join([*known[:before], "XQ-7777"]), {"ids": known})[:1] == [
            (kind, "XQ-7777") for kind, _ in told
        ]


def test_structured_content_beside_a_text_bears_out_too() -> None:
    both = {"content": [{"type": "text", "text": "done"}], "structuredContent": {"total": 512.75}}
    assert doubted("It costs $512.75.", both) == []
    assert doubted("It costs $512.85.", both) == [("number", "512.85")]


def test_what_a_person_gave_is_known_where_their_words_are() -> None:
    for said in ("You mentioned $61.17.", "You mentioned order ORD-7001."):
        assert doubted(said, AMOUNT) == []
        assert len(doubted(said, AMOUNT, "Where is my parcel?")) == 1
        assert doubted(said, AMOUNT, "I paid $61.17 for ORD-7001.") == []


@pytest.mark.parametrize(
    ("text", "result", "weight"),
    [
        ("Write to lina@b.test.", {"mail": "lena@a.test"}, 0.5),
        ("Write to help@b.test.", {"mail": "lena@a.test"}, 0.08),
        ("Write to help@a.test.", {"mail": "lena@a.test"}, 0.5),
        ("Write to lina@b.test.", {"mail": "lena"}, 0.08),
    ],
)
def test_an_address_weighs_where_the_results_have_addresses(text: str, result: object, weight: float) -> None:
    assert [each.weight for each in findings(text, result)] == [weight]


@pytest.mark.parametrize("kind", ["image", "audio", "document", "file", "image_url", "blob"])
def test_nothing_is_doubted_beside_what_cannot_be_read(kind: str) -> None:
    block = {"type": kind, "data": "aGk=", "mimeType": "x/y"}
    shown = ToolCall("show", {}, {"content": [{"type": "text", "text": "41.25"}, block]})
    assert ground("It costs $512.75.", [ToolCall("get_data", {}, AMOUNT), shown]) == []
    assert [each.label for each in ground("It costs $512.75.", [ToolCall("get_data", {}, AMOUNT)])] == [
        "unsupported_number"
    ]


def test_nothing_is_doubted_beside_a_result_that_nobody_handed_over() -> None:
    known, unknown = ToolCall("get_data", {}, AMOUNT), ToolCall("web_search", {}, UNKNOWN, failed=False)
    assert [each.evidence for each in ground("It costs $512.75.", [known])] == ["512.75"]
    assert ground("It costs $512.75.", [known, unknown]) == []


def test_the_arguments_that_a_call_was_sent_as_text_are_added_up_too() -> None:
    call = ToolCall("send", '{"rows": [{"p": 40.25}, {"p": 59.5}]}', "ok")
    assert ground("Together $99.75.", [call]) == []
    assert [each.evidence for each in ground("Together $99.85.", [call])] == ["99.85"]


@pytest.mark.parametrize(
    ("number", "within", "beyond"), [(300, 0.05, 0.051), (270, 0.03, 0.031), (267, 0.005, 0.006), (267.2, 0, 0.001)]
)
def test_how_far_off_about_may_be(number: float, within: float, beyond: float) -> None:
    for off, found in ((within, []), (beyond, [("number", f"{number:g}")])):
        for known in (number * (1 + off), number * (1 - off)):
            assert doubted(f"It is about {number:g} apples.", {"n": round(known, 6)}) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("13 apples", ["13"]),
        ("12 apples", []),
        ("5 km", ["5"]),
        ("4 km", ["4"]),
        ("3 km", []),
        ("5 days", []),
        ("99. Apples", []),
        ("100. Apples", ["100"]),
        ("45: Apples", []),
        ("45; apples", ["45"]),
        ("1899", ["1899"]),
        ("1900", []),
        ("2100", []),
        ("2101", ["2101"]),
        ("page 45", []),
        ("page 999", []),
        ("page 1000", ["1000"]),
        ("37 days", ["37"]),
        ("36 days", []),
        ("about 37 days", []),
        ("wait 37 days", []),
        ("iOS 17.4", []),
        ("it is 17.4", ["17.4"]),
        *(
            (f"{value} {word}", [])
            for value in (50, 100)
            for word in ("per cent", "percent", "Prozent", "pour cent", "por ciento")
        ),
        *((f"51 {word}", ["51"]) for word in ("per cent", "percent", "Prozent", "pour cent", "por ciento")),
        ("$0", []),
        ("$1", ["1"]),
        ("1,2,345 and 1-2-3", []),
        ("3 thousand", ["3"]),
        ("2.000", ["2.000"]),
    ],
)
def test_which_numbers_say_something(text: str, found: list[str]) -> None:
    assert [each.token for each in mentions_in(text)] == found


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("270 km", False),
        ("about 270 km", True),
        ("more than 270 km", True),
        ("≈ 270 km", True),
        ("~270 km", True),
        ("~$270", True),
        ("~ or so: 270 km", False),
        ("It takes more than **270 km", True),
        ("more than that, 270 km", False),
    ],
)
def test_a_number_is_only_roughly_so(text: str, about: bool) -> None:  # noqa: FBT001 - a column of the table.
    assert [each.about for each in mentions_in(text)] == [about]


def test_a_mention_is_no_amount_unless_it_says_so() -> None:
    (mention,) = mentions_in("Order ORD-2041 came.")
    assert (mention.kind, mention.money, mention.about, mention.faint, mention.unit) == (
        Kind.ID,
        False,
        False,
        False,
        "",
    )
    (faint,) = mentions_in("It is KX7RTB.")
    assert faint.faint


def test_names_and_quotations_are_mentions() -> None:
    text = f'{"So it is. " * 5}The author Ludwig van Beethoven wrote: "all people will be brothers".'
    found = [(each.kind, each.token, text[each.start : each.end]) for each in mentions_in(text)]
    quoted, name = "all people will be brothers", "Ludwig van Beethoven"
    assert found == [(Kind.QUOTE, quoted, quoted), (Kind.NAME, name, name)]
    # Words that are far from it say nothing of it.
    assert list(mentions_in(f'He wrote{" " * 60}"all people will be brothers"')) == []


@pytest.mark.parametrize(
    ("numeral", "read"),
    [
        ("1-2", []),
        ("5.", [(5, 1, True)]),
        (".5", [(0.5, 0.1, False)]),
        (".250", [(0.25, 0.001, False)]),
        ("123,456", [(123_456, 1, True), (123.456, 0.001, False)]),
        ("1234,567", [(1234.567, 0.001, False)]),
        ("1,234.5.6", []),
        ("1234,567.8", []),
        ("1.234.567,89", [(1_234_567.89, 0.01, False)]),
        ("1 234,5", [(1234.5, 0.1, False)]),
    ],
)
def test_a_numeral_of_any_country(numeral: str, read: list[tuple[float, float, bool]]) -> None:
    assert [(each.value, each.place, each.whole) for each in readings(numeral)] == read


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1.5", [1.5]),
        ("1,2,345", [1, 2, 345]),
        ("12 345 678", [12_345_678, 12, 345, 678]),
        ("1,234", [1234, 1.234, 1, 234]),
        ("1.2.3", [1.2, 3]),
        ("1'234", [1234]),
        ("7" * 41, []),
        ("7" * 41 + ",5", [5]),
    ],
)
def test_the_numbers_of_a_result_are_read_in_every_way(text: str, values: list[float]) -> None:
    assert list(numerals_in(text)) == values


def test_a_longer_word_ends_in_one_in_any_case() -> None:
    evidence = Evidence([outcome_of(ToolCall("get_data", {}, "card 55ab12"))], None)
    assert evidence.ends("AB12")
    assert not evidence.ends("55ab1")


def test_a_result_of_an_sdk_is_read_by_its_attributes() -> None:
    result = SimpleNamespace(content=[SimpleNamespace(type="text", text="41.25"), SimpleNamespace(type="text")])
    assert ground("It costs $41.25.", [ToolCall("get_data", {}, result)]) == []
    assert [each.evidence for each in ground("It costs $41.35.", [ToolCall("get_data", {}, result)])] == ["41.35"]
