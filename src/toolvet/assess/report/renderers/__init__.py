"""Report formats. Each is one module of this folder, whose `FORMAT` has its name, its suffix and how it is rendered."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from toolvet.assess.report.document import Report
from toolvet.core import discover
from toolvet.errors import UsageError
from toolvet.findings import Card


@dataclass(frozen=True, slots=True)
class Format:
    """A report format.

    `name` is the name in `--report NAME=FILE`, and `suffix` the usual end of such a file's name. `render` takes the
    reports (one per server) and the cards of the checks by their ids; it is pure and total.
    """

    name: str
    suffix: str
    render: Callable[[Sequence[Report], Mapping[str, Card]], str]


@cache
def formats() -> Mapping[str, Format]:
    """Every format by name, in alphabetical order."""
    found = [module.FORMAT for module in discover.modules("toolvet.assess.report.renderers")]
    return {item.name: item for item in sorted(found, key=lambda item: item.name) if isinstance(item, Format)}


def render(name: str, reports: Sequence[Report], cards: Mapping[str, Card]) -> str:
    """The reports as one document.

    Args:
        name: The name of the format, one of `formats()`.
        reports: One report per server.
        cards: The cards of the checks by id, for titles and explanations (`toolvet.assess.rules.cards()`).

    Raises:
        UsageError: No format has this name.

    Example:
        text = render("markdown", [report], cards())
    """
    known = formats()
    if name not in known:
        raise UsageError(f"no report format is named '{name}': use one of {', '.join(known)}")
    return known[name].render(reports, cards)
