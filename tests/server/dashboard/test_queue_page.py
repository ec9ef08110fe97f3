"""The review queue in a browser, on SQLite and on PostgreSQL: ten items by keyboard; a phone; the dark; axe."""

import operator
from functools import partial
from pathlib import Path

from playwright.sync_api import Page
from tests.server.dashboard.accessibility import faults
from tests.server.dashboard.browser import OpenPage, overflow, pressed
from tests.server.dashboard.serving import serving

from toolvet import check_answer
from toolvet.server.reviewing import open_queue
from toolvet.server.settings import ReviewSettings
from toolvet.store import Store
from toolvet.store.queue_records import ReviewLabel

CALLS = [
    {"name": "get_order", "arguments": {"order": 7}, "result": {"total": 54, "currency": "EUR"}},
    {
        "name": "track",
        "arguments": {"parcel": "P-7"},
        "result": "<script>document.title='run'</script>",
        "failed": True,
    },
    {
        "name": "read_note",
        "arguments": {},
        "result": {"content": [{"type": "text", "text": "Due on Thursday."}, {"type": "text", "text": "Paid."}]},
    },
]
ANSWER = "I cannot help with order {}. It cost 45 euros. <script>document.title='run'</script> \x1b[31mred <b>bold</b>"


def filled(path: Path | str, count: int) -> str:
    with Store(path) as store:
        for number in range(count):
            said = ANSWER.format(number)
            verdict = check_answer(said, calls=CALLS, question="Where is it?", trace=f"turn-{number}")
            store.add(verdict, text=said, calls=CALLS, question="Where is it?", model="m1")
    return str(path)


def shown(page: Page) -> str:
    """The id of the item on the page."""
    return page.url.partition("?")[0].rpartition("/")[2]


def test_ten_items_are_labelled_by_keyboard_and_one_is_taken_back(url: str, open_page: OpenPage) -> None:
    with serving(filled(url, 12)) as running:
        base = running.url
        page = open_page(f"{base}/queue")
        assert "12" in page.locator(".figures").inner_text()
        pressed(page, "Enter")
        page.wait_for_url("**/queue/*")
        seen: list[str] = []
        for number in range(10):
            here = page.url
            seen.append(shown(page))
            if number == 0:
                # The first signal is a false alarm, the second is right; and a note.
                pressed(page, "j", "w", "r", "n")
                page.keyboard.type("it quotes 1 and 2")
                pressed(page, "Escape")
            pressed(page, "2" if number == 0 else "1")
            page.wait_for_url(partial(operator.ne, here))
        assert len(set(seen)) == 10
        eleventh = shown(page)
        back = page.url
        page.goto(f"{base}/queue/{seen[0]}")
        page.get_by_text("Every change").click()
        assert "labelled it Wrong" in page.locator(".changes").inner_text()
        assert page.locator(".signals input:checked").count() == 2
        page.goto(back)
        pressed(page, "u")
        page.wait_for_url(f"**/queue/{seen[-1]}*")
        assert page.get_by_role("status").inner_text().startswith("Undone")
        pressed(page, "3")
        page.wait_for_url(f"**/queue/{eleventh}*")
    with Store(url) as after:
        queue = open_queue(after, ReviewSettings())
        labels = {label.item: label for label in queue.labels()}
        assert [labels[item].value for item in seen] == ["wrong", *["right"] * 8, "unsure"]
        assert labels[seen[0]].note == "it quotes 1 and 2"
        assert list(labels[seen[0]].signals.values()) == ["wrong", "right"]
        assert [change.action for change in queue.history(seen[-1])] == ["label", "undo", "label"]
        assert queue.progress().open == 2


def test_evidence_is_marked_beside_the_calls_and_stored_texts_are_only_shown(
    tmp_path: Path, open_page: OpenPage
) -> None:
    with serving(filled(tmp_path / "toolvet.db", 1)) as running:
        page = open_page(f"{running.url}/queue")
        assert page.title() == "Review queue · toolvet"
        page.get_by_role("button", name="Start reviewing").click()
        page.wait_for_url("**/queue/*")
        assert page.title() == "Review · toolvet"
        text = page.locator("section.said p.text").first.inner_text()
        assert "<script>document.title='run'</script>" in text
        assert "<b>bold</b>" in text
        assert "\x1b" not in page.content()
        assert page.locator("mark").first.evaluate("mark => mark.firstChild.data") == "I cannot help with"
        assert '"total": 54' in page.locator(".calls").inner_text()
        assert "<script>" in page.locator(".calls").inner_text()
        # The blocks of a result as a model reads them, not as JSON.
        assert "Due on Thursday." in page.locator(".calls pre").all_inner_texts()
        assert '"content"' not in page.locator(".calls").inner_text()
        pressed(page, "j")
        assert page.locator("mark.now").count() == 1
        pressed(page, "?")
        assert page.locator("dialog").get_by_text("leave it to others").is_visible()


def test_the_last_label_leads_back_to_the_queue(tmp_path: Path, open_page: OpenPage) -> None:
    with serving(filled(tmp_path / "toolvet.db", 2)) as running:
        page = open_page(f"{running.url}/queue")
        pressed(page, "Enter")
        page.wait_for_url("**/queue/*")
        first = page.url
        pressed(page, "s")
        page.wait_for_url(lambda new: new != first)
        pressed(page, "o", "1")
        page.wait_for_url("**/queue?done=1")
        assert "everything" in page.get_by_role("status").inner_text()
        assert page.get_by_role("link", name="Labelled by me").is_visible()
        pressed(page, "u")
        page.wait_for_url("**/queue/*undone=1")


def test_both_pages_fit_a_phone_and_axe_finds_nothing_in_light_and_dark(tmp_path: Path, open_page: OpenPage) -> None:
    with serving(filled(tmp_path / "toolvet.db", 3)) as running:
        for scheme in ("light", "dark"):
            for width in (390, 1280):
                page = open_page(f"{running.url}/queue", width=width, color_scheme=scheme)
                assert (overflow(page), faults(page)) == (0, [])
                page.get_by_role("button", name="Start reviewing").click()
                page.wait_for_url("**/queue/*")
                assert (overflow(page), faults(page)) == (0, [])


def test_a_missed_fault_is_named_and_a_dispute_is_settled_in_the_browser(url: str, open_page: OpenPage) -> None:
    said = "That order sits beyond my remit, so kindly turn to the desk downstairs."
    with Store(url) as store:
        id_ = store.add(check_answer(said, trace="turn-x"), text=said)
        store.add(check_answer("No."), text="No.")
        open_queue(store, ReviewSettings()).add(id_, reviewers=2)
    with serving(url) as running:
        page = open_page(f"{running.url}/queue")
        reasons = page.locator("#items tbody tr td:nth-of-type(1)").all_inner_texts()
        assert sorted(reasons) == ["nothing found", "too short"]
        page.goto(f"{running.url}/queue/{id_}")
        page.get_by_role("region", name="The text that was judged").evaluate(
            """text => { const range = document.createRange(); range.setStart(text.firstChild, 11);
                range.setEnd(text.firstChild, 31); getSelection().addRange(range); }"""
        )
        pressed(page, "m")
        assert page.get_by_label("Words of the answer").input_value() == "sits beyond my remit"
        refused = page.request.post(
            page.url,
            form={
                "csrf": page.locator("input[name=csrf]").first.input_value(),
                "value": "wrong",
                "missed-type-1": "",
                "missed-words-1": "remit",
            },
        )
        assert refused.status == 422
        page.get_by_label("Fault").select_option("refusal")
        assert faults(page) == []
        page.get_by_role("button", name="Wrong").click()
        page.wait_for_url(lambda where: id_ not in where)
        queue = running.site.queue
        (label,) = queue.item(id_).labels
        assert label.missed == {"refusal": "sits beyond my remit"}

        page.goto(f"{running.url}/queue/{id_}")
        page.get_by_text("Assign to a person").click()
        page.get_by_label("Name").fill("bob")
        page.keyboard.press("Enter")
        page.get_by_text("Assigned to bob").wait_for()
        assert queue.item(id_).assigned == ("bob",)
        queue.label(id_, "bob", ReviewLabel(value="right", note="it points to the desk"))
        page.goto(f"{running.url}/queue?state=disputed")
        page.locator("#items th a").click()
        opinions = page.get_by_role("region", name="Opinions").inner_text()
        assert "bob: right" in opinions
        assert "it points to the desk" in opinions
        assert "missed: refusal" in opinions
        for width, scheme in ((1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            assert faults(page) == []
            assert overflow(page) == 0
        pressed(page, "2")
        page.wait_for_url("**/queue?state=disputed")
        final = queue.item(id_).final
        assert final is not None
        assert (final.value, len(queue.item(id_).labels)) == ("wrong", 2)
        page.goto(f"{running.url}/turn/turn-x")
        assert "final" in page.locator(".reviewed").inner_text()
        assert faults(page) == []


def test_the_turn_page_starts_with_the_judged_answer(tmp_path: Path, open_page: OpenPage) -> None:
    with serving(filled(tmp_path / "toolvet.db", 1)) as running:
        page = open_page(f"{running.url}/turn/turn-0")
        headings = page.locator(".entry h3.label").all_inner_texts()
        assert headings.index("answer") < headings.index("calls")
