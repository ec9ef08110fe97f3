"""What `check_answer` takes as `calls` and `question` is read by the one reader of messages."""

from toolvet import ToolCall, check_answer
from toolvet.core.messages import read_calls, words_of_others

HUMAN = {"type": "human", "content": "Mail Ann the report."}
AI = {"type": "ai", "content": "The lamp costs $71.35.", "tool_calls": []}


def test_what_people_and_models_say_is_no_call() -> None:
    assert read_calls([HUMAN, AI, {"role": "user", "content": "Hi"}]) == []
    labels = [signal.label for signal in check_answer("Done, I sent the report to Ann.", calls=[HUMAN]).signals]
    assert labels == ["claimed_without_call"]


def test_blocks_and_items_alone_are_bare_results() -> None:
    bare = [
        {"type": "text", "text": "21 degrees"},
        {"type": "image", "data": "…", "mimeType": "image/png"},
        {"text": "21 degrees"},
        {"type": "phone_call", "id": "7", "minutes": 3},
        {"role": "admin", "name": "Ann"},
        {"role": "user", "email": "ann@example.com"},
        {"choices": [{"id": 1, "label": "red"}]},
        {"candidates": [{"name": "Ann"}]},
        {"kind": "request", "parts": 3},
        {"from": "ann@example.com", "value": "7"},
        {"object": "list", "data": []},
    ]
    assert read_calls(bare) == [ToolCall("", None, result) for result in bare]


def test_what_the_model_said_in_the_question_bears_nothing_out() -> None:
    assert words_of_others([HUMAN, AI]) == "Mail Ann the report."
    talk = [{"role": "user", "parts": [{"text": "How much?"}]}, {"role": "model", "parts": [{"text": "$71.35"}]}]
    assert words_of_others(talk) == "How much?"


def test_what_tools_returned_in_the_question_is_there() -> None:
    call = {"role": "model", "parts": [{"functionCall": {"name": "price", "args": {}}}]}
    response = {"functionResponse": {"name": "price", "response": {"total": 71.35}}}
    assert words_of_others([call, {"role": "user", "parts": [response]}]) == '{"total":71.35}'
    assert words_of_others([{"role": "tool", "tool_call_id": "a", "content": "71.35"}]) == "71.35"


def test_any_other_question_is_read_by_its_texts() -> None:
    assert (
        words_of_others([{"content": "A bag is $50."}, "Really?", {"text": "Yes."}]) == "A bag is $50.\nReally?\nYes."
    )
    assert words_of_others("A bag is $50.") == "A bag is $50."
    assert words_of_others(None) == ""
