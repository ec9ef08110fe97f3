"""Results that are shortened, kept as a whole, and retrieved."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st
from tests.proxy.session.test_own_answers import message

from toolvet.core.settings import load_settings
from toolvet.errors import ConfigError
from toolvet.proxy.session import CallEnded, Policies, ProxySettings, Session, ToClient, ToolSettings, ToServer
from toolvet.proxy.session.catalogue import Catalogue
from toolvet.proxy.session.fit import FitRoom

ROOM = 1_000
FIT = f"{ROOM} characters"
ITEMS = [{"id": number, "name": f"Item {number}"} for number in range(2_000)]
LONG = json.dumps(ITEMS)
TOOLS: list[dict[str, Any]] = [
    {"name": "list_items", "inputSchema": {"type": "object"}},
    {
        "name": "typed",
        "inputSchema": {"type": "object"},
        "outputSchema": {
            "type": "object",
            "properties": {"items": {"type": "array", "items": {"type": "object", "required": ["id"]}}},
            "required": ["items"],
        },
    },
    {
        "name": "strict",
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object", "properties": {"items": {"type": "array", "minItems": 1_900}}},
    },
]


def opened(fit: int | str = FIT, tools: list[dict[str, Any]] | None = None, **settings: Any) -> Session:
    session = Session(Policies(ProxySettings(fit=fit, break_repeats=0, **settings)))
    session.from_client(message(id="list", method="tools/list"))
    session.from_server(message(id="list", result={"tools": TOOLS if tools is None else tools}))
    return session


def asked(session: Session, tool: str, result: dict[str, Any], **meta: Any) -> dict[str, Any]:
    """The client's message for a result of the server."""
    params = {"name": tool, "arguments": {}, **({"_meta": meta} if meta else {})}
    steps = session.from_client(message(id=1, method="tools/call", params=params))
    assert isinstance(steps[0], ToServer)
    return shown(session.from_server(message(id=1, result=result)))


def retrieved(session: Session, name: str = "retrieve_result", **arguments: Any) -> list[str]:
    """The texts that our tool answers with."""
    steps = session.from_client(message(id=2, method="tools/call", params={"name": name, "arguments": arguments}))
    ended = [step for step in steps if isinstance(step, CallEnded)]
    assert [note.outcome for note in ended] == ["retrieved"]
    return [block["text"] for block in shown(steps)["content"]]


def shown(steps: Any) -> dict[str, Any]:
    (reply,) = [step for step in steps if isinstance(step, ToClient)]
    found: dict[str, Any] = json.loads(reply.data)["result"]
    return found


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}], **more}


def id_in(result: dict[str, Any]) -> str:
    return str(result["_meta"]["dev.toolvet/fit"][0]["id"])


def test_a_long_result_is_shortened_and_says_how_to_get_the_rest() -> None:
    session = opened()
    result = asked(session, "list_items", text(LONG))
    short, said = (block["text"] for block in result["content"])
    assert len(short) <= ROOM
    assert json.loads(short)[0] == ITEMS[0]
    assert json.loads(short)[-1] == ITEMS[-1]
    assert f'retrieve_result with {{"id": "{id_in(result)}"' in said
    assert result["_meta"]["dev.toolvet/fit"] == [{"id": id_in(result), "characters": len(LONG), "shown": len(short)}]


@pytest.mark.parametrize("fit", [0, "0", "0 characters"])
def test_nothing_is_shortened_or_listed_unless_that_is_asked_for(fit: int | str) -> None:
    session = opened(fit)
    assert asked(session, "list_items", text(LONG)) == text(LONG)
    session.from_client(message(id=7, method="tools/list"))
    page = session.from_server(message(id=7, result={"tools": TOOLS}))
    assert shown(page)["tools"] == TOOLS


def test_a_result_that_fits_passes_byte_for_byte() -> None:
    session = opened()
    session.from_client(message(id=1, method="tools/call", params={"name": "list_items", "arguments": {}}))
    data = b'{ "jsonrpc":"2.0",  "id":1, "result" : {"content":[ {"type":"text","text":"\\u0041"} ]} }'
    steps = session.from_server(data)
    assert any(isinstance(step, ToClient) and step.data is data for step in steps)


def test_the_tool_stands_at_the_end_of_the_list_and_takes_another_name_where_its_own_is_taken() -> None:
    for tools, name in (
        (TOOLS, "retrieve_result"),
        ([*TOOLS, {**TOOLS[0], "name": "retrieve_result"}], "toolvet_retrieve_result"),
    ):
        session = opened(tools=tools)
        session.from_client(message(id=7, method="tools/list"))
        listed = shown(session.from_server(message(id=7, result={"tools": tools})))["tools"]
        assert listed[:-1] == tools
        assert listed[-1]["name"] == name
        id_ = id_in(asked(session, "list_items", text(LONG)))
        assert retrieved(session, name, id=id_, limit=10)[0] == LONG[:10]


def test_pages_one_after_the_other_are_the_whole() -> None:
    session = opened()
    id_ = id_in(asked(session, "list_items", text(LONG)))
    found, offset = "", 0
    while offset < len(LONG):
        page, where = retrieved(session, id=id_, offset=offset)
        assert 0 < len(page) <= ROOM
        found += page
        offset += len(page)
    assert found == LONG
    assert "this is the end" in where
    assert "nothing is left" in retrieved(session, id=id_, offset=10**9)[0]


def test_words_are_found_anywhere_in_any_case_and_apart() -> None:
    session = opened()
    id_ = id_in(asked(session, "list_items", text(LONG)))
    place, *_ = retrieved(session, id=id_, search="ITEM 1234")
    assert '{"id": 1234, "name": "Item 1234"}' in place
    assert int(place.partition(":")[0].removeprefix("at ")) == LONG.index("Item 1234")
    apart, *_ = retrieved(session, id=id_, search="1234 name")
    assert "Item 1234" in apart
    assert "does not stand in" in retrieved(session, id=id_, search="dragon")[0]


def test_a_part_of_a_json_result_is_found_by_its_path() -> None:
    session = opened()
    id_ = id_in(asked(session, "list_items", text(json.dumps({"a/b": ITEMS}))))
    assert json.loads(retrieved(session, id=id_, path="/a~1b/1500")[0]) == ITEMS[1500]
    assert retrieved(session, id=id_, path="/a~1b/1500/name")[0] == "Item 1500"
    assert "There is nothing at" in retrieved(session, id=id_, path="/a~1b/-1")[0]
    assert "There is nothing at" in retrieved(session, id=id_, path="/a~1b/99999999999999999999")[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "id"),
        ({"id": "ffffffffffff"}, "Nothing is kept under the id 'ffffffffffff'"),
        ({"id": 5}, "id"),
        ({"id": "x", "offset": -1}, "offset"),
        ({"id": "x", "page": 2}, "page"),
    ],
)
def test_a_bad_call_of_the_tool_hears_what_is_wrong(arguments: dict[str, Any], said: str) -> None:
    session = opened()
    steps = session.from_client(
        message(id=2, method="tools/call", params={"name": "retrieve_result", "arguments": arguments})
    )
    assert shown(steps)["isError"] is True
    assert said in shown(steps)["content"][0]["text"]


def test_what_one_caller_keeps_another_does_not_get() -> None:
    policies = Policies(ProxySettings(fit=FIT, break_repeats=0))
    one, other = Session(policies, Catalogue()), Session(policies, Catalogue())
    for session in (one, other):
        session.from_client(message(id="list", method="tools/list"))
        session.from_server(message(id="list", result={"tools": TOOLS}))
    id_ = id_in(asked(one, "list_items", text(LONG)))
    assert retrieved(one, id=id_, limit=5)[0] == LONG[:5]
    assert "Nothing is kept" in retrieved(other, id=id_)[0]


def test_structured_content_is_shortened_only_as_far_as_its_schema_allows() -> None:
    session = opened()
    result = asked(session, "typed", text(LONG, structuredContent={"items": ITEMS}))
    assert result["structuredContent"]["items"][0] == ITEMS[0]
    assert len(json.dumps(result["structuredContent"])) < 2 * ROOM
    parts = result["_meta"]["dev.toolvet/fit"]
    assert [part.get("part") for part in parts] == [None, "structuredContent"]
    assert json.loads("".join(retrieved(session, id=parts[1]["id"], path="/items/1999")[:1])) == ITEMS[1999]
    kept_whole = asked(session, "strict", text(LONG, structuredContent={"items": ITEMS}))
    assert kept_whole["structuredContent"] == {"items": ITEMS}


def test_images_links_and_short_texts_stay_and_long_ones_share_the_room() -> None:
    image = {"type": "image", "data": "A" * 5_000, "mimeType": "image/png"}
    note = {"type": "text", "text": "12 items", "annotations": {"priority": 1}}
    resource = {"type": "resource", "resource": {"uri": "a://b", "text": "word " * 2_000}}
    long = {"type": "text", "text": "other " * 2_000}
    content = asked(opened(), "list_items", {"content": [image, note, resource, long]})["content"]
    assert content[:2] == [image, note]
    assert content[2]["resource"]["uri"] == "a://b"
    assert len(content[2]["resource"]["text"]) + len(content[3]["text"]) <= ROOM
    assert len(content) == 6


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_both_eras_get_the_form_of_their_era(era: str) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"} if era == "modern" else {}
    session = opened()
    whole = text(LONG, **({"resultType": "complete"} if meta else {}))
    id_ = id_in(asked(session, "list_items", whole, **meta))
    params = {"name": "retrieve_result", "arguments": {"id": id_, "limit": 5}, **({"_meta": meta} if meta else {})}
    result = shown(session.from_client(message(id=2, method="tools/call", params=params)))
    assert ("resultType" in result) is bool(meta)


def test_questions_back_and_tasks_are_left_alone() -> None:
    asking = text(LONG, resultType="input_required")
    assert asked(opened(), "list_items", asking)["content"] == asking["content"]


def test_a_tool_has_a_room_of_its_own() -> None:
    session = Session(Policies(ProxySettings(tools={"list_*": ToolSettings(fit=300)})))
    session.from_client(message(id="list", method="tools/list"))
    session.from_server(message(id="list", result={"tools": TOOLS}))
    assert len(asked(session, "list_items", text(LONG))["content"][0]["text"]) <= 900
    assert asked(session, "typed", text(LONG))["content"][0]["text"] == LONG


@pytest.mark.parametrize(
    ("fit", "text", "characters"),
    [
        (1_000, "plain " * 99, 3_000),
        ("1000", "plain " * 99, 3_000),
        ("1000 tokens", "plain " * 99, 3_000),
        ("40000 characters", "plain", 40_000),
        (1_000, "漢字" * 99, 1_000),
        (1, "plain", 600),
    ],
)
def test_a_token_is_three_bytes(fit: int | str, text: str, characters: int) -> None:
    assert FitRoom.of(fit).characters(text) == characters


def test_a_value_that_is_no_room_is_refused_where_it_stands(tmp_path: Any) -> None:
    file = tmp_path / "toolvet.toml"
    file.write_text('[proxy]\nfit = "many"\n')
    with pytest.raises(ConfigError, match=r"fit"):
        load_settings(file)


@given(st.text(min_size=700, max_size=3_000), st.integers(1, 700))
def test_no_character_is_lost(whole: str, limit: int) -> None:
    session = opened("600 characters")
    result = asked(session, "list_items", text(whole))
    if "_meta" not in result:
        assert result["content"][0]["text"] == whole
        return
    id_, found = id_in(result), ""
    while len(found) < len(whole):
        found += retrieved(session, id=id_, offset=len(found), limit=limit)[0]
    assert found == whole


def texts_with_a_needle(random: Random) -> Iterator[tuple[str, str, str]]:
    """Texts of four forms with one value at any place, the name that a question asks for, and the value."""
    for form in ("list", "object", "table", "log"):
        size, name, value = (
            random.randint(400, 2_000),
            f"ferry-{random.randint(10, 99)}x",
            str(random.randint(10**6, 10**7)),
        )
        names = [f"ferry-{random.randint(1_000, 9_999)}" for _ in range(size)]
        names[random.randrange(size)] = name
        rows = [(each, value if each == name else str(random.randint(10, 10**5))) for each in names]
        if form == "list":
            found = json.dumps([{"name": each, "speed": speed} for each, speed in rows])
        elif form == "object":
            found = json.dumps({"fleets": {"north": [], "south": [{"name": a, "speed": b} for a, b in rows]}}, indent=1)
        elif form == "table":
            found = "name,port,speed\n" + "\n".join(f"{each},Kiel,{speed}" for each, speed in rows)
        else:
            found = "\n".join(f"12:00:00 INFO {each} goes at {speed}" for each, speed in rows)
        yield found, name, value


def test_a_value_anywhere_is_in_the_text_or_one_search_away() -> None:
    random = Random(2026)  # noqa: S311 - no secret
    session = opened("3000 characters")
    for _ in range(10):
        for whole, name, value in texts_with_a_needle(random):
            result = asked(session, "list_items", text(whole))
            if name not in result["content"][0]["text"]:
                assert value in retrieved(session, id=id_in(result), search=name)[0]
