"""Which tools are called first: those whose arguments need no guessing, because their results feed the others."""

from collections.abc import Sequence

from toolvet.assess.harvest import Harvest, Name
from toolvet.assess.rules import ObservedCall, Outcome, ToolDefinition, tool_definition
from toolvet.assess.waves import Waves, guessed_parameters
from toolvet.core.checks.result import check_result

TEXT = {"type": "string"}


def tool(name: str, *required: str, **properties: object) -> ToolDefinition:
    schema = {"type": "object", "properties": dict.fromkeys(required, TEXT) | properties, "required": list(required)}
    return tool_definition({"name": name, "inputSchema": schema})


def gather(harvest: Harvest, **structured: object) -> None:
    listing = tool("list_things")
    result = {"content": [{"type": "text", "text": "ok"}], "structuredContent": structured}
    verdict = check_result(listing.raw, {}, result)
    harvest.gather([ObservedCall(tool=listing, arguments={}, outcome=Outcome.RESULT, result=result, verdict=verdict)])


def test_the_example_of_the_module_holds() -> None:
    harvest = Harvest()
    tools = [tool("get_book", "book_id"), tool("list_books"), tool("review", "book_id", "text")]
    waves = Waves(tools, harvest, {}, {})
    assert waves.next() == (1,)
    gather(harvest, books=[{"id": "b-17"}])
    assert waves.next() == (0,)
    assert waves.next() == (2,)
    assert waves.next() == ()


def test_a_tool_is_ready_once_its_free_strings_are_known() -> None:
    reserve = tool("reserve", "book_id", "copies", copies={"type": "integer"})
    other = tool("other")
    assert Waves([reserve, other], Harvest(), {}, {}).next() == (1,)
    assert Waves([reserve, other], Harvest(), {}, {"book_id": "b"}).next() == (0, 1)
    assert Waves([reserve, other], Harvest(), {"reserve": [{"book_id": "b"}]}, {}).next() == (0, 1)
    filled = Harvest()
    gather(filled, books=[{"id": "b-17"}])
    assert Waves([reserve, other], filled, {}, {}).next() == (0, 1)


def test_what_lists_things_comes_before_what_else_is_ready_and_a_search_before_other_guesses() -> None:
    tools = [tool("status"), tool("refers_to", "symbol"), tool("search", "query"), tool("list_books"), tool("info")]
    waves = Waves(tools, Harvest(), {}, {})
    assert [waves.next() for _ in range(5)] == [(3,), (0, 4), (2,), (1,), ()]


def test_only_strings_that_the_schema_says_nothing_of_need_guessing() -> None:
    properties = {
        "free": TEXT,
        "list": {"type": "array", "items": TEXT},
        "number": {"type": "number"},
        "chosen": {"enum": ["a"]},
        "day": {"type": "string", "format": "date"},
        "shown": {"type": "string", "examples": ["x"]},
        "shown_list": {"type": "array", "items": {"type": "string", "enum": ["x"]}},
    }
    assert guessed_parameters(tool("t", *properties, **properties), {}) == ("free", "list")


def test_tools_that_wait_for_what_never_comes_are_called_one_by_one_in_their_order() -> None:
    waves = Waves([tool("a", "x"), tool("b", "y"), tool("c", "z")], Harvest(), {}, {})
    assert [waves.next() for _ in range(4)] == [(0,), (1,), (2,), ()]


def test_a_tool_is_called_once_even_if_its_value_turns_up_afterwards() -> None:
    harvest = Harvest()
    waves = Waves([tool("a", "book_id"), tool("b", "book_id", "text")], harvest, {}, {})
    assert waves.next() == (0,)
    gather(harvest, books=[{"id": "b-17"}])
    assert waves.next() == (1,)
    gather(harvest, text="hello")
    assert waves.next() == ()


class CountingNames(Sequence[Name]):
    """The names of a harvest; counts how many are looked at."""

    def __init__(self) -> None:
        self.names, self.looks = list[Name](), 0

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, places: int | slice) -> Name | Sequence[Name]:  # type: ignore[override] # only slices are asked
        found = self.names[places]
        self.looks += len(found)
        return found


class CountingHarvest(Harvest):
    def __init__(self) -> None:
        super().__init__()
        self.counting = CountingNames()

    @property
    def names(self) -> Sequence[Name]:
        return self.counting


def test_twenty_thousand_tools_are_ordered_with_one_look_at_each_name() -> None:
    """Each tool feeds the next, which is the longest way: a wave for each tool, and a new name after each wave."""
    many = 20_000
    harvest = CountingHarvest()
    waves = Waves([tool(f"t{n}", f"key{n} value") for n in range(many)], harvest, {}, {})
    for n in range(many):
        assert waves.next() == (n,)
        harvest.counting.names.append((f"made{n}",))
    assert waves.next() == ()
    assert harvest.counting.looks == many
