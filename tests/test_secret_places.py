"""The secrets of `test_secrets.py` in what is kept and shown later: the store, its export, the dashboard, metrics …"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.batch.summary.test_summary import SCHEMA, whole
from tests.proxy.test_metrics_page import ended, started
from tests.server.dashboard.serving import Running, serving
from tests.test_secrets import KINDS, found, toolvet

from toolvet import check_answer, check_result
from toolvet.agents.hook.done import MissingWork
from toolvet.core.redact import SecretMask
from toolvet.proxy.record.call_lines import CallLines
from toolvet.proxy.record.calls import FinishedCall, OpenCalls
from toolvet.proxy.record.metrics import Metrics
from toolvet.server.reviewing import hand_in
from toolvet.store import Store

ALL = " and ".join(KINDS.values())
NAMED = ("tool", "conversation", "server", "model", "variant", "trace")
PAGES = (
    "/",
    "/verdicts",
    "/queue",
    "/tools",
    "/servers",
    "/compare",
    "/v1/verdicts",
    "/v1/queue",
    "/v1/groups?by=tool",
)


def fill(store: Store) -> list[str]:
    """Add an answer and a result for each kind of secret, which is in all that a caller can give."""
    kept: list[str] = []
    for secret in KINDS.values():
        said = f"I cannot help you: {secret}, sorry."
        calls = [{"name": f"log in {secret}", "arguments": {"note": secret}, "result": f"Error: {secret}"}]
        names: dict[str, Any] = {name: f"{name} {secret}" for name in NAMED}
        kept.append(store.add(check_answer(said, calls=calls), text=said, calls=calls, question=secret, **names))
        result = {"content": [{"type": "text", "text": f"Error: login failed: {secret}"}], "isError": True}
        kept.append(store.add(check_result({"name": "log_in"}, {"note": secret}, result), text=secret, **names))
    return kept


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, list[str], Path]]:
    path = tmp_path_factory.mktemp("places") / "verdicts.db"
    with Store(path) as store:
        kept = fill(store)
    with serving(str(path)) as server:
        queue = server.site.queue
        queue.fill()
        item = queue.next("ada")
        assert item is not None
        hand_in(queue, item, "ada", value="wrong", note=f"the log says {ALL}")
        yield server, kept, path


def test_no_page_and_no_reply_of_the_api_shows_one(running: tuple[Running, list[str], Path]) -> None:
    server, kept, _ = running
    with server.client() as client:
        for path in (*PAGES, *(f"{before}/{each}" for before in ("/verdict", "/v1/verdicts") for each in kept)):
            reply = client.get(path)
            assert reply.status_code == 200, path
            assert not found(reply.text), path


def test_no_file_of_the_store_and_no_export_has_one(running: tuple[Running, list[str], Path]) -> None:
    _, _, path = running
    done = toolvet("store", "export", "all.jsonl", "--store", str(path), cwd=path.parent)
    assert done.returncode == 0, done.stderr
    for file in (each for each in path.parent.rglob("*") if each.is_file()):
        written = file.read_bytes().decode(errors="replace")
        assert not found(written), file.name
    assert "[redacted]" in (path.parent / "all.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_no_label_of_a_metric_and_no_line_of_the_record_has_one(kind: str) -> None:
    call = ended(1, tool=f"get {KINDS[kind]}", outcome="tool_error", why=f"it says {KINDS[kind]}")
    metrics, calls = Metrics(), OpenCalls()
    for note in (started(1), call):
        metrics.take(note)
        calls.take(note)
    finished = FinishedCall(call.origin, call.note, None, 1, 2, None)  # type: ignore[arg-type]
    line = CallLines("", SecretMask()).line_of(finished).decode()
    assert "get " in metrics.render()
    assert not found(metrics.render() + line)


def test_a_tool_by_the_name_of_an_arguments_secret_is_not_named() -> None:
    call = ended(
        1, tool="hunter2-in-clear", outcome="refused", mask=SecretMask.learned({"password": "hunter2-in-clear"})
    )
    metrics = Metrics()
    metrics.take(call)
    finished = FinishedCall(call.origin, call.note, None, 1, 2, None)  # type: ignore[arg-type]
    assert "hunter2" not in metrics.render() + CallLines("", SecretMask()).line_of(finished).decode()


@pytest.mark.parametrize("kind", KINDS)
def test_no_report_of_a_batch_and_no_answer_of_a_hook_has_one(kind: str) -> None:
    signal = {"type": "refusal", "evidence": f"{'x ' * 90}{KINDS[kind]}", "context": KINDS[kind], "weight": 1.0}
    row = {"row": 1, "score": 0.1, "should_escalate": True, "signals": [signal]}
    summary = whole(pa.Table.from_pylist([row], SCHEMA))
    told = MissingWork("failed", f"{'x ' * 90}{KINDS[kind]}", f"the last run failed: {KINDS[kind]}").text()
    assert not found(json.dumps(str(summary.signals)) + told)


def test_half_of_a_password_with_an_escaped_sign_is_not_shown() -> None:
    said = "The id is 4711. Connect to mysql://root:p%40YC3ha8Ldvzq4pttUf5@10.0.0.3/x with it."
    quality = check_answer(said, calls=[{"name": "t", "arguments": {}, "result": "ok"}])
    shown = json.dumps(SecretMask.learned(said).own(quality.to_dict()))
    assert "[redacted]" in shown
    assert "YC3ha8" not in shown
