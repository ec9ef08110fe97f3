"""LiteLLM's proxy with its generic guardrail against a running server, and a scripted model (`make dialects`)."""

import os
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.agents.hook.live.scripted_model import ScriptedModel, ScriptStep
from tests.live.servers import python_programs
from tests.server.dashboard.serving import Running, serving

pytestmark = [pytest.mark.live, pytest.mark.timeout(1_200)]
LITELLM = "litellm[proxy]==1.106.2"
_START_LOOKS = 360
MASTER_KEY = f"sk-{secrets.token_hex(32)}"
CONFIG = """
model_list:
  - model_name: scripted
    litellm_params: {{model: openai/scripted, api_base: {model}/v1, api_key: none}}
router_settings: {{disable_cooldowns: true}}
guardrails:
  - guardrail_name: toolvet
    litellm_params:
      guardrail: generic_guardrail_api
      mode: [pre_call, post_call]
      api_base: {toolvet}/v1/guardrails/litellm
      api_key: {key}
      default_on: true
      unreachable_fallback: {fallback}
      streaming_end_of_stream_only: true
      additional_provider_specific_params: {{whole_conversations: true}}
"""
CLOCK = {
    "name": "now",
    "parameters": {
        "type": "object",
        "properties": {"zone": {"type": "string"}, "style": {"enum": ["short", "long"]}},
        "required": ["zone"],
    },
}
TOOLS = [
    {"type": "function", "function": CLOCK},
    {"type": "function", "function": {"name": "send_email", "parameters": {"type": "object"}}},
]
ASKS = {"role": "user", "content": "Tell Ann the time in Rome by email."}
BAD = ScriptStep("now", {"zone": "Europe/Rome", "style": "tiny"})
GOOD = ScriptStep("now", {"zone": "Europe/Rome", "style": "short"})


def made(name: str, result: str) -> list[dict[str, Any]]:
    call = {"id": "c", "type": "function", "function": {"name": name, "arguments": '{"zone": "Europe/Rome"}'}}
    answer = {"role": "tool", "tool_call_id": "c", "content": result}
    return [{"role": "assistant", "content": None, "tool_calls": [call]}, answer]


class Gateway:
    """LiteLLM's proxy as a process, and the model behind it, whose script a test sets."""

    def __init__(self, url: str, model: ScriptedModel) -> None:
        self.url, self.model = url, model

    def ask(self, *messages: dict[str, Any], says: ScriptStep, stream: bool = False) -> httpx2.Response:
        """Send a conversation; the model answers with this step."""
        body = {"messages": [ASKS, *messages], "tools": TOOLS, "stream": stream}
        return self.post("/v1/chat/completions", body, says)

    def post(self, path: str, body: dict[str, Any], says: ScriptStep) -> httpx2.Response:
        """Send a body to one of the gateway's APIs; the model answers with this step."""
        self.model.asked.clear()
        self.model.steps[:] = [says]
        headers = {"authorization": f"Bearer {MASTER_KEY}"}
        return httpx2.post(f"{self.url}{path}", json={"model": "scripted", **body}, headers=headers, timeout=120)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def gateway(folder: Path, toolvet: str, key: str, fallback: str = "fail_closed") -> Iterator[Gateway]:
    program = python_programs("litellm", LITELLM) / "litellm"
    port = free_port()
    with ScriptedModel([]) as model, (folder / "litellm.log").open("wb") as log:
        config = folder / "config.yaml"
        config.write_text(CONFIG.format(model=model.url, toolvet=toolvet, key=key, fallback=fallback))
        env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        env["LITELLM_MASTER_KEY"] = MASTER_KEY
        words = [str(program), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(words, cwd=folder, env=env, stdout=log, stderr=subprocess.STDOUT)
        try:
            url = f"http://127.0.0.1:{port}"
            for _ in range(_START_LOOKS):
                if is_alive(url):
                    break
                assert process.poll() is None, (folder / "litellm.log").read_text()[-2000:]
                time.sleep(0.5)
            yield Gateway(url, model)
        finally:
            process.terminate()
            process.wait(30)


def is_alive(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/health/liveliness").status_code == 200
    except httpx2.HTTPError:
        return False


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(f"{tmp_path_factory.mktemp('toolvet')}/a.db", people=[("vera", "viewer")]) as made_:
        yield made_


@pytest.fixture(scope="module")
def proxy(running: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with gateway(tmp_path_factory.mktemp("litellm"), running.url, running.tokens["vera"]) as found:
        yield found


@pytest.mark.parametrize("stream", [False, True])
def test_a_bad_call_is_refused_with_what_is_wrong(proxy: Gateway, *, stream: bool) -> None:
    reply = proxy.ask(says=BAD, stream=stream)
    assert "Use one of these values" in reply.text, reply.text
    assert stream or reply.status_code == 400


@pytest.mark.parametrize("stream", [False, True])
def test_a_good_call_passes_as_it_is(proxy: Gateway, *, stream: bool) -> None:
    reply = proxy.ask(says=GOOD, stream=stream)
    assert reply.status_code == 200, reply.text
    assert "Europe/Rome" in reply.text


def test_the_model_reads_that_a_result_is_a_failure_and_its_calls_stay(proxy: Gateway) -> None:
    messages = made("now", "Error: connection refused by clock.example:443")
    reply = proxy.ask(*messages, says=ScriptStep(text="The clock is down, so I could not tell Ann."))
    assert reply.status_code == 200, reply.text
    sent = proxy.model.asked[0]["messages"]
    assert "reports a failure" in sent[2]["content"]
    assert sent[2]["content"].startswith("Error: connection refused by clock.example:443")
    assert sent[2]["tool_call_id"] == "c"
    assert sent[1]["tool_calls"][0]["function"] == messages[0]["tool_calls"][0]["function"]


def test_a_result_that_is_fine_reaches_the_model_as_it_is(proxy: Gateway) -> None:
    messages = made("now", "It is 12:00.")
    assert proxy.ask(*messages, says=ScriptStep(text="It is 12:00 in Rome.")).status_code == 200
    assert proxy.model.asked[0]["messages"][2]["content"] == "It is 12:00."


@pytest.mark.parametrize(
    ("messages", "says", "status"),
    [
        ([], "I have sent the email to Ann.", 400),
        (made("send_email", "Error: SMTP connection refused"), "I have sent the email to Ann.", 400),
        (made("send_email", "Message accepted, id 7."), "I have sent the email to Ann.", 200),
        (made("send_email", "Error: SMTP connection refused"), "The mail server refused: nothing was sent.", 200),
    ],
)
def test_an_answer_that_the_calls_contradict_is_refused(
    proxy: Gateway, messages: list[dict[str, Any]], says: str, status: int
) -> None:
    reply = proxy.ask(*messages, says=ScriptStep(text=says))
    assert reply.status_code == status, reply.text
    assert status == 200 or "the calls say" in reply.text


@pytest.mark.parametrize("api", ["messages", "responses"])
def test_the_other_apis_of_the_gateway_are_guarded_as_well(proxy: Gateway, api: str) -> None:
    failed = "Error: connection refused by clock.example:443"
    schema = CLOCK["parameters"]
    if api == "messages":
        use = {"type": "tool_use", "id": "c", "name": "now", "input": {"zone": "Europe/Rome"}}
        back = {"type": "tool_result", "tool_use_id": "c", "content": failed}
        said = [ASKS, {"role": "assistant", "content": [use]}, {"role": "user", "content": [back]}]
        body = {"max_tokens": 100, "tools": [{"name": "now", "input_schema": schema}], "messages": said}
    else:
        made_call = {"type": "function_call", "call_id": "c", "name": "now", "arguments": '{"zone": "Europe/Rome"}'}
        back = {"type": "function_call_output", "call_id": "c", "output": failed}
        body = {"tools": [{"type": "function", "name": "now", "parameters": schema}], "input": [ASKS, made_call, back]}
    steps = [(BAD, 400), (GOOD, 200), (ScriptStep(text="I have sent the email to Ann."), 400)]
    for step, status in steps:
        reply = proxy.post(f"/v1/{api}", body, step)
        assert reply.status_code == status, reply.text
        assert "reports a failure" in proxy.model.heard(0)


@pytest.mark.parametrize(("fallback", "status"), [("fail_open", 200), ("fail_closed", 500)])
def test_what_litellm_does_where_toolvet_does_not_answer(tmp_path: Path, fallback: str, status: int) -> None:
    with gateway(tmp_path, "http://127.0.0.1:9", "none", fallback) as alone:
        assert alone.ask(says=BAD).status_code == status
