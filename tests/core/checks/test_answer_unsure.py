"""The table of `docs/answers.md`: unsure, incapable, unclear, unwilling, and a tool that failed are distinguished."""

import pytest

from toolvet.core.checks.answer.read import read_answer

KINDS = {
    ("low_confidence", "hedged"): [
        "My best guess is that it closes at six.",
        "I'm not sure whether the museum is open on Mondays.",
        "I'm not entirely certain, but the ferry leaves from pier two.",
    ],
    ("low_confidence", "incapable"): [
        "I don't know the answer to that.",
        "I don't have access to your calendar.",
        "I cannot provide real-time stock prices.",
        "I'm unable to give you live scores.",
        "I cannot predict who will win the election.",
    ],
    ("low_confidence", "unknown"): [
        "It is unclear whether the bridge was ever finished.",
        "The price has not been disclosed.",
    ],
    ("confusion", "confused"): ["I don't understand your question.", "It is unclear what you mean by that."],
    ("refusal", "refusal"): ["I'm sorry, but I can't help with that request.", "I will not write this letter."],
    ("tool_failure", "tool_error"): [
        "I couldn't retrieve your orders.",
        "There was a timeout when calling the API.",
        "There seems to be a technical issue with the validator tool.",
        "The weather API returned a 503 error.",
    ],
    ("tool_failure", "unavailable"): [
        "The search tools are currently not functioning properly.",
        "Since the external tools aren't working right now, here is what I know.",
    ],
}
TOPICS = [
    "A 503 status means that the service is overloaded; clients should wait and try once more.",
    "If the API returns an error, the client should back off and retry.",
    "The first call timed out, but the second attempt succeeded: you have three open orders.",
    "Wrap the call in try and except, and log the exception when the request fails.",
    "In the report, the payment service of the bank was down for two hours last year.",
    "The function has a bug: there is an issue with the indexing in the loop.",
    "Es ging um zu viele Anfragen an das Amt und um lange Wartezeiten.",
    "Journalists know little of the valley due to restricted access.",
]


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in KINDS.items() for text in texts])
def test_each_answer_is_of_its_own_kind(kind: tuple[str, str], text: str) -> None:
    assert kind in [(signal.type.value, signal.label) for signal in read_answer(text, min_length=1)]


@pytest.mark.parametrize("text", TOPICS)
def test_a_failure_that_is_only_the_topic_is_no_failure(text: str) -> None:
    assert "tool_failure" not in [signal.type.value for signal in read_answer(text, min_length=1)]
