"""Results that are too long: random texts and values, shortened to random lengths, and then retrieved."""

import json

from fuzz.draw import Draw
from fuzz.holds import holds

from toolvet.core.json_value import is_endless
from toolvet.core.shorten import shorten_text, shorten_value
from toolvet.proxy.session import Policies, ProxySettings, Session, ToClient

FITS = (600, 650, 900, 2_000)
LINES = ("a,b,c\n", "2026-01-02 ERROR no\n", "x" * 90 + "\n", "\n", "| a | b |\n", '{"a": 1}\n')


def check(draw: Draw) -> None:
    """A text, a value, and a conversation in which results are kept and asked for."""
    most = draw.byte() * draw.one((1, 4, 40))
    text = draw.text() * draw.one((1, 3, 50)) + draw.one(LINES) * (draw.byte() % 90)
    short = shorten_text(text, most)
    holds(len(short.text) <= max(most, 0) or len(text) <= most, "a shortened text is too long")
    if short.form == "json" and len(text) > most:
        json.loads(short.text)
    value = draw.json()
    cut = shorten_value(value, most, marks=draw.flag())
    holds(type(cut) in (type(value), str) or most < 2, "a shortened value is of another type")
    # The text that says "1 item left out" may be longer than the item.
    holds(len(_json(cut)) <= 2 * max(len(_json(value)), most) + 200, "a shortened value grew")
    _retrieve(draw, text)


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _retrieve(draw: Draw, text: str) -> None:
    session = Session(Policies(ProxySettings(fit=f"{draw.one(FITS)} characters", break_repeats=0)))
    result = draw.result()
    if isinstance(result, dict) and draw.flag() and not is_endless(result):
        result["content"] = [{"type": "text", "text": text * 40}]
    said = _say(session, 1, "free", {}, result)
    known = said.partition('{\\"id\\": \\"')[2].partition("\\")[0]
    asked = {
        name: value
        for name, value in {
            "id": draw.one(("1", "x", "", 7)) if draw.flag() else known,
            "search": draw.one((text[:9], "ERROR", "", 3)),
            "path": draw.one(("/a/0", "", "/", "a", None)),
            "offset": draw.one((0, 5, 10**9, -1, "1")),
            "limit": draw.one((1, 100, 10**9, 0)),
        }.items()
        if draw.flag()
    }
    _say(session, 2, "retrieve_result", asked, {})


def _say(session: Session, number: int, tool: str, arguments: object, result: object) -> str:
    """A call and its answer; returns what the client gets."""
    params = {"name": tool, "arguments": arguments}
    session.from_client(_json({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}))
    try:
        answer = json.dumps({"jsonrpc": "2.0", "id": number, "result": result}, default=str).encode()
    except (ValueError, TypeError, RecursionError):
        return ""
    for question in ("toolvet:1", "toolvet:2"):
        session.give_up(question)
    steps = session.from_server(answer)
    return b"".join(step.data for step in steps if isinstance(step, ToClient)).decode("utf-8", "replace")
