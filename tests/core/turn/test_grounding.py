import json
from dataclasses import dataclass, field

import pytest
from hypothesis import example, given, strategies as st
from tests.examples import examples

from toolvet.core.checks.answer import FailureSignal, SignalType
from toolvet.core.messages import UNKNOWN, read_calls
from toolvet.core.turn.ledger import ToolCall, ground

ORDER = ToolCall(
    "get_order",
    {"order_id": "A-77812"},
    json.dumps(
        {
            "order_id": "A-77812",
            "placed": "2026-11-03T09:15:00Z",
            "total": 96.4,
            "lines": [{"title": "Lamp", "price": 41.9}, {"title": "Desk mat", "price": 54.5}],
            "tracking": "https://parcels.shop.test/t/PX55810Z",
            "contact": "lena@shop.test",
        }
    ),
)
FAITHFUL = (
    "Order A-77812 was placed on November 3, 2026. It has two lines, $41.90 and $54.50, together $96.40. "
    "Follow it at https://parcels.shop.test/t/PX55810Z or write to lena@shop.test."
)
BROKEN = {"isError": True, "content": [{"type": "text", "text": "SMTP server refused the connection"}]}


def labels(text: str, calls: list[object], question: str | None = None) -> list[str | None]:
    return [signal.label for signal in ground(text, calls, question)]


def test_a_faithful_answer_has_no_findings() -> None:
    assert ground(FAITHFUL, [ORDER]) == []


@pytest.mark.parametrize(
    ("old", "new", "label"),
    [
        ("A-77812", "A-77821", "unsupported_id"),
        ("November 3, 2026", "November 9, 2026", "unsupported_date"),
        ("$54.50", "$57.50", "unsupported_number"),
        ("PX55810Z", "PX55801Z", "unsupported_url"),
        ("lena@shop.test", "lina@shop.test", "unsupported_email"),
    ],
)
def test_one_changed_value_is_found_and_quoted(old: str, new: str, label: str) -> None:
    text = FAITHFUL.replace(old, new)
    found = [signal for signal in ground(text, [ORDER]) if signal.label == label]
    assert found
    signal = found[0]
    assert signal.position is not None
    assert text[signal.position : signal.position + len(signal.evidence)] == signal.evidence
    assert signal.against is not None
    assert "get_order" in signal.against
    assert signal.type is SignalType.HALLUCINATION_RISK
    assert signal.source == "calls"


@pytest.mark.parametrize(
    "text",
    [
        "The order was placed on 03.11.2026.",
        "The order was placed on 3. November 2026.",
        "订单日期是2026年11月3日。",
        "The total is about 96 dollars.",
        "The total is 96,40 €.",
        "Each line costs $48.20 on average.",
        "The mat is $12.60 dearer than the lamp.",
        "1. Lamp\n2. Desk mat\n\nStep 3: wait 24 hours.",
        "It ships 24/7, as in 2019.",
    ],
)
def test_other_spellings_and_what_follows_from_the_results_are_borne_out(text: str) -> None:
    assert ground(text, [ORDER]) == []


def test_a_value_of_the_question_is_borne_out() -> None:
    assert labels("You paid $512.75 for it.", [ORDER]) == ["unsupported_number"]
    assert labels("You paid $512.75 for it.", [ORDER], "I paid $512.75, why?") == []


def test_values_are_not_looked_at_without_calls_or_where_results_cannot_be_read() -> None:
    assert ground("It costs $512.75.", []) == []
    picture = {"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]}
    assert ground("It costs $512.75.", [ToolCall("screenshot", {}, picture)]) == []


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Done, I sent the email to Bob.", "en"),
        ("Ich habe die E-Mail an Frau Kern geschickt.", "de"),
        ("J'ai envoyé l'e-mail à Claire.", "fr"),
        ("He enviado el correo a Marta.", "es"),
        ("邮件已发送。", "zh"),
        ("田中さんにメールを送信しました。", "ja"),
        ("لقد أرسلت الرسالة إلى أحمد.", "ar"),
    ],
)
def test_a_claim_after_a_failed_call_quotes_the_failure(text: str, language: str) -> None:
    found = ground(text, [ToolCall("send_email", {"to": "bob"}, BROKEN)])
    claims = [signal for signal in found if signal.label == "claimed_success_after_failure"]
    assert claims
    assert claims[-1].language == language
    assert claims[-1].against == "send_email: SMTP server refused the connection"


def test_a_call_that_never_returned_has_not_succeeded() -> None:
    found = ground("I sent the email.", [ToolCall("send_email")])
    assert [(signal.label, signal.against) for signal in found] == [
        ("claimed_success_after_failure", "send_email never returned")
    ]


def test_a_claim_needs_a_call_of_its_kind() -> None:
    assert labels("I've sent the email to Bob.", []) == ["claimed_without_call"]
    found = ground("I've sent the email to Bob.", [ToolCall("search_contacts", {"q": "Bob"}, '[{"name": "Bob"}]')])
    assert [signal.against for signal in found] == ["only search_contacts was called"]
    assert labels("I've sent the email to Bob.", [ToolCall("send_email", {"to": "Bob"}, "queued")]) == []
    assert labels("I've sent the email to Bob.", [ToolCall("zapier_dispatch", {"to": "Bob"}, "ok")]) == []


@pytest.mark.parametrize(
    "text",
    [
        "Here is a draft:\n\nSubject: Leak\n\nI've sent the email to your colleague.",
        "I've written a poem about the sea.",
        "I have removed the repetition from the second paragraph.",
        "Once I've sent the email, they will answer you.",
        "Have I sent the email?",
        'You could write: "I have cancelled your reservation."',
        "```\nI sent the email.\n```",
    ],
)
def test_text_work_conditions_questions_and_drafts_claim_nothing(text: str) -> None:
    assert ground(text, []) == []


def test_a_retry_that_succeeded_settles_the_failure() -> None:
    calls: list[object] = [ToolCall("send_email", {"to": "bob"}, BROKEN), ToolCall("send_email", {"to": "bob"}, "ok")]
    assert ground("I sent the email.", calls) == []


def test_a_failure_that_the_answer_keeps_silent_about_is_a_tool_failure() -> None:
    failed = ToolCall("get_weather", {"city": "Oslo"}, BROKEN)
    found = ground("It is sunny in Oslo.", [failed])
    assert [(signal.label, signal.type) for signal in found] == [("unmentioned_failure", SignalType.TOOL_FAILURE)]
    assert ground("I could not reach the weather service.", [failed]) == []
    assert ground("Ich konnte das Wetter leider nicht abrufen.", [failed]) == []


def test_asking_back_answers_a_rejected_call_but_not_a_crash() -> None:
    rejected = {"isError": True, "content": [{"type": "text", "text": "City not found"}]}
    text = "It is sunny there. Which city do you mean?"
    assert ground(text, [ToolCall("get_weather", {"city": "Olso"}, rejected)]) == []
    assert labels(text, [ToolCall("get_weather", {"city": "Olso"}, BROKEN)]) == ["unmentioned_failure"]


def test_the_signals_of_the_text_say_that_a_failure_was_told() -> None:
    failed = ToolCall("get_weather", {"city": "Oslo"}, BROKEN)
    told = FailureSignal(type=SignalType.TOOL_FAILURE, evidence="x", weight=0.9)
    assert ground("Säätietoja ei saatu.", [failed], None, [told]) == []


def test_a_failure_beside_a_result_weighs_little() -> None:
    calls: list[object] = [ToolCall("get_weather", {}, "sunny"), ToolCall("create_note", {}, BROKEN)]
    found = ground("It is sunny in Oslo.", calls)
    assert [signal.label for signal in found] == ["unmentioned_failure"]
    assert sum(signal.weight for signal in found) < 0.3


def test_failed_goes_before_what_the_result_says() -> None:
    assert labels("I sent the email.", [ToolCall("send_email", {}, "ok", failed=True)]) != []
    assert labels("I sent the email.", [ToolCall("send_email", {}, BROKEN, failed=False)]) == []


@dataclass
class Recorded:
    tool: str
    args: dict[str, object] = field(default_factory=dict[str, object])
    output: object = None


OPENAI: list[object] = [
    {"role": "user", "content": "Weather?"},
    {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "weather", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "21 degrees"},
]
ANTHROPIC: list[object] = [
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "weather", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "21 degrees"}]},
]
GEMINI: list[object] = [
    {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": {}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": "21 degrees"}}]},
]
RESPONSES: list[object] = [
    {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "21 degrees"},
]


@pytest.mark.parametrize(
    "calls",
    [
        OPENAI,
        ANTHROPIC,
        GEMINI,
        RESPONSES,
        [{"name": "weather", "arguments": {}, "result": "21 degrees"}],
        [{"tool": "weather", "input": {}, "output": "21 degrees"}],
        [Recorded("weather", {}, "21 degrees")],
        [ToolCall("weather", {}, "21 degrees")],
    ],
)
def test_a_call_is_read_from_every_shape(calls: list[object]) -> None:
    read = read_calls(calls)
    assert [(call.name, call.result) for call in read] == [("weather", "21 degrees")]


def test_a_result_alone_is_a_call_without_a_name() -> None:
    read = read_calls(["21 degrees", {"temperature": 21}, {"content": [{"type": "text", "text": "21"}]}])
    assert [call.name for call in read] == ["", "", ""]


def test_calls_whose_results_nobody_handed_over_say_nothing() -> None:
    calls: list[object] = [{"name": "send_email", "arguments": {}}]
    assert read_calls(calls)[0].result is UNKNOWN
    assert ground("I sent the email.", calls) == []


CYCLE: dict[str, object] = {}
CYCLE["self"] = CYCLE
DEEP: list[object] = []
for _ in range(5_000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "result",
    [
        CYCLE,
        DEEP,
        {"x": float("nan")},
        "\ud800",
        b"\xff",
        object(),
        10**400,
        {1: 2},
        {"content": 5},
        [{"type": 3}],
        1.5,
    ],
)
def test_no_result_makes_it_raise(result: object) -> None:
    ground("Done, I sent 4,711.23 to \ud800 on May 5, see #AB1234.", [ToolCall("x", result, result)], "\udfff")
    ground("It is 12.5 %.", [result])


@examples(60)
@example(" 0", [None])
@given(
    st.text(max_size=300),
    st.lists(st.recursive(st.none() | st.text() | st.floats() | st.integers(), st.lists, max_leaves=8), max_size=3),
)
def test_every_finding_quotes_the_answer_where_it_says(text: str, calls: list[object]) -> None:
    for signal in ground(text, calls):
        assert signal.position is not None
        assert text[signal.position : signal.position + len(signal.evidence)] == signal.evidence


@examples(60)
@given(st.integers(10_000, 99_999_999), st.integers(1, 8))
def test_a_price_with_another_digit_is_found(cents: int, step: int) -> None:
    price = cents / 100
    call = ToolCall("get_price", {"item": "lamp"}, {"price": price, "currency": "EUR"})
    assert ground(f"The lamp costs €{price:,.2f}.", [call]) == []
    other = f"{price:,.2f}"
    changed = str((int(other[0]) + step - 1) % 9 + 1) + other[1:]
    expected = [] if changed == other else ["unsupported_number"]
    assert labels(f"The lamp costs €{changed}.", [call]) == expected
