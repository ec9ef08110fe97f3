"""Alerts over a real store and a real webhook; the test is the clock."""

import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.receiver import Arrived, Receiver, Reply, receiving
from tests.store.conftest import url as url  # noqa: PLC0414 - a fixture

from toolvet.core.settings import load_settings
from toolvet.errors import ConfigError, UsageError
from toolvet.server.settings import ServeSettings
from toolvet.store import Store, VerdictRecord
from toolvet.store.alerts import AlertRule
from toolvet.store.records import new_id

pytest.importorskip("starlette", reason='needs the dashboard: pip install "toolvet[serve]"')

import toolvet.server.dashboard.alerting as watching
from toolvet.server.dashboard.alerting import AlertWatch, WebhookCall, WebhookFailed, alert_states, post

AT = 1_795_356_960.0  # A whole minute.
KEY = "a key to sign with"
SIGNED = {"secret_env": "KEY"}


def add(store: Store, minute: int, verdicts: int, escalated: int, **more: Any) -> None:
    """Verdicts in one minute after `AT`."""
    at = AT + minute * 60
    store.add_records(
        [
            VerdictRecord(
                id=new_id(at), at=at + 1, kind="answer", score=0.5, escalate=number < escalated, outcome="use", **more
            )
            for number in range(verdicts)
        ]
    )
    assert store.flush()


def escalations(**more: Any) -> AlertRule:
    return AlertRule(**{"name": "escalations", "measure": "escalation_rate", "above": 0.2, "window": 1, **more})


def quick(call: WebhookCall, document: Any) -> None:
    """Post without pauses."""
    post(call, document, now=lambda: AT, pause=lambda _: None)


class Heard:
    """The messages of the watch."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def watch(self, store: Store, *rules: AlertRule, **environment: str) -> AlertWatch:
        return AlertWatch(store, rules, environment, say=self.words.append, deliver=quick)


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiving() as server:
        yield server


def test_an_alert_is_posted_once_and_its_end_once_and_survives_a_restart(
    url: str, heard: Heard, hook: Receiver
) -> None:
    rule = escalations(webhook=f"{hook.url}/hooks/secret-path", **SIGNED)
    with Store(url) as store:
        add(store, 0, 40, 10)
        add(store, 1, 40, 6)
        (state,) = heard.watch(store, rule, KEY=KEY).check(AT + 60)
        assert (state.firing, state.value, state.delivered) == (True, 0.25, True)
        assert heard.words == ["alert: escalations: escalation rate is 0.25, above 0.2, over 1 minute"]
    with Store(url) as store:
        # Another process: it is below the threshold, and not yet at the end.
        watch = heard.watch(store, rule.__class__(**{**_fields(rule), "clear": 0.1}), KEY=KEY)
        (state,) = watch.check(AT + 120)
        assert (state.firing, state.value) == (True, 0.15)
        add(store, 2, 40, 2)
        (state,) = watch.check(AT + 180)
        assert (state.firing, state.since) == (False, AT + 180)
        assert watch.check(AT + 181)[0].delivered
        assert [(each.kind, each.at) for each in store.events()] == [("alert_ended", AT + 180), ("alert", AT + 60)]
        assert [state.firing for _, state in alert_states(store, [rule])] == [False]
    began, ended = hook.arrived
    assert [each.json["state"] for each in hook.arrived] == ["firing", "resolved"]
    assert (began.json["alert"], began.json["value"], began.json["verdicts"]) == ("escalations", 0.25, 40)
    assert began.json["schema"] == "toolvet-alert/1"
    assert began.json["id"] != ended.json["id"]
    stamp = began.headers["x-toolvet-timestamp"]
    digest = hmac.new(KEY.encode(), stamp.encode() + b"." + began.body, hashlib.sha256).hexdigest()
    assert began.headers["x-toolvet-signature"] == f"sha256={digest}"
    assert "secret-path" not in json.dumps(began.json) + " ".join(heard.words)
    assert KEY not in began.body.decode()


def _fields(rule: AlertRule) -> dict[str, Any]:
    return {name: getattr(rule, name) for name in rule.__struct_fields__}


def replies(*statuses: int, location: str = "") -> Callable[[Arrived], Reply]:
    left = list(statuses)
    headers = (("location", location),) if location else ()
    return lambda _: Reply(left.pop(0) if len(left) > 1 else left[0], {}, headers)


def test_a_webhook_that_fails_for_a_while_gets_the_same_change_again(tmp_path: Path, heard: Heard) -> None:
    with receiving(replies(503, 429, 200)) as server, Store(tmp_path / "v.db") as store:
        add(store, 0, 40, 40)
        (state,) = heard.watch(store, escalations(webhook=server.url)).check(AT + 60)
        assert state.delivered
        assert [each.json["id"] for each in server.arrived] == [server.arrived[0].json["id"]] * 3
        assert "x-toolvet-signature" not in server.arrived[0].headers


def test_what_was_not_delivered_is_tried_again_at_the_next_look_and_said_once(tmp_path: Path, heard: Heard) -> None:
    with receiving(replies(500)) as server, Store(tmp_path / "v.db") as store:
        add(store, 0, 40, 40)
        rule = escalations(webhook=f"{server.url}/t0ken")
        watch = heard.watch(store, rule)
        assert not watch.check(AT + 60)[0].delivered
        assert len(server.arrived) == 4
        assert not watch.check(AT + 75)[0].delivered
        said = [words for words in heard.words if "not delivered" in words]
        assert len(said) == 1
        assert "t0ken" not in said[0]
        assert "500" in said[0]
        server.answer = lambda _: Reply(204, b"")
        assert not watch.check(AT + 90)[0].delivered, "the second pause is thirty seconds"
        assert watch.check(AT + 105)[0].delivered
        assert len({each.json["id"] for each in server.arrived}) == 1


def test_a_webhook_that_stays_away_is_tried_less_and_less_and_given_up_after_a_day(
    tmp_path: Path, heard: Heard
) -> None:
    tried: list[float] = []
    now = AT + 60

    def down(*_: Any) -> None:
        tried.append(now)
        raise WebhookFailed("https://hooks.example answered 500")

    with Store(tmp_path / "v.db") as store:
        add(store, 0, 40, 40)
        rule = escalations(webhook="https://hooks.example/t0ken", clear=0.0)
        watch = AlertWatch(store, [rule], {}, say=heard.words.append, deliver=down)
        while now < AT + 2 * 24 * 3600:
            assert not watch.check(now)[0].delivered
            now += 15 if now < AT + 1200 else 900
    pauses = [later - before for before, later in pairwise(tried)]
    assert pauses[:6] == [15, 30, 60, 120, 240, 480]
    assert min(pauses[6:]) >= 900
    assert tried[-1] <= AT + 60 + 24 * 3600
    assert [words for words in heard.words if "alert:" not in words] == [
        "the alert escalations was not delivered, and is tried again: https://hooks.example answered 500",
        "the alert escalations could not be delivered for a day: given up",
    ]


def test_a_webhook_that_hangs_holds_up_no_other_alert(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_EVERY_SECONDS", 0.01)
    leave, said = threading.Event(), threading.Event()
    posted: list[str] = []

    def hang(call: WebhookCall, _: Any) -> None:
        posted.append(call.url)
        assert leave.wait(30)

    def say(words: str) -> None:
        if "late" in words:
            said.set()

    with Store(tmp_path / "v.db") as store:
        # Silence is an alert at any time, so the clock of this test is that of the watch.
        silence = {"measure": "verdicts", "above": None, "below": 1}
        rules = [escalations(name="hangs", webhook="http://a.example", **silence), escalations(name="late", **silence)]
        watch = AlertWatch(store, rules, {}, say=say, deliver=hang)
        watch.start()
        try:
            assert said.wait(30)
            assert posted == ["http://a.example"], "one post at a time for each alert"
        finally:
            leave.set()
            watch.close()


def test_what_a_chat_shows_has_no_markup_and_nothing_that_steers_a_terminal(tmp_path: Path, heard: Heard) -> None:
    with receiving() as server, Store(tmp_path / "v.db") as store:
        odd = "<b>&\x1b[31m\u202e\n<!channel>"
        add(store, 0, 40, 40, server=odd)
        assert heard.watch(store, escalations(name="<i>x</i>", server=odd, webhook=server.url)).check(AT + 60)
        (event,) = store.events()
        for text in (server.arrived[0].json["text"], heard.words[0], event.message):
            assert "escalation rate is 1" in text
            assert not set("<>\x1b\u202e\n") & set(text)
        # What tells programs which alert it is stays as it is.
        assert server.arrived[0].json["alert"] == "<i>x</i>"
        assert server.arrived[0].json["filter"] == {"server": odd}


def test_a_redirect_is_not_followed_and_a_refusal_is_not_repeated(hook: Receiver) -> None:
    with receiving(replies(302, location=f"{hook.url}/stolen")) as server:
        with pytest.raises(WebhookFailed, match="answered 302"):
            quick(WebhookCall(server.url, b"key"), {"id": "1"})
        assert len(server.arrived) == 1
    assert not hook.arrived
    with receiving(replies(404)) as server:
        with pytest.raises(WebhookFailed, match="404"):
            quick(WebhookCall(server.url), {"id": "1"})
        assert len(server.arrived) == 1


def test_a_webhook_that_is_not_there_is_said_without_its_path() -> None:
    pauses: list[float] = []
    with receiving() as server:
        url = f"{server.url}/t0ken"
    with pytest.raises(WebhookFailed, match="ConnectError") as failed:
        post(WebhookCall(url), {}, pause=pauses.append)
    assert "t0ken" not in str(failed.value)
    assert pauses == [1.0, 4.0, 15.0]


def test_only_verdicts_of_the_filter_and_of_whole_minutes_count(tmp_path: Path, heard: Heard) -> None:
    with Store(tmp_path / "v.db") as store:
        add(store, 0, 30, 30, tool="bad", server="s")
        add(store, 0, 70, 0, tool="good", server="s")
        add(store, 1, 30, 30, tool="good", server="s")
        watch = heard.watch(
            store,
            escalations(name="bad", tool="bad"),
            escalations(name="good", tool="good"),
            escalations(name="silence", measure="verdicts", above=None, below=1),
        )
        # The minute that runs is not over, so its verdicts do not count yet.
        assert [state.firing for state in watch.check(AT + 119)] == [True, False, False]
        assert [state.firing for state in watch.check(AT + 120)] == [True, True, False]
        assert [state.firing for state in watch.check(AT + 180)] == [True, True, True]


def test_two_processes_tell_a_change_once(tmp_path: Path, heard: Heard) -> None:
    with Store(tmp_path / "v.db") as one, Store(tmp_path / "v.db") as two:
        add(one, 0, 40, 40)
        for store in (one, two):
            heard.watch(store, escalations()).check(AT + 60)
        assert len(heard.words) == 1


def test_names_must_differ_and_variables_must_be_there(tmp_path: Path, heard: Heard) -> None:
    with Store(tmp_path / "v.db") as store:
        with pytest.raises(UsageError, match="two alerts are named"):
            heard.watch(store, escalations(), escalations())
        with pytest.raises(UsageError, match="HOOK in the environment"):
            heard.watch(store, escalations(webhook_env="HOOK"))
        with pytest.raises(UsageError, match="KEY in the environment"):
            heard.watch(store, escalations(**SIGNED))
        with pytest.raises(UsageError, match="http"):
            heard.watch(store, escalations(webhook_env="HOOK"), HOOK="ftp://x")


def test_alerts_are_read_from_the_settings_and_a_wrong_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "toolvet.toml"
    path.write_text(
        '[[serve.alerts]]\nname = "failures"\nmeasure = "failure_rate"\nabove = 0.3\nlasting = 10\nserver = "books"\n'
    )
    (rule,) = load_settings(path)[ServeSettings].alerts
    assert (rule.above, rule.lasting, rule.server) == (0.3, 10, "books")
    path.write_text('[[serve.alerts]]\nname = "failures"\nmeasure = "failure_rate"\n')
    with pytest.raises(ConfigError, match="'above' or 'below'"):
        load_settings(path)


def test_the_api_shows_the_alerts(tmp_path: Path, heard: Heard) -> None:
    from starlette.testclient import TestClient  # noqa: PLC0415 - needs httpx

    from toolvet.server.access.gate import Gate, Throttle  # noqa: PLC0415
    from toolvet.server.access.people import People, person_at_this_machine  # noqa: PLC0415
    from toolvet.server.access.session import Sessions  # noqa: PLC0415
    from toolvet.server.context import ServerContext  # noqa: PLC0415
    from toolvet.server.dashboard.app import make_app  # noqa: PLC0415

    rules = (escalations(webhook="https://hooks.example/t0ken"), escalations(name="slow", lasting=5))
    with Store(tmp_path / "v.db") as store:
        add(store, 0, 40, 40)
        people = People((), local=person_at_this_machine())
        app = make_app(
            ServerContext(store, alerts=rules), Gate(people, Sessions(), Throttle(1000, 1000), is_secure=False)
        )
        client = TestClient(app, base_url="http://127.0.0.1:8741")
        before = client.get("/v1/alerts").json()
        assert [each["state"] for each in before["alerts"]] == ["quiet", "quiet"]
        heard.watch(store, *(escalations(name=each.name, lasting=each.lasting) for each in rules)).check(AT + 60)
        reply = client.get("/v1/alerts")
        assert [each["state"] for each in reply.json()["alerts"]] == ["firing", "pending"]
        assert reply.json()["firing"] == 1
        assert "t0ken" not in reply.text
