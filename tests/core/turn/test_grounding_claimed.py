"""Claims of action in a sentence, against the names and the reports of tools."""

from types import SimpleNamespace

import pytest

from toolvet.core.turn.ledger import ToolCall
from toolvet.core.turn.ledger.claims import said
from toolvet.core.turn.ledger.failures import tool_faults
from toolvet.core.turn.ledger.outcome import (
    Ability,
    TurnVocabulary,
    ability,
    is_own_report,
    outcome_of,
    past_forms,
    texts_in,
    verb_of,
    words_of_tool,
)
from toolvet.core.turn.ledger.tokens import spoken

LOCKED = "Error: the database is locked"
Claim = tuple[str, str, str]


def claims(text: str, tool: str = "escrow_item") -> list[Claim]:
    """The family, the verb, and what it is about: things, identifiers and marks, then the words that are quoted."""
    known = TurnVocabulary([outcome_of(ToolCall(tool, {}, "ok"))])
    found: list[Claim] = []
    for each in said(text, words=known).claims:
        marks = [name for name in ("passive", "text_work", "emphatic") if getattr(each, name)]
        about = " ".join([*each.things, *(f"#{mark}" for mark in sorted(each.ids)), *(f"({mark})" for mark in marks)])
        found.append((f"{each.family} {each.verb}".strip(), about, text[each.hit.start : each.hit.end]))
    return found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # The speaker and the verb, then its object.
        ("I've sent the email to Bob.", [("send sent", "email bob", "I've sent")]),
        (
            "I have successfully created a ticket for #W-1200.",
            [("create created", "ticket #w-1200 (emphatic)", "I have successfully created")],
        ),
        ("I created a plan for the database with tables.", [("create created", "plan database table", "I created")]),
        ("I added a paragraph to the summary.", [("create added", "paragraph summary (text_work)", "I added")]),
        ("I added the lamp to your cart.", [("create added", "lamp cart", "I added")]),
        ("I created the articles to the file.", [("create created", "article file", "I created")]),
        ("I updated the note.", [("update updated", "note (text_work)", "I updated")]),
        ("I've updated the AB-12 method.", [("update updated", "method #ab-12 (text_work)", "I've updated")]),
        ("I've sent a summary.", [("send sent", "summary", "I've sent")]),
        ("I removed the return request.", [("delete removed", "request", "I removed")]),
        ("I cancelled W-1200 and #ab12, and A-5.", [("delete cancelled", "#ab12 #w-1200", "I cancelled")]),
        ("I created utils/text.py.", [("create created", "py", "I created")]),
        ("I created utils/text.py:\n```\nx\n```", [("create created", "py (text_work)", "I created")]),
        ("I created /srv/data/text.py:\n```\nx\n```", [("create created", "py", "I created")]),
        ("**I've** sent the email.", [("send sent", "email", "I've** sent")]),
        ("I've sent the __email__ to `Bob`.", [("send sent", "email bob", "I've sent")]),
        # An infinitive, and verbs that only the tools know.
        ("I was able to update the name.", [("update updated", "name (text_work)", "I was able to update")]),
        ("I was able to buy the lamp.", [("pay bought", "lamp", "I was able to buy")]),
        ("I've escrowed the item.", [("anything escrowed", "item", "I've escrowed")]),
        ("I was able to escrow the item.", [("anything escrowed", "item", "I was able to escrow")]),
        ("I was able to reticulate the item.", []),
        ("I've escrowed the sky.", [("anything escrowed", "sky", "I've escrowed")]),
        ("I've cancelled successfully.", [("delete cancelled", "", "I've cancelled")]),
        ("I created the text to Bob with the cart.", [("create created", "text bob cart (text_work)", "I created")]),
        # The subject is in front of a passive.
        (
            "Two of Raj's payment methods have been changed.",
            [("update changed", "two method (passive)", "Two of Raj's payment methods have been changed")],
        ),
        ("The plan has been changed.", []),
        (
            "The meeting-place has been changed.",
            [("update changed", "(passive)", "The meeting-place has been changed")],
        ),
        ("Your lamp has been updated.", [("update updated", "lamp (passive)", "Your lamp has been updated")]),
        ("The lamp has been updated.", []),
        ("The lamp has been successfully updated.", []),
        (
            "The lamp has been successfully cancelled.",
            [("delete cancelled", "lamp (passive) (emphatic)", "The lamp has been successfully cancelled")],
        ),
        (
            "Your summary has been updated.",
            [("update updated", "summary (passive) (text_work)", "Your summary has been updated")],
        ),
        (
            "The payment method has been changed.",
            [("update changed", "method (passive)", "The payment method has been changed")],
        ),
        (
            "/srv/data/report.csv has been created.",
            [("create created", "csv (passive)", "/srv/data/report.csv has been created")],
        ),
        ("The text has been saved to /srv/data/a.txt.", [("save saved", "text (passive)", "The text has been saved")]),
        ("The text has been saved to srv.", []),
        ("Lena has been added as a new lead in the CRM.", [("create added", "lena (passive)", "Lena has been added")]),
        ("Lena has been added as a new star in the sky.", []),
        (
            "All of Raj's leads have been updated.",
            [("update updated", "all lead (passive)", "All of Raj's leads have been updated")],
        ),
        ("Two of Raj's pears have been updated.", []),
        ("Each lead has been updated.", [("update updated", "lead (passive)", "Each lead has been updated")]),
        ("The AB-12 has been updated.", [("update updated", "#ab-12 (passive)", "The AB-12 has been updated")]),
        ("The 12-piece has been updated.", []),
        ("It has been sent.", []),
        ("None of it has been sent.", []),
        ("If your return has been submitted, wait.", []),
        ("Your return has been submitted by the airline.", []),
        ("Has the meeting been cancelled", []),
        # A state: an action where its noun is one, and a rule otherwise.
        ("The exchange is submitted.", [("exchange submitted", "exchange (passive)", "The exchange is submitted")]),
        ("The exchange is submitted today.", []),
        ("Returns are refunded.", []),
        ("The return W-12 is complete.", [("return complete", "#w-12 (passive)", "The return W-12 is complete")]),
        ("Your return is now in place.", [("return in place", "return (passive)", "Your return is now in place")]),
        (
            "Your orders of lamps are now updated.",
            [("update updated", "order lamp (passive)", "Your orders of lamps are now updated")],
        ),
        ("The plan is now set.", []),
        (
            "Your item of velvet is now updated.",
            [("update updated", "item velvet (passive)", "Your item of velvet is now updated")],
        ),
        # A verb that opens a line, and a noun with its participle.
        ("Cancelled flight HAT7", [("delete cancelled", "#hat7 (passive)", "Cancelled")]),
        ("Booked on Monday.", []),
        ("Updated the ticket.", [("update updated", "ticket (passive)", "Updated")]),
        ("Updated the summary.", []),
        ("Just submitted the refund.", [("pay submitted", "refund (passive)", "submitted")]),
        ("Created data/run.sh and ran it.", [("create created", "sh it (passive)", "Created")]),
        ("Return submitted.", [("return submitted", "return (passive)", "Return submitted")]),
        ("- Return submitted", [("return submitted", "return (passive)", "Return submitted")]),
        ("1. Refund issued", [("pay issued", "refund (passive)", "Refund issued")]),
        (
            "Return of $40 submitted successfully.",
            [("return submitted", "return (passive)", "Return of $40 submitted")],
        ),
        ("Great, return submitted.", []),
        ("The submitted.", []),
        ("Cancelled successfully.", [("delete cancelled", "(passive)", "Cancelled")]),
        ("Lamp submitted.", []),
        ("Payment for lamp processed.", []),
        (
            "Payment for lamp processed successfully.",
            [("pay processed", "payment (passive)", "Payment for lamp processed")],
        ),
        ("Red lamp order submitted.", [("pay submitted", "order (passive)", "Red lamp order submitted")]),
        ("Big red lamp order submitted.", [("pay submitted", "order (passive)", "Big red lamp order submitted")]),
        ("Hot big red lamp order submitted.", []),
        ("The first payment processed.", []),
        ("Email sent to Bob", [("send sent", "email (passive)", "Email sent")]),
        ("Email sent by Bob", []),
        ("Refund issued: $40", []),
        ("Refund issued:", [("pay issued", "refund (passive)", "Refund issued")]),
        # Questions and what is quoted.
        ("I've cancelled it. Is that right?", [("delete cancelled", "it", "I've cancelled")]),
        ("I've cancelled it: is that right?", []),
        ("> I've cancelled it.", []),
        ("«I've cancelled it.»", []),
    ],
)
def test_what_a_sentence_claims(text: str, found: list[Claim]) -> None:
    assert claims(text) == found


def test_so_many_claims_are_read_and_no_more() -> None:
    made = said("I've sent the email. " * 1_100).claims
    assert len(made) == 200
    assert len(said("I've tickled the email. " * 999 + "Return submitted.").claims) == 1
    assert said("I've tickled the email. " * 1_000 + "Return submitted.").claims == []


@pytest.mark.parametrize(
    ("name", "family", "able"),
    [
        ("transfer_money", "pay", Ability.THIS),
        ("transfer_to_agent", "send", Ability.READS),
        ("transfer_agent", "pay", Ability.READS),
        ("escalate_human", "handoff", Ability.THIS),
        ("load_page", "create", Ability.READS),
        ("open_account", "create", Ability.THIS),
        ("draft_email", "send", Ability.READS),
        ("update_pull_request", "send", Ability.ANYTHING),
        ("open_url", "create", Ability.READS),
        ("pull_request_get", "create", Ability.ANYTHING),
        ("get_pull_request", "create", Ability.READS),
        ("search_flights", "search", Ability.READS),
        ("weather_search", "send", Ability.READS),
        ("plan_trip", "save", Ability.READS),
        ("browser_click", "send", Ability.ANYTHING),
        ("", "send", Ability.ANYTHING),
        ("send_email", "nothing known", Ability.ANYTHING),
        ("delete_user", "anything", Ability.ANYTHING),
    ],
)
def test_what_the_name_of_a_tool_lets_it_do(name: str, family: str, able: Ability) -> None:
    assert ability(name, family) is able


def test_the_words_of_a_tool_are_those_behind_its_server() -> None:
    assert words_of_tool("mcp__search__create_issue") == ("create", "issue")
    assert words_of_tool("browser_click_button") == ("click", "button")
    assert words_of_tool("mcp__") == ("mcp",)
    assert verb_of("") == ""


@pytest.mark.parametrize(
    ("verb", "forms"),
    [
        ("plan", {"planed", "planned"}),
        ("on", {"oned", "onned"}),
        ("fix", {"fixed"}),
        ("play", {"played"}),
        ("treat", {"treated"}),
        ("try", {"tried"}),
        ("write", {"wrote", "written"}),
        ("a", set()),
        ("x" * 24, {"x" * 24 + "ed"}),
        ("x" * 25, set()),
        ("añadir", set()),
        ("a1", set()),
    ],
)
def test_the_past_forms_of_a_verb(verb: str, forms: set[str]) -> None:
    assert past_forms(verb) == forms


def test_the_texts_of_any_result() -> None:
    block = SimpleNamespace(type="text", text="a")
    assert texts_in(SimpleNamespace(content=[block, SimpleNamespace(type="image")])) == ["a"]
    assert texts_in(SimpleNamespace()) == texts_in(None) == []
    assert texts_in({"content": "a"}) == ["a"]
    assert texts_in({"content": [block], "structuredContent": {"b": 1}, "error": 3}) == ['{"b":1}']
    assert texts_in({"content": [], "error": {"c": 1}}) == ['{"c":1}']
    assert texts_in({"d": 1}) == ['{"d":1}']


def test_a_report_of_ours_is_known_in_the_object_of_an_sdk() -> None:
    head = "❌ The arguments of tool 'x' were not checked."
    for result, own in (
        (SimpleNamespace(meta={"dev.toolvet/arguments": {}}, content=[]), True),
        (SimpleNamespace(meta={}, content=[SimpleNamespace(text=head)]), True),
        (SimpleNamespace(meta=None, content=head), True),
        (SimpleNamespace(content=[SimpleNamespace(text="fine")] * 4 + [SimpleNamespace(text=head)]), False),
        (SimpleNamespace(content=[SimpleNamespace(text="fine")] * 3 + [SimpleNamespace(text=head)]), True),
        (SimpleNamespace(), False),
    ):
        assert is_own_report(result) is own


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("> a\nb", "   \nb"),
        ("a `b` c", "a     c"),
        ("Subject: a\nb", "          \n "),
        ("Subject: a\n---\nb", "          \n---\nb"),
        ('a "bc" d', "a      d"),
        ("a «bc» d", "a      d"),
        ("a „bc“ d", "a      d"),
        ("a 「bc」 d", "a      d"),
        ("a > b", "a > b"),
        ("a: b", "a: b"),
    ],
)
def test_what_the_assistant_itself_says(text: str, left: str) -> None:
    assert spoken(text) == left


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("convert_currency", "If the converter is down, wait. The converter is down.", ["converter is down"]),
        ("convert_currency", "The file converter is down. The converter is down.", ["converter is down"]),
        (
            "convert_all_currency_units_now",
            "The all currency units converter is down.",
            ["all currency units converter is down"],
        ),
        ("convert_all_currency_units_now", "Now all currency units converter is down.", []),
        ("convert_currency", f"{'So it is. ' * 6}The converter is down. {'So it is. ' * 6}", ["converter is down"]),
    ],
)
def test_each_sentence_that_calls_a_tool_out_of_order_is_looked_at(name: str, text: str, found: list[str]) -> None:
    signals = tool_faults(text, [outcome_of(ToolCall(name, {}, LOCKED))])
    assert [each.evidence for each in signals] == found
    for each in signals:
        start = each.position or 0
        assert text[start:].startswith(each.evidence)
        assert each.context == text[max(0, start - 40) : start + len(each.evidence) + 40]
        assert each.against == f"{name}: {LOCKED}"
