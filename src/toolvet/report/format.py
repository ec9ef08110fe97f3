"""What a report format is, and which there are: one module in `renderers/` each, found because it is there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from toolvet import discover
from toolvet.errors import UsageError
from toolvet.findings import Card
from toolvet.report.document import Report


@dataclass(frozen=True, slots=True)
class Format:
    """`name` is what `--report NAME=FILE` says, `suffix` what such files end with.

    `render` takes the reports (one server each) and, by check id, what each check looks for. It is pure and total.
    """

    name: str
    suffix: str
    render: Callable[[Sequence[Report], Mapping[str, Card]], str]


@cache
def formats() -> Mapping[str, Format]:
    """Every format by name, in alphabetical order."""
    found = [module.FORMAT for module in discover.modules("toolvet.report.renderers")]
    return {item.name: item for item in sorted(found, key=lambda item: item.name) if isinstance(item, Format)}


def render(name: str, reports: Sequence[Report], cards: Mapping[str, Card]) -> str:
    """The reports as one document in the format `name`; `UsageError` when there is no such format."""
    known = formats()
    if name not in known:
        raise UsageError(f"no report format is named '{name}': use one of {', '.join(known)}")
    return known[name].render(reports, cards)
