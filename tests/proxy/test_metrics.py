"""What Prometheus reads."""

import re
import threading
import urllib.error
import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.proxy.notes import ORIGIN, Conversation, text

from toolvet.errors import UsageError
from toolvet.proxy.record.metrics import CONTENT_TYPE, Metrics
from toolvet.proxy.record.metrics_server import MetricsServer
from toolvet.proxy.record.recorder import Recorder, RecordSource
from toolvet.proxy.session import CallEnded, ProxySettings


def told(conversation: Conversation, name: str = "") -> dict[str, float]:
    recorder = Recorder([Metrics(name)])
    for note in conversation.notes:
        recorder.take(ORIGIN, note)
    recorder.close()
    return samples(recorder.render_metrics())


def samples(page: str) -> dict[str, float]:
    """The samples by how Prometheus writes them, with `server` and `tool` as the first labels."""
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(page):
        for each in family.samples:
            order = sorted(
                each.labels, key=lambda key: (("server", "tool").index(key) if key in ("server", "tool") else 9, key)
            )
            labels = ",".join(f'{key}="{each.labels[key]}"' for key in order)
            found[f"{each.name}{{{labels}}}" if labels else each.name] = each.value
    return found


def test_calls_are_counted_by_what_became_of_them() -> None:
    conversation = Conversation()
    conversation.call({"title": "Emma"}).call({"title": 1}, id=2)
    conversation.call({"title": "x"}, text("Book not found", isError=True), id=3)
    conversation.call({"title": "x"}, error={"code": -32602, "message": "Unknown tool"}, id=4)
    found = told(conversation, "books")
    labels = 'server="books",tool="find_book"'
    for outcome in ("success", "refused", "tool_error", "protocol_error"):
        assert found[f'toolvet_calls_total{{{labels},outcome="{outcome}"}}'] == 1
    assert found[f'toolvet_blocked_total{{{labels},reason="arguments"}}'] == 1
    assert found[f"toolvet_call_duration_seconds_count{{{labels}}}"] == 3
    assert found["toolvet_calls_open"] == 0
    assert found["toolvet_record_lost_total"] == 0


def test_silent_errors_repairs_and_audits_are_counted() -> None:
    conversation = Conversation(ProxySettings(arguments="audit"))
    conversation.call({"title": 1}).call({"title": "x"}, text("Database error: no such table: books"), id=2)
    found = told(conversation)
    labels = 'server="mcp-server-books",tool="find_book"'
    assert found[f'toolvet_would_block_total{{{labels},reason="arguments"}}'] == 1
    assert found[f"toolvet_errors_without_flag_total{{{labels}}}"] == 1
    repaired = told(Conversation(ProxySettings(repair="apply")).call({"title": "x", "limit": "5"}))
    assert repaired[f"toolvet_repaired_total{{{labels}}}"] == 1


def test_a_schema_that_does_not_compile_is_a_fault() -> None:
    found = told(Conversation().call({}, tool="odd"))
    assert found['toolvet_faults_total{server="mcp-server-books",kind="schema_unusable"}'] == 1


def test_every_sample_belongs_to_a_metric_that_is_described() -> None:
    recorder = Recorder([Metrics()])
    for note in Conversation().call({"title": "Emma"}).notes:
        recorder.take(ORIGIN, note)
    recorder.close()
    page = recorder.render_metrics()
    described = set(re.findall(r"^# TYPE ([a-z_]+) ", page, re.MULTILINE))
    for name in samples(page):
        family = name.partition("{")[0]
        assert family in described or re.sub(r"_(bucket|sum|count)$", "", family) in described, name


def test_buckets_rise_to_the_count() -> None:
    found = told(Conversation().call({"title": "Emma"}))
    buckets = [value for key, value in found.items() if key.startswith("toolvet_call_duration_seconds_bucket")]
    assert buckets == sorted(buckets)
    bounds = "0.001 0.0025 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1.0 2.5 5.0 10.0 30.0 60.0 +Inf"
    assert [bound for key in found for bound in re.findall('le="(.+)"', key)] == bounds.split()
    assert buckets[-1] == 1


def ended(tool: str) -> CallEnded:
    return CallEnded(call=1, id=1, tool=tool, era="legacy", outcome="success")


def test_names_that_clients_make_up_are_escaped_and_do_not_grow_without_end() -> None:
    recorder = Recorder([Metrics()])
    recorder.take(RecordSource('a "server"\\'), ended('x"\n\\'))
    for number in range(2000):
        recorder.take(ORIGIN, ended(f"tool {number}"))
    recorder.close(timeout=60)  # A loaded machine may need more than the two seconds of a proxy that ends.
    found = samples(recorder.render_metrics())
    counted = {key: value for key, value in found.items() if key.startswith("toolvet_calls_total")}
    assert len(counted) <= 502
    assert sum(counted.values()) == 2001
    assert 'toolvet_calls_total{server="a "server"\\",tool="x"\n\\",outcome="success"}' in counted


def test_metrics_and_health_are_served_and_nothing_else() -> None:
    with MetricsServer("127.0.0.1", 0, lambda: "x 1\n") as server:
        base = "http://{}:{}".format(*server.address)
        with urllib.request.urlopen(f"{base}/metrics", timeout=30) as page:  # noqa: S310 - our own address
            assert (page.status, page.read(), page.headers["Content-Type"]) == (200, b"x 1\n", CONTENT_TYPE)
        with urllib.request.urlopen(f"{base}/healthz", timeout=30) as page:  # noqa: S310 - our own address
            assert (page.status, page.read()) == (200, b"ok\n")
        with pytest.raises(urllib.error.HTTPError, match="404") as refused:
            urllib.request.urlopen(f"{base}/", timeout=30)  # noqa: S310 - our own address
        refused.value.close()


def test_a_taken_port_is_said_to_be_taken() -> None:
    with MetricsServer("127.0.0.1", 0, lambda: "") as server, pytest.raises(UsageError, match="already in use"):
        MetricsServer("127.0.0.1", server.address[1], lambda: "")


def test_a_call_is_counted_at_once_without_a_thread() -> None:
    before = threading.active_count()
    recorder = Recorder([Metrics("books")])
    for note in Conversation().call({"title": "Emma"}, text("Emma is here")).notes:
        recorder.take(ORIGIN, note)
    assert threading.active_count() == before
    found = samples(recorder.render_metrics())
    assert found['toolvet_calls_total{server="books",tool="find_book",outcome="success"}'] == 1
    recorder.close()
