# ruff: noqa: E501, S608 - a table; its SQL is never run.
"""The 24 scenarios of the conformance suite of the interceptors working group, in words of our own.

After `conformance/` of modelcontextprotocol/experimental-ext-interceptors at 4d5bad7 (Apache 2.0), by the same ids. The
suite's own JSON files have the same form; `TOOLVET_INTERCEPTOR_FIXTURES` names a folder of them to replay as well.
"""

from typing import Any

STRIPE, GITHUB, AWS = "sk_live_4eC7aRm9Kx2bNw5pQj8sYd", "ghp_Xa2bC3dEf4gH5iJk6Lm7nN8oP", "AKIA5MZXN8QRF3WBY6OE"
SECRETS = {"stripe_secret_live": STRIPE, "github_pat": GITHUB, "aws_access_key": AWS}
CALL = "tools/call"


def one(behavior: str, **more: Any) -> dict[str, Any]:
    kind = "mutation" if behavior in ("uppercase-note", "secretless-redactor") else "validation"
    own = {"name": f"conf/{behavior}", "type": kind, "behavior": behavior, "events": [CALL], "phases": "both"}
    return {**own, **more}


def listed(name: str, kind: str, *events: str) -> dict[str, Any]:
    return {
        "name": name,
        "type": kind,
        "hooks": [{"events": [*events], "phase": each} for each in ("request", "response")],
    }


def note(text: str, **more: Any) -> dict[str, Any]:
    return {"name": "echo", "arguments": {"note": text}, **more}


def invoke(name: str, given: Any, /, **expect: Any) -> dict[str, Any]:
    params = {"name": name, "event": CALL, "phase": "request", "payload": given}
    if "errorCode" not in expect:
        kind = "mutation" if "modified" in expect else "validation"
        expect = {"result": {"interceptor": name, "type": kind, "phase": "request", **expect}}
    return {"op": "invoke", "params": params, "expect": expect}


def chain(
    decision: str, payload: Any, phase: str = "request", session: str | None = None, **expect: Any
) -> dict[str, Any]:
    context = None if session is None else {"sessionId": session}
    return {
        "op": "chain", "event": CALL, "phase": phase, "payload": payload, "context": context,
        "expect": {"decision": decision, **expect},
    }  # fmt: skip


def read(session: str) -> dict[str, Any]:
    return chain("allow", {"name": "read_file", "arguments": {"path": "/workspace/.env"}}, session=session)


def was_read(secret: str, session: str) -> dict[str, Any]:
    return chain("allow", {"content": [{"type": "text", "text": f"KEY={secret}"}]}, "response", session)


def query(secret: str) -> dict[str, Any]:
    return {"name": "write_query", "arguments": {"query": f"INSERT INTO notes (body) VALUES ('{secret}')"}}


def scenario(id_: str, interceptors: list[dict[str, Any]], *steps: dict[str, Any]) -> dict[str, Any]:
    volatile = ["durationMs", "totalDurationMs", "info"]
    return {"id": id_, "interceptors": interceptors, "steps": list(steps), "volatile": volatile}


GUARD, REDACTOR = one("cross-boundary-guard"), one("secretless-redactor", phases="request")
DENIED = {"valid": False, "severity": "error", "messages": [{"message": "denied by policy", "severity": "error"}]}
AUDIT = {"mode": "audit"}
SCENARIOS = [
    scenario("protocol/list-all", [one("allow-all"), one("uppercase-note")], {"op": "list", "event": None, "expect": {
        "result": {"interceptors": [listed("conf/allow-all", "validation", CALL), listed("conf/uppercase-note", "mutation", CALL)]}}}),
    scenario("protocol/list-filtered-by-event", [one("allow-all"), one("allow-all", name="conf/wild", events=["*"])], {
        "op": "list", "event": "prompts/get", "expect": {"result": {"interceptors": [listed("conf/wild", "validation", "*")]}}}),
    scenario("protocol/invoke-validation-pass", [one("allow-all")], invoke("conf/allow-all", note("hi"), valid=True)),
    scenario("protocol/invoke-validation-deny", [one("deny-all")], invoke("conf/deny-all", note("hi"), **DENIED)),
    scenario("protocol/invoke-mutation-modified", [one("uppercase-note")],
             invoke("conf/uppercase-note", note("hello"), modified=True, payload=note("HELLO"))),
    scenario("protocol/invoke-mutation-unmodified", [one("uppercase-note")],
             invoke("conf/uppercase-note", {"name": "echo", "arguments": {"other": 1}}, modified=False,
                    payload={"name": "echo", "arguments": {"other": 1}})),
    scenario("protocol/invoke-unknown-name", [one("allow-all")], invoke("conf/does-not-exist", {}, errorCode=-32602)),
    scenario("protocol/chain-request-order-mutate-then-validate", [one("require-uppercase-note"), one("uppercase-note")],
             chain("allow", note("hello"), finalPayload=note("HELLO"))),
    scenario("protocol/chain-response-order-validate-then-mutate", [one("require-uppercase-note"), one("uppercase-note")],
             chain("deny", note("hello"), "response")),
    scenario("protocol/chain-validation-blocks", [one("deny-all")], chain("deny", note("hi"))),
    scenario("protocol/chain-audit-never-blocks", [one("deny-all", **AUDIT)],
             chain("allow", note("hi"), finalPayload=note("hi"))),
    scenario("protocol/chain-audit-mutation-shadowed", [one("uppercase-note", **AUDIT)],
             chain("allow", note("hello"), finalPayload=note("hello"))),
    scenario("protocol/chain-fail-closed", [one("crash")], chain("deny", note("hi"))),
    scenario("protocol/chain-fail-open", [one("crash", failOpen=True)],
             chain("allow", note("hi"), finalPayload=note("hi"))),
    *(scenario(f"behavior/relaybleed-{name}", [GUARD], read(name), was_read(secret, name),
               chain("deny", query(secret), session=name)) for name, secret in SECRETS.items()),
    scenario("behavior/same-origin-writeback-allowed", [GUARD], read("a"), was_read(STRIPE, "a"),
             chain("allow", {"name": "write_file", "arguments": {"path": "/b", "content": STRIPE}}, session="a")),
    scenario("behavior/no-prior-read-allowed", [GUARD], chain("allow", query(GITHUB), session="a")),
    scenario("behavior/session-isolation", [GUARD], read("a"), was_read(AWS, "a"), chain("allow", query(AWS), session="b")),
    *(scenario(f"behavior/redaction-{name}", [REDACTOR], chain("allow", query(secret), session=name, forbids=[secret]))
      for name, secret in SECRETS.items()),
    scenario("behavior/redaction-defuses-relaybleed", [GUARD, REDACTOR], read("a"), was_read(STRIPE, "a"),
             chain("allow", query(STRIPE), session="a", forbids=[STRIPE])),
]  # fmt: skip
