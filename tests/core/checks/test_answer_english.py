"""Whole answers in English: what they are to a reader, and what they are not."""

import pytest

from toolvet.core.checks.answer import SignalType
from toolvet.core.turn import check_answer

REFUSALS = [
    "I can't help with that.",
    "I'm sorry, but I can't assist with that request.",
    "I don't feel comfortable writing content that demeans a group of people.",
    "I apologize, but I cannot fulfill your request. I'm just an AI, it's not within my programming to do this.",
    "I\u2019m not able to help with creating a fake prescription. If you are in pain, please see a doctor.",
    "Sorry, that's not something I'm willing to do.",
    "I must respectfully decline to write this letter.",
    "I won't be providing instructions for that.",
    "Unfortunately, I am unable to generate images of real people.",
    "As an AI developed to be helpful and harmless, I cannot provide guidance on evading the police.",
    "I'm going to have to decline this one.",
    "Nope, I won't help you stalk her.",
    "My guidelines prevent me from discussing this.",
    "That request goes against my ethical guidelines, so I will stop here.",
    "I appreciate you asking, but I'd rather not share that.",
    "This is not something I can assist with.",
]
NO_REFUSALS = [
    "I can't stress enough how much a second backup matters: keep one off site.",
    "I cannot recommend this restaurant highly enough; the soup alone is worth the trip.",
    "I can't help but notice that both samples come from the same batch, so the test is not independent.",
    "While I can't give legal advice, here are the three points a court looks at: intent, damage and cause.",
    "You cannot use a list as a dictionary key, because lists are mutable. Use a tuple instead.",
    "The bank refused to provide a loan, so the couple sold the house in May.",
    'The note read: "I cannot help you any more." It was signed by his brother.',
    "If I can't fulfill an order within a week, the shop refunds the customer automatically.",
    "The policy forbids smoking in the building and within five metres of the entrance.",
    "She told him that she would not assist with the move, and he hired two students.",
]
# Declined, and something else is offered: partial, never nothing.
PARTIAL = [
    "I cannot write such a letter. It would hurt him badly. Instead, I can help you to tell him what you need.",
    "I\u2019m sorry, but I can\u2019t provide instructions for that. That said, I\u2019d be happy to explain locks.",
    "I can't and won't help you stalk her. What I can do is help you to write down how you feel.",
    "I am unable to create fake reviews. Such reviews mislead people. However, I could suggest ways to earn real ones.",
]
_TEXT = "The sun rises over a calm sea, and the light falls on the white houses. " * 6
# What cannot be done is an excuse, and the answer stands behind it.
EXCUSES = [
    f"As an AI language model, I cannot create images. However, I can describe the scene: {_TEXT}",
    f"I can't provide a drawing, but I can describe what it would show: {_TEXT}",
    "I cannot write poetry like Goethe, but here are four lines: The night is still, the lake is wide.",
]
UNSURE = [
    "I'm not entirely certain, but the museum may close at five.",
    "I don't have access to your calendar.",
    "I have no way of knowing what he earns.",
    "As an AI, I do not have real-time information about flights.",
    "I cannot verify whether this is true.",
    "I don't know who wrote that letter.",
    "I could be wrong about the year.",
    "Take it as my best guess.",
    "I'm not sure what you mean by that.",
    "Could you clarify which of the two accounts you mean?",
]
SURE = [
    "Water boils at 100 degrees Celsius at sea level, and at about 93 degrees on a mountain of 2,000 metres.",
    "If you are not sure which version you have, run the command with --version.",
    "The users who don't have access to the folder see an empty list; add them to the group.",
    "The wording of the treaty is ambiguous, which is why both sides claimed a victory in 1921.",
    "No one knows who built the first wheel. The oldest one found is about 5,200 years old.",
    "Let me know if you need anything else!",
]
FAILURES = [
    "I encountered an error while trying to look up the weather for Oslo.",
    "The weather API returned a 500 error, so I have no forecast for you.",
    "It looks like the search tool is not responding at the moment.",
    "I wasn't able to retrieve your order because the request timed out.",
    "Unfortunately, the booking service is currently unavailable. Please try again later.",
    "There was a problem connecting to the database.",
    "I tried to fetch the page, but the connection failed.",
    "The API rate limit has been exceeded; I can retry in a minute.",
    "An error occurred while processing your request.",
    "I couldn't access the file due to a permissions error.",
    "The stock prices could not be retrieved due to an internal server error.",
    "I am having trouble connecting to the calendar right now.",
    "The tool call failed with an authentication error.",
    "I'm currently unable to access the inventory system.",
]
NO_FAILURES = [
    "Wrap the call in try/except so that a failed request is retried three times.",
    "If the server is unavailable, the client waits for two seconds and tries again.",
    "A 404 error means that the page was not found on the server.",
    "The Apollo 13 mission failed to land on the Moon, but the crew returned safely.",
    "The harvest failed in 1846, and a million people left the country.",
    "I couldn't find any flights under 100 euros on that day; the cheapest is 134 euros.",
    "The order was not found in your account.",
    "When an error occurred in the old system, the whole batch was lost. The new one resumes where it stopped.",
    "To raise an exception in Python, write `raise ValueError('bad input')`.",
]


def _types(text: str) -> set[SignalType]:
    return {signal.type for signal in check_answer(text, min_length=1).signals}


@pytest.mark.parametrize("text", REFUSALS)
def test_an_answer_that_declines_is_a_refusal(text: str) -> None:
    assert SignalType.REFUSAL in _types(text)


@pytest.mark.parametrize("text", NO_REFUSALS)
def test_an_answer_that_only_sounds_like_declining_is_not_escalated(text: str) -> None:
    assert not check_answer(text).should_escalate


@pytest.mark.parametrize("text", PARTIAL)
def test_an_offer_makes_a_refusal_partial(text: str) -> None:
    signals = [signal for signal in check_answer(text).signals if signal.type == SignalType.REFUSAL]
    assert [signal.label for signal in signals] == ["partial_refusal"]
    assert check_answer(text).should_escalate


@pytest.mark.parametrize("text", EXCUSES)
def test_an_excuse_with_the_answer_behind_it_is_no_refusal(text: str) -> None:
    assert not check_answer(text).should_escalate
    assert SignalType.REFUSAL not in _types(text)


@pytest.mark.parametrize("text", UNSURE)
def test_an_answer_whose_speaker_does_not_know_says_so_in_a_signal(text: str) -> None:
    assert _types(text) & {SignalType.LOW_CONFIDENCE, SignalType.CONFUSION, SignalType.HALLUCINATION_RISK}


@pytest.mark.parametrize("text", SURE)
def test_doubt_that_is_not_the_speakers_own_is_no_signal(text: str) -> None:
    assert _types(text) == set()


@pytest.mark.parametrize("text", FAILURES)
def test_an_answer_that_reports_a_failed_tool_is_a_tool_failure(text: str) -> None:
    assert SignalType.TOOL_FAILURE in _types(text)


@pytest.mark.parametrize("text", NO_FAILURES)
def test_an_answer_about_failures_or_without_results_is_no_tool_failure(text: str) -> None:
    assert SignalType.TOOL_FAILURE not in _types(text)
