"""The list of tools behind the schema check: read when needed, read again when it may have changed."""

import asyncio
from collections.abc import Sequence

import pytest
from tests.mcp.client.recording import PATH, Recorded

from toolvet.mcp.client import Validator

GOOD = {"path": "a.txt"}


class Listing:
    """`list_tools`: each reading brings the next list, and the last one again and again."""

    def __init__(self, *lists: Sequence[object]) -> None:
        self._lists = lists
        self.read = 0

    async def __call__(self) -> Sequence[object]:
        self.read += 1
        await asyncio.sleep(0)
        return self._lists[min(self.read, len(self._lists)) - 1]


def validator(tools: object) -> Validator:
    return Validator(Recorded(None), capabilities={}, tools=tools)  # type: ignore[arg-type]


def test_the_list_is_read_once_for_many() -> None:
    async def run() -> None:
        tools = Listing([PATH])
        asking = validator(tools)
        found = await asyncio.gather(*(asking.validate("read", GOOD) for _ in range(20)))
        assert all(one.valid for one in found)
        assert tools.read == 1

    asyncio.run(run())


def test_a_tool_that_is_missing_is_looked_for_in_a_new_list() -> None:
    async def run() -> None:
        tools = Listing([], [PATH])
        asking = validator(tools)
        assert (await asking.validate("read", GOOD)).errors == ("The server has no tool 'read'.",)
        assert (await asking.validate("read", GOOD)).valid
        assert tools.read == 2

    asyncio.run(run())


def test_a_changed_list_is_read_again() -> None:
    async def run() -> None:
        tools = Listing([PATH], [{**PATH, "inputSchema": {"type": "object", "required": ["file"]}}])
        asking = validator(tools)
        assert (await asking.validate("read", GOOD)).valid
        asking.invalidate("tools/list_changed")
        assert not (await asking.validate("read", GOOD)).valid

    asyncio.run(run())


def test_a_list_that_changed_while_it_was_read_is_not_kept() -> None:
    async def run() -> None:
        reading, go_on = asyncio.Event(), asyncio.Event()
        reads: list[int] = []

        async def slow() -> Sequence[object]:
            reads.append(1)
            reading.set()
            await go_on.wait()
            return [PATH]

        asking = validator(slow)
        first = asyncio.create_task(asking.validate("read", GOOD))
        await reading.wait()
        asking.invalidate("tool_update")
        go_on.set()
        assert (await first).valid
        assert (await asking.validate("read", GOOD)).valid
        assert len(reads) == 2

    asyncio.run(run())


def test_an_unknown_tool_is_not_valid_and_a_near_name_is_offered() -> None:
    found = asyncio.run(validator([PATH]).validate("fs:raed", GOOD))
    assert (found.valid, found.method, found.report) == (False, "schema", None)
    assert found.errors == ("The server has no tool 'raed'; did you mean 'read'?",)


def test_a_list_that_cannot_be_read_makes_nothing_valid() -> None:
    async def broken() -> Sequence[object]:
        raise ConnectionError("gone")

    found = asyncio.run(validator(broken).validate("read", GOOD))
    assert not found.valid
    assert found.errors == ("The tool list could not be read, so nothing is known of 'read': gone",)


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ({"name": "read"}, "the tool has no inputSchema"),
        ({"name": "read", "inputSchema": {"type": "objekt"}}, "cannot be used"),
        ({"name": "read", "inputSchema": {"$ref": "https://example.com/a"}}, "cannot be used"),
    ],
    ids=["no schema", "no JSON Schema", "elsewhere"],
)
def test_a_tool_without_a_usable_schema_lets_every_object_pass_with_a_warning(tool: object, words: str) -> None:
    found = asyncio.run(validator([tool]).validate("read", {"anything": 1}))
    assert (found.valid, found.method) == (True, "schema")
    assert words in found.warnings[0]
    assert not asyncio.run(validator([tool]).validate("read", ["a"])).valid


def test_a_name_with_a_colon_is_taken_whole_once_a_list_was_read_that_has_it() -> None:
    async def run() -> None:
        asking = validator([{**PATH, "name": "fs:read"}, {"name": "read", "inputSchema": {"not": {}}}])
        await asking.validate("read", {})
        assert (await asking.validate("fs:read", GOOD)).valid

    asyncio.run(run())


def test_entries_that_are_not_tools_are_passed_over() -> None:
    asking = validator(["x", None, {"name": 5}, PATH, {**PATH, "inputSchema": {"not": {}}}])
    assert asyncio.run(asking.validate("read", GOOD)).valid
