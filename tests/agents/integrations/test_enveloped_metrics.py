"""The metrics of enveloped tools, read back by OpenTelemetry's own SDK; and that the tools work without it."""

import functools
import subprocess
import sys
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from toolvet import fit_response, rate_limit_error
from toolvet.agents.integrations.enveloped import decorator, enveloped
from toolvet.core.envelope import ResponseError


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> InMemoryMetricReader:
    """A provider of this test alone: that of the process can be set only once."""
    found = InMemoryMetricReader()
    provider = MeterProvider(metric_readers=[found], shutdown_on_exit=False)
    monkeypatch.setattr(decorator, "get_meter", provider.get_meter)
    return found


def points(reader: InMemoryMetricReader) -> dict[str, list[Any]]:
    data = reader.get_metrics_data()
    assert data is not None
    return {
        metric.name: list(metric.data.data_points)
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }


@enveloped(fit=functools.partial(fit_response, budget=900))
def list_ships(count: int) -> list[dict[str, int]]:
    if count < 0:
        raise ResponseError(rate_limit_error(10, "minute", 5))
    return [{"id": number} for number in range(count)]


def test_each_call_is_timed_and_counted_with_its_outcome(reader: InMemoryMetricReader) -> None:
    list_ships(1)
    list_ships(1000)
    list_ships(-1)
    found = points(reader)
    timed = {point.attributes.get("error.type"): point for point in found["gen_ai.execute_tool.duration"]}
    assert timed[None].count == 2
    assert timed["RATE_LIMIT_EXCEEDED"].count == 1
    assert timed[None].sum > 0
    assert timed[None].attributes["gen_ai.tool.name"] == "list_ships"
    assert timed[None].attributes["gen_ai.operation.name"] == "execute_tool"
    counted = {point.attributes.get("error.type"): point.value for point in found["toolvet.envelope.responses"]}
    assert counted == {None: 2, "RATE_LIMIT_EXCEEDED": 1}
    (dropped,) = found["toolvet.envelope.dropped_items"]
    assert 900 < dropped.value < 1000


def test_nothing_is_recorded_before_a_provider_is_there() -> None:
    assert not list_ships(1).is_error


WITHOUT = """
import sys
sys.modules["opentelemetry.metrics"] = None
from toolvet.agents.integrations.enveloped import decorator
from toolvet.core.envelope import ResponseError, success_response
assert decorator.get_meter is None
decorator.record_call("tool", 0.1, success_response())
"""


def test_without_opentelemetry_nothing_happens() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
