"""How a rule is written: a card, and a function that a decorator joins to it.

    EMPTY_SUCCESS = Card(id="empty-success", …)

    @of_call(EMPTY_SUCCESS)
    def check_empty_success(call: ObservedCall) -> Iterator[Finding]:
        yield EMPTY_SUCCESS.finding(message=…, …)

The name then holds a `Rule`, which `rules/judge.py` finds in the module. A card may have a function for each of several
scopes. A function does not name the tool or the item that it judges: the judge adds it, and the caller that knows more
of a call (its id in a report, the command that makes it again) adds that. Words of the server enter a finding through
`rules/quote.py` only, which removes secrets.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, ParamSpec

from toolvet.assess.rules.item import ListedItem, ObservedItems, ObservedRequest
from toolvet.core.tool_rules import ObservedCall, ObservedServer, ToolDefinition
from toolvet.findings import Card, Finding

P = ParamSpec("P")


@dataclass(frozen=True, eq=False)
class RuleScope(Generic[P]):
    """What rules judge, with the title of these rules in the docs; as a decorator it makes a rule of a function."""

    title: str

    def __call__(self, card: Card) -> Callable[[Callable[P, Iterable[Finding]]], "Rule[P]"]:
        """The decorator that joins a function to `card`."""
        return lambda judge: Rule(card, self, judge)


@dataclass(frozen=True, eq=False)
class Rule(Generic[P]):
    """A card, what the rule judges, and the function that yields its findings about one such thing."""

    card: Card
    scope: RuleScope[P]
    judge: Callable[P, Iterable[Finding]]


of_tool: Final = RuleScope[[ToolDefinition]]("How a tool is defined")
of_call: Final = RuleScope[[ObservedCall]]("How a call went")
of_calls: Final = RuleScope[[ToolDefinition, Sequence[ObservedCall]]]("A tool over all its calls")
of_item: Final = RuleScope[[ListedItem]]("How a resource, template or prompt is listed")
of_request: Final = RuleScope[[ObservedRequest]]("How a request about these went")
of_items: Final = RuleScope[[ObservedItems]]("All resources, templates and prompts")
of_server: Final = RuleScope[[ObservedServer]]("The whole server")

# In the order of the docs, where a card with functions for several scopes is among those of the first.
SCOPES: Final = (of_tool, of_call, of_calls, of_item, of_request, of_items, of_server)
