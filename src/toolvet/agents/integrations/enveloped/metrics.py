"""The metrics of enveloped tools, where the API of OpenTelemetry is installed (`toolvet[otel]`).

Durations, responses and dropped items, named by the GenAI semantic conventions where these have a name.
"""

from functools import cache
from typing import TYPE_CHECKING, Protocol

from toolvet.core.envelope import Envelope
from toolvet.core.json_value import elements, members

try:
    from opentelemetry.metrics import get_meter
except ImportError:
    get_meter = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.metrics import Meter


class _Records(Protocol):
    def record(self, amount: float, attributes: dict[str, str]) -> None: ...


class _Adds(Protocol):
    def add(self, amount: int, attributes: dict[str, str]) -> None: ...


def record_call(tool: str, seconds: float, envelope: Envelope) -> None:
    """Record one call: its duration, its outcome, and how many items its response left out.

    Does nothing where the API is not installed.
    """
    if get_meter is None:
        return
    duration, responses, dropped = _instruments(get_meter)
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
    if not envelope.success:
        attributes["error.type"] = str(envelope.data.get("error_code", "_OTHER"))
    duration.record(seconds, attributes)
    responses.add(1, attributes)
    if missing := _count_dropped(envelope):
        dropped.add(missing, attributes)


@cache
def _instruments(get: "Callable[[str], Meter]") -> tuple[_Records, _Adds, _Adds]:
    # Before a provider is set, these are proxies, which find it later.
    meter = get("toolvet")
    return (
        meter.create_histogram("gen_ai.execute_tool.duration", unit="s", description="How long a tool took."),
        meter.create_counter("toolvet.core.envelope.responses", unit="{response}", description="Responses of tools."),
        meter.create_counter(
            "toolvet.core.envelope.dropped_items", unit="{item}", description="Items left out to fit."
        ),
    )


def _count_dropped(envelope: Envelope) -> int:
    for warning in elements(envelope.meta.get("warning_details")):
        missing = members(members(warning).get("context")).get("dropped_count")
        if isinstance(missing, int):
            return missing
    return 0
