"""docs/story.md is what happens, and in each incident all stations say the same."""

from pathlib import Path

import pytest
from tests.story.page import render_story_page
from tests.story.run import NOTHING, Story, Told, incidents, run_story

from toolvet import State
from toolvet.core.causes import cause_of

PAGE = Path(__file__).parents[2] / "docs" / "story.md"
IDS = [incident.id for incident in incidents()]
FAILED = [incident.id for incident in incidents() if incident.state]


@pytest.fixture(scope="module")
def story() -> Story:
    return run_story()


@pytest.fixture(scope="module")
def told(story: Story) -> dict[str, Told]:
    return {one.incident.id: one for one in story.told}


def test_the_page_is_what_happened(story: Story) -> None:
    page = render_story_page(story)
    assert PAGE.read_text(encoding="utf-8") == page, "make story"


@pytest.mark.parametrize("incident", FAILED)
def test_every_station_has_the_words_of_the_table_of_causes(told: dict[str, Told], incident: str) -> None:
    one = told[incident]
    state = State(one.incident.state)
    cause = cause_of(state)
    for station in one.stations:
        said = (station.word.text, station.code.text, station.retry.text)
        assert said == (state.value, cause.error_code, cause.retry or NOTHING), station.name


def test_of_a_list_that_is_cut_every_station_has_the_words_of_the_envelope(told: dict[str, Told]) -> None:
    one = told["truncated-list"]
    assert one.envelope["meta"]["content_fidelity"] == "partial"
    for station in one.stations:
        said = (station.word.text, station.code.text, station.retry.text)
        assert said == ("partial", "CONTENT_TRUNCATED", NOTHING), station.name


@pytest.mark.parametrize("incident", IDS)
def test_every_station_has_the_same_id(told: dict[str, Told], incident: str) -> None:
    ids = {station.name: station.id.text for station in told[incident].stations}
    assert len(set(ids.values())) == 1, ids
    assert NOTHING not in ids.values()


def test_each_turn_has_an_id_of_its_own(told: dict[str, Told]) -> None:
    assert len({one.stations[0].id.text for one in told.values()}) == len(told)


@pytest.mark.parametrize("incident", IDS)
def test_an_id_that_the_client_sends_is_the_id_of_the_turn(told: dict[str, Told], incident: str) -> None:
    one = told[incident]
    found = one.stations[0].id.text
    if one.incident.sends == "traceparent":
        assert found == one.meta["traceparent"].split("-")[1]
    elif one.incident.sends == "trace":
        assert found == one.meta["dev.toolvet/trace"]


@pytest.mark.parametrize("incident", FAILED)
def test_an_honest_answer_keeps_what_the_table_says(told: dict[str, Told], incident: str) -> None:
    one = told[incident]
    label = cause_of(State(one.incident.state)).answer_label
    kept = {signal.type.value for signal in one.answers[0].signals}
    assert label in kept if label else not kept, one.answers[0].signals


@pytest.mark.parametrize("incident", IDS)
def test_a_dishonest_answer_is_escalated_by_what_the_call_said(told: dict[str, Told], incident: str) -> None:
    quality = told[incident].answers[1]
    assert quality.should_escalate
    assert any(signal.source == "calls" for signal in quality.signals)


@pytest.mark.parametrize("incident", IDS)
def test_without_envelopes_the_words_decide(told: dict[str, Told], incident: str) -> None:
    one = told[incident]
    verdict = one.plain["_meta"]["dev.toolvet/verdict"]
    assert (verdict["state"] or "") == one.incident.plain


def test_there_are_the_ten_incidents_that_the_page_promises() -> None:
    assert len(IDS) == 10
    assert len(set(IDS)) == 10
