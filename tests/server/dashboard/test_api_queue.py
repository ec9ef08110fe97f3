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
    words = shown["vocabulary"]
    assert (words["values"], words["signals"]) == (["right", "wrong", "unsure"], ["right", "wrong"])
    assert {"refusal", "evasive", "hallucination_risk"} <= set(words["missed"])
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
    """Two terminals and a client of the API: none gets an item that another has, and none sees another's labels."""
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


def test_a_fault_that_was_missed_is_named_with_its_words_and_shown_wherever_the_verdict_is(
    asking: Asking, server: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "That order sits beyond my remit, so kindly turn to the desk downstairs."
    with Store(server[1]) as store:
        id_ = store.add(check_answer(said, trace="turn-missed"), text=said)
    assert asking.post("ada", "", {"id": id_}).status_code == 200
    for body, words in (
        (
            {"signals": {"refusal": "right"}},
            "no signal 'refusal'; it has none. Name a fault that was missed in `missed`",
        ),
        ({"missed": {"rudeness": "remit"}}, "'rudeness' is not one of confusion, refusal"),
        ({"missed": {"refusal": "beyond my pay grade"}}, "does not contain 'beyond my pay grade'"),
    ):
        refused = asking.post("ada", f"/{id_}/label", {"value": "wrong", **body})
        assert refused.status_code == 422
        assert words in refused.json()["error"]
    # Case and line breaks are not words.
    missed = {"refusal": "sits beyond\n  my remit", "evasive": ""}
    labelled = asking.post("ada", f"/{id_}/label", {"value": "wrong", "missed": missed})
    kept = {"refusal": "sits beyond my remit", "evasive": ""}
    assert labelled.json()["labels"][0]["missed"] == kept
    client = asking.clients["eve"]
    for path in (f"/v1/verdicts/{id_}", "/v1/turns/turn-missed", "/v1/turns", "/v1/verdicts"):
        answered = client.get(path).json()
        verdicts = [answered] if "id" in answered else answered.get("verdicts") or answered["turns"][0]["verdicts"]
        (shown,) = [verdict for verdict in verdicts if verdict["id"] == id_]
        assert [(label["reviewer"], label["missed"]) for label in shown["labels"]] == [("ada", kept)]
    for path in (f"/verdict/{id_}", "/turn/turn-missed"):
        page = client.get(path).text
        assert "missed: refusal" in page
        assert "sits beyond my remit</q>" in page
    monkeypatch.setenv("TOOLVET_STORE", str(server[1]))
    assert 'ada: wrong; missed refusal "sits beyond my remit"' in toolvet("trace", "turn-missed").stdout.replace(
        "; missed evasive", ""
    )
    (entry,) = json.loads(toolvet("trace", "turn-missed", "--json").stdout)["entries"]
    assert entry["labels"][0]["missed"] == kept
    exported = asking.get("ada", "/labels").json()["labels"]
    assert [label["missed"] for label in exported if label["id"] == id_] == [kept]


def test_labels_of_an_open_item_are_hidden_on_the_verdict_and_the_turn(asking: Asking) -> None:
    id_ = asking.next("ada")
    asking.post("ada", f"/{id_}/label", {"value": "wrong", "second_opinion": True})
    for name, count in (("ada", 1), ("bob", 0), ("eve", 0)):
        assert len(asking.clients[name].get(f"/v1/verdicts/{id_}").json()["labels"]) == count
    assert ">reviewed<" not in asking.clients["bob"].get(f"/verdict/{id_}").text


def test_an_item_is_kept_for_the_person_it_is_assigned_to(asking: Asking) -> None:
    items = [item["id"] for item in asking.get("ada", "").json()["items"]]
    last = items[-1]
    assert asking.post("ada", f"/{last}/assign", {"reviewer": "bob"}).json()["assigned"] == ["bob"]
    assert asking.get("bob", "", assigned=True).json()["total"] == 1
    assert asking.get("ada", "", assigned=True).json()["total"] == 0
    assert asking.next("bob") == last
    for name in ("carol", "eve"):
        # A person who cannot review would block it for all.
        refused = asking.post("ada", f"/{last}/assign", {"reviewer": name})
        assert refused.status_code == 422
        assert f"'{name}' is not one of ada, bob" in refused.json()["error"]
    asking.post("bob", f"/{last}/release")
    assert [asking.next("ada"), asking.post("ada", f"/{items[0]}/skip").json()] == [items[0], {"skipped": True}]
    asking.post("ada", f"/{asking.next('ada')}/skip")
    assert asking.next("ada") is None
    assert asking.post("ada", f"/{last}/lease").status_code == 409
    assert asking.post("bob", f"/{last}/assign", {"reviewer": None}).json()["assigned"] == []
    assert asking.next("ada") == last


def test_a_lease_on_behalf_of_another_reviewer_is_refused(asking: Asking) -> None:
    id_ = asking.get("ada", "").json()["items"][0]["id"]
    for path in ("/next", f"/{id_}/lease", f"/{id_}/release", f"/{id_}/skip", "/undo"):
        refused = asking.post("ada", path, {"reviewer": "bob"})
        assert refused.status_code == 422
        assert "reviewer" in refused.text
    assert asking.get("ada", "").json()["progress"]["leased"] == 0
    assert asking.post("ada", "/next", {}).status_code == 200


def test_a_disputed_item_is_settled_by_a_final_label_that_is_exported(asking: Asking) -> None:
    id_ = asking.next("ada")
    early = asking.post("bob", f"/{id_}/label", {"value": "right", "final": True})
    assert early.status_code == 409
    assert "decides between two opinions" in early.text
    asking.post("ada", f"/{id_}/label", {"value": "wrong", "second_opinion": True})
    assert asking.get("bob", "", state="disputed").json()["total"] == 0
    asking.post("bob", f"/{id_}/label", {"value": "right"})
    listed = asking.get("ada", "", state="disputed").json()
    assert [(item["id"], item["disputed"]) for item in listed["items"]] == [(id_, True)]
    settled = asking.post("ada", f"/{id_}/label", {"value": "right", "note": "it is one", "final": True}).json()
    assert (settled["disputed"], settled["final"]["value"], settled["final"]["reviewer"]) == (False, "right", "ada")
    assert {label["reviewer"]: label["value"] for label in settled["labels"]} == {"ada": "wrong", "bob": "right"}
    assert asking.get("ada", "", state="disputed").json()["total"] == 0
    exported = asking.get("bob", "/labels").json()["labels"]
    assert [(label["reviewer"], label["value"], label["final"]) for label in exported] == [
        ("ada", "wrong", False), ("bob", "right", False), ("ada", "right", True),
    ]  # fmt: skip
    # How far reviewers agree is measured on what they said, not on what was decided.
    assert asking.get("ada", "/agreement").json()["agreed"] == 0.0
    asking.post("ada", "/undo")
    assert asking.get("ada", "", state="disputed").json()["total"] == 1
    assert [change["action"] for change in asking.get("ada", f"/{id_}/history").json()["changes"]][:2] == [
        "undo", "settle",
    ]  # fmt: skip
