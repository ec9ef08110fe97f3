"""Rule: no valid call of a tool succeeded, so its real work was never seen."""

from collections.abc import Iterator, Sequence

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.ending import REFUSALS, ending, is_bad, words_of
from toolvet.rules.quote import quote
from toolvet.rules.subject import ObservedCall, ToolDefinition

CARD = Card(
    id="never-succeeded",
    title="No valid call succeeded",
    severity=Severity.INFO,
    looks_for=(
        "A tool all of whose calls with valid arguments were refused (not found, not allowed, not accepted), so that "
        "no success was ever seen."
    ),
    why=(
        "Refusing politely counts as working, but then the report says little: the tool's real work was never reached, "
        "and refusals of wrong arguments may have been about something else."
    ),
    remedy=(
        "Give toolvet arguments that exist where the server runs: `[[fixtures.TOOL]]` for one tool, or `[values]` for "
        "a parameter of many, in toolvet.toml. Examples in the schema itself help models as well."
    ),
)


def check_calls(tool: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """One finding a tool, quoting the first refusal. Other rules report failures and timeouts."""
    del tool
    valid = [call for call in calls if call.breach is None and not is_bad(call)]
    if valid and all(ending(call) in REFUSALS for call in valid):
        words = quote(words_of(valid[0]), 200)
        many = f"All {len(valid)} valid calls were refused" if len(valid) > 1 else "The valid call was refused"
        yield CARD.finding(message=f'{many}: "{words}"', evidence=words)
