"""Texts of a server that steer the model: hidden orders in definitions, results and resources."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from toolvet.assess.rules.item import WORDS, ListedItem, ObservedRequest
from toolvet.assess.rules.quote import quote
from toolvet.assess.rules.rule import of_calls, of_item, of_request, of_tool
from toolvet.core.poison import Steering, find_steering, hidden_in, result_steering, steering_in
from toolvet.core.tool_rules import ObservedCall, ToolDefinition
from toolvet.findings import Card, Finding, Severity

STEERS_MODEL = Card(
    id="steers-the-model",
    title="A text of the server steers the model",
    severity=Severity.ERROR,
    looks_for=(
        "A description, a parameter, a resource or a result that orders the model to read or send secrets, to send "
        "data to an address, to run a command, to hide something from the user, to drop its instructions, to act "
        "against the request, or to call a tool of another server. Single words are not enough: an order and its "
        "target must be together."
    ),
    why="A model reads these texts as instructions, and the user does not see them (tool poisoning, prompt injection).",
    remedy=(
        "Describe what the tool does and say nothing about what else the model should do. If the text is of someone "
        "else, such as a page that was fetched, return it as data and name its source."
    ),
)
HIDDEN_CHARACTERS = Card(
    id="hidden-characters",
    title="A text has characters that a person does not see",
    severity=Severity.ERROR,
    looks_for=(
        "Tag characters, overrides of the direction, invisible characters inside words, and letters of other scripts "
        "that look like Latin ones. Characters that a script needs (Persian, Indic, Arabic, emoji) are not reported."
    ),
    why="A model reads them and a person who reviews the text does not.",
    remedy="Remove them. Write words in the letters of one script.",
)
# Found in honest texts, too: a reader decides.
_DOUBTFUL: Final = frozenset({"concealment", "pretext", "script", "contradiction"})


@of_tool(STEERS_MODEL)
def check_tool_steers(tool: ToolDefinition) -> Iterator[Finding]:
    """Judge the texts of a definition; characters are the other card's."""
    return _findings(STEERS_MODEL, steering_in(tool.raw), "The definition")


@of_tool(HIDDEN_CHARACTERS)
def check_tool_hidden(tool: ToolDefinition) -> Iterator[Finding]:
    """Judge the characters of a definition."""
    return _findings(HIDDEN_CHARACTERS, hidden_in(tool.raw), "The definition")


@of_item(STEERS_MODEL)
def check_item_steers(item: ListedItem) -> Iterator[Finding]:
    """Judge the texts of a resource, template or prompt as it is listed."""
    return _findings(STEERS_MODEL, steering_in(item.raw), f"The {WORDS[item.kind]}")


@of_item(HIDDEN_CHARACTERS)
def check_item_hidden(item: ListedItem) -> Iterator[Finding]:
    """Judge the characters of a resource, template or prompt as it is listed."""
    return _findings(HIDDEN_CHARACTERS, hidden_in(item.raw), f"The {WORDS[item.kind]}")


@of_calls(STEERS_MODEL)
def check_results_steer(tool: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """Judge what the calls returned: the first result that steers."""
    del tool
    for call in calls:
        for each in result_steering(call.result):
            if each.signal != "hidden_text":
                yield _finding(STEERS_MODEL, each, "", "A result", Severity.WARNING)
                return


@of_request(STEERS_MODEL)
def check_resource_steers(request: ObservedRequest) -> Iterator[Finding]:
    """Judge the contents of a resource and the messages of a prompt."""
    for each in result_steering(request.result) if request.succeeded else ():
        if each.signal != "hidden_text":
            yield _finding(STEERS_MODEL, each, "", "What was read", Severity.WARNING)
            return


def find_orders_to_others(tool: str, description: str, others: Collection[str]) -> Iterator[Finding]:
    """Yield a finding if a description orders the model to call a tool of another server, one of `others`."""
    for each in find_steering(description, others=others):
        if each.signal == "other_server":
            found = _finding(STEERS_MODEL, each, "/description", "The definition", STEERS_MODEL.severity)
            yield replace(found, tool=tool)


def _findings(card: Card, found: Iterator[tuple[str, Steering]], subject: str) -> Iterator[Finding]:
    seen: set[str] = set()
    for pointer, each in found:
        if (each.signal == "hidden_text") == (card is HIDDEN_CHARACTERS) and each.signal not in seen:
            seen.add(each.signal)
            severity = Severity.WARNING if each.signal in _DOUBTFUL else card.severity
            yield _finding(card, each, pointer, subject, severity)


def _finding(card: Card, each: Steering, pointer: str, subject: str, severity: Severity) -> Finding:
    return card.finding(
        message=f"{subject} {each.says}.",
        evidence=quote(each.evidence, 300),
        pointer=pointer,
        severity=severity,
        confidence=75 if each.signal in _DOUBTFUL else 85,
    )
