"""`/v1/queue…`, asked over HTTP by people with roles."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import delete
from tests.cli.test_review_command import toolvet
from tests.server.dashboard.browser import served

from toolvet import check_answer
from toolvet.server.access.people import token_hash
from toolvet.store import Store
from toolvet.store.tables.verdicts import VERDICTS

ROLES = {"ada": "reviewer", "bob": "reviewer", "eve": "viewer"}


def token(name: str) -> str:
    return f"token-of-{name}-0123456789"


class Asking:
    """One server with a client for each person."""

    def __init__(self, url: str) -> None:
        self.clients = {
            name: httpx2.Client(base_url=url, headers={"authorization": f"Bearer {token(name)}"}, timeout=30)
            for name in ROLES
        }

    def close(self) -> None:
        for client in self.clients.values():
            client.close()

    def get(self, name: str, path: str, **query: object) -> httpx2.Response:
        return self.clients[name].get(f"/v1/queue{path}", params=query)  # type: ignore[arg-type]

    def post(self, name: str, path: str, body: object = None) -> httpx2.Response:
        return self.clients[name].post(f"/v1/queue{path}", json=body)

    def next(self, name: str) -> str | None:
        item = self.post(name, "/next").json()["item"]
        return None if item is None else str(item["id"])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """One server for all tests: starting it takes longer than they do."""
    folder = tmp_path_factory.mktemp("api")
    people = "".join(
        f'[[serve.people]]\nname = "{name}"\nrole = "{role}"\ntoken_sha256 = "{token_hash(token(name))}"\n'
        for name, role in ROLES.items()
    )
    # Without a sample: what is drawn by chance would be a fourth item now and then.
    rule = '[[review.queue]]\nname = "escalated"\nkind = "answer"\nescalated = true\n'
    (folder / "toolvet.toml").write_text(people + rule)
    with served(folder / "toolvet.db", "--settings", str(folder / "toolvet.toml")) as url:
        yield url, folder / "toolvet.db"


@pytest.fixture
def asking(server: tuple[str, Path]) -> Iterator[Asking]:
    """The server with four verdicts, three of which people should see, and nothing that a test before left."""
    url, path = server
    with Store(path) as store:
        with store.connect() as connection:
            connection.execute(delete(VERDICTS))
        for number in range(3):
            said = f"I cannot help with order {number}. <script>alert(1)</script>"
            store.add(check_answer(said), text=said)
        store.add(check_answer("The book is on the shelf."), text="The book is on the shelf.", at=1.0)
    asking = Asking(url)
    yield asking
    asking.close()


def test_an_item_goes_through_the_api(asking: Asking) -> None:
    id_ = asking.next("ada")
    assert asking.next("ada") == id_
    assert asking.next("bob") != id_
    shown = asking.get("ada", f"/{id_}").json()
    assert shown["vocabulary"] == {"values": ["right", "wrong", "unsure"], "signals": ["right", "wrong"]}
    assert "<script>alert(1)</script>" in shown["verdict"]["text"]
    (signal,) = shown["signals"]
    assert shown["verdict"]["text"][signal["start"] : signal["end"]] == signal["evidence"]
    body = {"value": "wrong", "note": "a quotation", "signals": {signal["key"]: "wrong"}, "second_opinion": True}
    labelled = asking.post("ada", f"/{id_}/label", body)
    assert labelled.status_code == 200
    assert labelled.json()["labels"][0]["reviewer"] == "ada"
    assert (labelled.json()["labelled"], labelled.json()["wanted"]) == (1, 2)

    hidden = asking.get("bob", f"/{id_}")
    assert hidden.json()["labels"] == []
    assert asking.get("bob", f"/{id_}/history").json() == {"changes": []}
    assert asking.get("bob", "/labels").json()["labels"] == []
    assert asking.post("bob", f"/{id_}/label", {"value": "right"}).status_code == 200
    exported = asking.get("bob", "/labels").json()
    assert {(each["id"], each["reviewer"], each["value"]) for each in exported["labels"]} == {
        (id_, "ada", "wrong"),
        (id_, "bob", "right"),
    }
    assert exported["labels"][0]["verdict"]["text"] == shown["verdict"]["text"]
    assert asking.get("bob", "/labels", after=exported["next"]).json() == {"labels": [], "next": None}
    assert len(asking.get("bob", f"/{id_}").json()["labels"]) == 2
    figures = asking.get("ada", "/agreement").json()
    assert (figures["items"], figures["agreed"], figures["disputed"]) == (1, 0.0, [id_])

    assert asking.post("ada", "/undo").json()["item"]["id"] == id_
    actions = [change["action"] for change in asking.get("ada", f"/{id_}/history").json()["changes"]]
    assert actions == ["undo", "label"]
    assert asking.post("ada", f"/{id_}/release").json() == {"released": True}


def test_the_list_has_its_total_and_how_far_the_queue_is(asking: Asking) -> None:
    listed = asking.get("ada", "", limit=1).json()
    assert (len(listed["items"]), listed["total"], listed["progress"]["open"]) == (1, 3, 3)
    asking.post("ada", f"/{asking.next('ada')}/label", {"value": "right"})
    assert asking.get("ada", "").json()["total"] == 2
    assert asking.get("ada", "", mine=True, state="all").json()["total"] == 1
    assert asking.get("bob", "", mine=True, state="done").json()["total"] == 0
    assert asking.get("ada", "", state="all", offset=2).json()["items"][0]["state"] == "open"


def test_what_is_skipped_goes_to_others_and_a_verdict_can_be_added(asking: Asking) -> None:
    for _ in range(3):
        assert asking.post("ada", f"/{asking.next('ada')}/skip").json() == {"skipped": True}
    assert asking.next("ada") is None
    id_ = asking.next("bob")
    assert asking.post("bob", f"/{id_}/second-opinion").json()["wanted"] == 2
    assert asking.post("bob", f"/{id_}/lease").status_code == 200
    assert asking.post("ada", "", {"id": "none"}).status_code == 404
    assert asking.post("ada", "", {"id": id_}).json()["rule"] == "escalated"


def test_the_command_line_and_the_api_have_one_queue(
    asking: Asking, server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two terminals and a client of the API: nobody gets what another has, and nobody sees what another said."""
    monkeypatch.setenv("TOOLVET_STORE", str(server[1]))
    there, eve = asking.next("ada"), toolvet("review", "next", "--reviewer", "eve", "--json")
    max_ = toolvet("review", "next", "--reviewer", "max", "--json")
    here = json.loads(eve.stdout)["id"]
    assert len({there, here, json.loads(max_.stdout)["id"]}) == 3
    assert asking.next("bob") is None
    assert toolvet("review", "next", "--reviewer", "zoe").returncode == 1
    done = toolvet("review", "label", "mine", "wrong", "--reviewer", "eve", "--second-opinion")
    assert done.returncode == 0
    assert asking.next("bob") == here
    assert asking.get("bob", f"/{here}").json()["labels"] == []
    assert asking.post("bob", f"/{here}/label", {"value": "right"}).status_code == 200
    shown = json.loads(toolvet("review", "show", here, "--reviewer", "eve", "--json").stdout)
    assert {label["reviewer"]: label["value"] for label in shown["labels"]} == {"eve": "wrong", "bob": "right"}
    assert asking.get("ada", "/agreement").json()["disputed"] == [here]


def test_failures_are_typed(asking: Asking) -> None:
    id_ = asking.next("ada")
    for name, path, body, status, words in (
        ("eve", "/next", None, 403, "needs the role reviewer"),
        ("ada", "/none/label", {"value": "right"}, 404, "none"),
        ("bob", f"/{id_}/label", {"value": "right"}, 409, "other reviewers have"),
        ("bob", f"/{id_}/lease", None, 409, "other reviewers have"),
        ("ada", f"/{id_}/label", {"value": "maybe"}, 422, "value"),
        ("ada", f"/{id_}/label", {"value": "right", "signals": {"9:x": "right"}}, 422, "signals"),
        ("ada", f"/{id_}/label", {"note": "x"}, 422, "value"),
        ("ada", f"/{id_}/label", {"value": "right", "reviewer": "bob"}, 422, "reviewer"),
    ):
        answered = asking.post(name, path, body)
        assert (answered.status_code, answered.json()["success"]) == (status, False)
        assert words in answered.text
    assert asking.get("eve", "").status_code == 403
    assert asking.get("ada", "", limit=0).status_code == 422


def test_the_page_hides_the_labels_of_others_and_takes_no_form_without_its_token(asking: Asking) -> None:
    id_ = asking.next("ada")
    asking.post("ada", f"/{id_}/label", {"value": "wrong", "note": "<b>mine</b>", "second_opinion": True})
    asking.clients["bob"].cookies.clear()
    hidden = asking.clients["bob"].get(f"/queue/{id_}").text
    assert "1 label of others: shown once you have labelled it." in hidden
    assert "mine" not in hidden
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in hidden
    refused = asking.clients["bob"].post(f"/queue/{id_}", data={"value": "right"})
    assert refused.status_code == 403
    asking.post("bob", f"/{id_}/label", {"value": "right"})
    assert "&lt;b&gt;mine&lt;/b&gt;" in asking.clients["bob"].get(f"/queue/{id_}").text
    assert asking.clients["eve"].get("/queue").status_code == 403
    assert asking.clients["bob"].get("/queue/none").status_code == 404
