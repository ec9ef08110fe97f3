"""The audit log: who did what, by the API, by a page, on the command line; and what was refused, within bounds."""

import re
from pathlib import Path

import httpx2
import pytest
from tests.server.dashboard.browser import served
from tests.server.dashboard.serving import Running, serving

from toolvet import check_answer
from toolvet.cli import run
from toolvet.server.access.guard import RefusalQuota
from toolvet.server.access.people import new_token, token_hash
from toolvet.store import Store
from toolvet.store.audit import read_entries, write_entry

PEOPLE = [("vera", "viewer"), ("rob", "reviewer"), ("ada", "admin")]
SAID = "I cannot help with order {}."


def fill(store: Store, count: int) -> None:
    for number in range(count):
        store.add(check_answer(SAID.format(number)), text=SAID.format(number))
    store.flush()


def actions(running: Running, who: str) -> list[tuple[str, str, str]]:
    """This person's actions, in order."""
    with running.client("ada") as ada:
        entries = ada.get("/v1/audit", params={"who": who, "limit": 1000}).json()["entries"]
    return [(each["action"], each["target"], each["address"]) for each in reversed(entries)]


def test_every_deed_of_the_queue_is_written_down_with_its_place(url: str) -> None:
    with serving(url, people=PEOPLE) as running, running.client("rob") as rob:
        fill(running.site.store, 2)
        one, two = (each["id"] for each in rob.get("/v1/queue").json()["items"])
        rob.post(f"/v1/queue/{one}/label", json={"value": "right", "note": "my own words"})
        rob.post("/v1/queue/undo")
        rob.post(f"/v1/queue/{one}/release")
        rob.post(f"/v1/queue/{one}/release")
        rob.post(f"/v1/queue/{two}/skip")
        rob.post(f"/v1/queue/{two}/second-opinion")
        rob.post("/v1/queue", json={"id": two})
        # What does not happen is not written down as if it had.
        assert rob.post(f"/v1/queue/{one}/label", json={"value": "nothing"}).status_code == 422
        here = "127.0.0.1"
        assert actions(running, "rob") == [
            ("label", f"{one}: right", here),
            ("undo", one, here),
            ("release", one, here),
            ("skip", two, here),
            ("second_opinion", two, here),
            ("enqueue", two, here),
        ]


def test_the_page_of_the_queue_writes_down_the_same(tmp_path: Path) -> None:
    with serving(f"{tmp_path}/a.db", people=PEOPLE) as running, running.client() as client:
        fill(running.site.store, 3)
        client.post("/login", data={"token": running.tokens["rob"]})
        found = re.search(r'name="csrf" content="([^"]+)"', client.get("/queue").text)
        assert found is not None
        token = {"csrf": found[1]}
        place = client.post("/queue", data=token).headers["location"]
        following = client.post(place, data={**token, "value": "wrong"}).headers["location"]
        client.post(following, data={**token, "action": "skip"})
        client.post("/queue", data={**token, "action": "undo"})
        client.post(following, data={**token, "action": "release"})
        one, two = (path.rpartition("/")[2] for path in (place, following))
        done = [(action, target) for action, target, _ in actions(running, "rob")]
        assert done == [
            ("login", ""),
            ("label", f"{one}: wrong"),
            ("skip", two),
            ("undo", two),
            ("release", two),
        ]


def test_refusals_are_written_down_with_their_reason(tmp_path: Path) -> None:
    with serving(f"{tmp_path}/a.db", people=PEOPLE) as running:
        with running.client("vera") as vera:
            vera.post("/v1/verdicts", json={"kind": "answer", "text": "x"})
            vera.get("/queue")
        with running.client() as client:
            client.get("/v1/overview")
            client.get("/v1/overview", headers={"authorization": "Bearer wrong"})
            client.get("/v1/overview", headers={"host": "evil.example"})
            client.post("/login", data={"token": running.tokens["rob"]})
            client.post("/v1/queue/next", headers={"x-csrf-token": "wrong"})
        assert [(action, target) for action, target, _ in actions(running, "vera")] == [
            ("refused", "POST /v1/verdicts: this needs the role reviewer; vera is viewer"),
            ("refused", "GET /queue: this needs the role reviewer; vera is viewer"),
        ]
        nobody = [target for action, target, _ in actions(running, "") if action == "refused"]
        assert nobody[0] == "GET /v1/overview: the token is not known"
        assert "names another server" in nobody[1]
        assert len(nobody) == 2
        assert actions(running, "rob")[-1][:2] == (
            "refused",
            "POST /v1/queue/next: the form is out of date; load the page again",
        )


def test_nobody_pushes_the_deeds_of_others_out_of_the_log(tmp_path: Path) -> None:
    with serving(f"{tmp_path}/a.db", people=PEOPLE) as running, running.client() as client:
        for _ in range(120):
            assert client.get("/healthz", headers={"host": "evil.example"}).status_code == 403
        with running.client("ada") as ada:
            refused = ada.get("/v1/audit", params={"action": "refused", "limit": 1000}).json()["entries"]
        assert 50 <= len(refused) < 60
    log = RefusalQuota()
    assert [log.admit("refused") for _ in range(52)] == [0] * 50 + [None] * 2
    assert log.admit("login_failed") == 0


def test_the_log_keeps_its_bounds_and_the_latest(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db") as store:
        write_entry(store, "ada", "delete", "x" * 5000 + "\x00", at=1.0)
        (entry,) = read_entries(store)
        assert (entry.at, len(entry.target)) == (1.0, 500)


def test_the_command_line_writes_down_exports_deletions_and_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOOLVET_STORE", str(tmp_path / "a.db"))
    monkeypatch.setattr("getpass.getuser", lambda: "otto")
    with Store(tmp_path / "a.db") as store:
        fill(store, 1)
        (id_,) = (verdict.id for verdict in store.verdicts())
    assert run(["review", "fill"]) == 0
    assert run(["review", "label", id_, "right", "--reviewer", "ada"]) == 0
    assert run(["review", "undo", "--reviewer", "ada"]) == 0
    assert run(["review", "export", "labels.jsonl"]) == 0
    assert run(["store", "export", "all.jsonl"]) == 0
    assert run(["store", "import", "all.jsonl"]) == 0
    assert run(["store", "prune", "--older-than", "3d"]) == 0
    with Store(tmp_path / "a.db") as store:
        found = [(each.who, each.action, each.target) for each in reversed(read_entries(store))]
    assert found == [
        ("ada", "label", f"{id_}: right"),
        ("ada", "undo", id_),
        ("otto", "export", "labels to labels.jsonl"),
        ("otto", "export", "verdicts to all.jsonl"),
        ("otto", "import", "all.jsonl"),
        ("otto", "delete", "verdicts older than 3d"),
    ]


def test_a_token_is_written_down_when_it_is_admitted_and_only_then(tmp_path: Path) -> None:
    token = new_token()
    digest = token_hash(token)
    (tmp_path / "toolvet.toml").write_text(
        f'[[serve.people]]\nname = "ada"\nrole = "admin"\ntoken_sha256 = "{digest}"\n', encoding="utf-8"
    )
    for _ in range(2):
        with served(tmp_path / "a.db", "--settings", str(tmp_path / "toolvet.toml")) as base:
            headers = {"authorization": f"Bearer {token}"}
            entries = httpx2.get(f"{base}/v1/audit?action=token", headers=headers).json()["entries"]
            assert [each["target"] for each in entries] == [f"ada (admin), SHA-256 {digest[:8]}…"]
            assert token not in str(entries)
            assert digest not in str(entries)
