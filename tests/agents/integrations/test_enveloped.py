"""Return values and exceptions become responses; details not meant for callers stay inside."""

import asyncio
import dataclasses
import functools
import inspect
import logging
import re
from collections.abc import Iterator
from datetime import date
from typing import Annotated, Any, TypedDict

import fastmcp
import pytest
from fastmcp.exceptions import ToolError as FastMCPToolError
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from pydantic import BaseModel, Field

import mcp
import toolvet
from toolvet import (
    ContentArchive,
    Envelope,
    EnvelopeError,
    UsageError,
    check_envelope,
    conflict_error,
    fit_response,
    not_found_error,
    success_response,
)
from toolvet.agents.integrations.enveloped import META_KEY, enveloped, placed, prose, to_result
from toolvet.core.envelope import ResponseError, output_schema, response_contract
from toolvet.core.schema import compiled


class Ship(BaseModel):
    """A pydantic model."""

    name: str
    built: date
    sisters: "list[Ship]" = []


@dataclasses.dataclass
class Port:
    """A dataclass."""

    name: str
    depth: float


class Berth(TypedDict):
    """A typed dictionary."""

    number: int


def structured(result: Any) -> dict[str, Any]:
    assert isinstance(result, CallToolResult)
    found: dict[str, Any] = result.structured_content
    assert check_envelope(found) == ()
    assert result.is_error is (not found["success"])
    assert result.content[0].type == "text"
    assert result.content[0].text.startswith('{"success":')
    return found


def data_of(result: Any) -> Any:
    return structured(result)["data"]


def returning(value: object) -> Any:
    @enveloped
    def tool() -> Any:
        return value

    return tool()


def raising(error: Exception, **options: Any) -> dict[str, Any]:
    @enveloped(**options)
    def tool() -> None:
        raise error

    return structured(tool())


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ({"n": 1}, {"n": 1}),
        ({}, {}),
        (None, {}),
        ([1, 2], {"result": [1, 2]}),
        ("text", {"result": "text"}),
        (0, {"result": 0}),
        (Ship(name="Ann", built=date(1912, 4, 10)), {"name": "Ann", "built": "1912-04-10", "sisters": []}),
        (Port("Oslo", 9.5), {"name": "Oslo", "depth": 9.5}),
        ({"seen": {date(2020, 1, 1)}}, {"seen": ["2020-01-01"]}),
    ],
)
def test_what_a_function_returns_is_the_data(value: object, data: object) -> None:
    assert data_of(returning(value)) == data


def test_a_response_is_sent_as_it_is_with_its_duration() -> None:
    found = structured(returning(success_response({"n": 1}, request_id="r1", telemetry={"cache_hit": True})))
    assert found["meta"]["request_id"] == "r1"
    assert found["meta"]["telemetry"]["cache_hit"] is True
    assert found["meta"]["telemetry"]["duration_ms"] >= 0
    assert structured(returning(conflict_error("Taken")))["error"] == "Taken"
    own = success_response(telemetry={"duration_ms": 7})
    assert structured(returning(own))["meta"]["telemetry"] == {"duration_ms": 7}


def test_a_question_back_to_the_client_passes() -> None:
    params = ElicitRequestFormParams(message="Sure?", requested_schema={"type": "object", "properties": {}})
    question = InputRequiredResult(input_requests={"ok": ElicitRequest(params=params)}, request_state="x")
    assert returning(question) is question


CYCLE: list[object] = []
CYCLE.append(CYCLE)


@pytest.mark.parametrize("value", [float("nan"), object(), CYCLE, b"\xff", {"a": float("inf")}, iter([1])])
def test_what_json_cannot_hold_is_our_fault_and_nothing_of_it_gets_out(
    value: object, caplog: pytest.LogCaptureFixture
) -> None:
    result = returning(value)
    found = structured(result)
    if found["success"]:  # pydantic writes some of these as null or as a list.
        assert compiled(output_schema()).is_valid(found)
        return
    assert found["data"]["error_code"] == "INTERNAL_ERROR"
    assert found["data"]["details"]["reference"] in caplog.text


def test_a_value_that_breaks_its_own_annotation_is_our_fault() -> None:
    @enveloped
    def tool() -> Ship:
        return {"name": "Ann"}  # type: ignore[return-value]

    assert data_of(tool())["error_code"] == "INTERNAL_ERROR"


def test_failures_are_raised_from_anywhere() -> None:
    found = raising(ResponseError(not_found_error("Ship", "s1")))
    assert (found["error"], found["data"]["error_code"]) == ("Ship 's1' not found", "NOT_FOUND")
    with pytest.raises(EnvelopeError, match="must be a failure"):
        ResponseError(success_response())
    with pytest.raises(EnvelopeError, match="must be an Envelope"):
        ResponseError("oops")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (ValueError("days must be positive"), "VALIDATION_ERROR", "days must be positive"),
        (ToolError("Ask the harbour master."), "TOOL_ERROR", "Ask the harbour master."),
        (FastMCPToolError("Ask again."), "TOOL_ERROR", "Ask again."),
    ],
)
def test_what_is_said_to_the_caller_reaches_it(error: Exception, code: str, said: str) -> None:
    found = raising(error)
    assert (found["data"]["error_code"], found["error"]) == (code, said)


def test_messages_lose_their_secrets_and_what_is_too_much() -> None:
    assert "hunter2" not in raising(ValueError("cannot log in with password=hunter2"))["error"]
    assert len(raising(ValueError("x" * 50_000))["error"]) == 1000


class OddError(Exception):
    """One whose text cannot be had."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


UNEXPECTED = [
    RuntimeError("password=hunter2"),
    KeyError("hunter2"),
    FileNotFoundError(2, "No such file", "/etc/hunter2"),
    UnicodeDecodeError("utf-8", b"hunter2", 0, 1, "hunter2"),
    EnvelopeError("hunter2", "is wrong"),
    ValueError(""),
    OddError(),
    ExceptionGroup("hunter2", [ValueError("hunter2")]),
]


@pytest.mark.parametrize("error", UNEXPECTED, ids=lambda error: type(error).__name__)
def test_of_an_unexpected_exception_only_a_reference_gets_out(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    found = raising(error)
    assert "hunter2" not in str(found)
    assert found["data"]["error_type"] == "internal"
    reference = re.fullmatch(r"An internal error occurred \(reference ([0-9a-f]{12})\)", found["error"])
    assert reference is not None
    assert found["data"]["details"] == {"reference": reference[1]}
    assert f"tool failed, reference {reference[1]}" in caplog.text
    assert "Traceback" in caplog.text
    assert caplog.records[0].levelno == logging.ERROR


def test_the_log_has_the_message_but_not_the_secret(caplog: pytest.LogCaptureFixture) -> None:
    raising(RuntimeError("cannot reach db with password=hunter2"))
    assert "cannot reach db" in caplog.text
    assert "password=[redacted]" in caplog.text


def test_what_does_not_answer_is_unavailable_and_its_address_stays_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    for error, code in (
        (TimeoutError("10.0.0.7 timed out"), "TIMEOUT"),
        (ConnectionRefusedError(111, "10.0.0.7"), "UNREACHABLE"),
    ):
        found = raising(error)
        assert (found["data"]["error_code"], found["data"]["error_type"]) == (code, "unavailable")
        assert check_envelope(found) == ()
        assert "10.0.0.7" not in str(found)
        assert "10.0.0.7" in caplog.text


def test_the_author_says_what_exceptions_become() -> None:
    errors: Any = {
        LookupError: "NOT_FOUND",
        ZeroDivisionError: lambda error: conflict_error(f"Cannot share: {error}"),
        ValueError: None,
        OSError: lambda _: 1 / 0,
    }
    assert raising(KeyError("no such ship"), errors=errors)["data"]["error_type"] == "not_found"
    assert raising(ZeroDivisionError("by zero"), errors=errors)["error"] == "Cannot share: by zero"
    assert raising(ValueError("private"), errors=errors)["data"]["error_code"] == "INTERNAL_ERROR"
    assert raising(OSError("private"), errors=errors)["data"]["error_code"] == "INTERNAL_ERROR"


def test_protocol_errors_and_the_end_of_the_process_pass() -> None:
    for error in (mcp.MCPError(code=-32602, message="Unknown tool"), KeyboardInterrupt()):

        @enveloped
        def tool(error: BaseException = error) -> None:
            raise error

        with pytest.raises(type(error)):
            tool()


def test_async_functions_and_cancellation() -> None:
    @enveloped
    async def tool(wait: float = 0) -> dict[str, float]:
        """Wait."""
        await asyncio.sleep(wait)
        return {"waited": wait}

    assert inspect.iscoroutinefunction(tool)
    assert data_of(asyncio.run(tool())) == {"waited": 0}

    async def cancelled() -> None:
        task = asyncio.create_task(tool(60))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())


def test_partials_methods_and_objects_can_be_called_too() -> None:
    class Office:
        """Has a desk."""

        def ask(self, name: str) -> dict[str, str]:
            """Ask."""
            return {"name": name}

        async def __call__(self, name: str) -> dict[str, str]:
            return {"called": name}

    def add(first: int, second: int) -> int:
        return first + second

    assert data_of(enveloped(Office().ask)("Ann")) == {"name": "Ann"}
    assert data_of(asyncio.run(enveloped(Office())("Ann"))) == {"called": "Ann"}
    assert data_of(enveloped(functools.partial(add, 2))(second=3)) == {"result": 5}


def test_signature_text_and_hints_stay() -> None:
    def ship(name: Annotated[str, Field(description="Its name.")], year: "int" = 1900) -> Ship:
        """Look up a ship."""
        raise NotImplementedError(name, year)

    tool = enveloped(ship)
    assert (tool.__name__, tool.__doc__) == ("ship", "Look up a ship.")
    given = inspect.signature(tool).parameters
    assert str(given["name"].annotation) == str(inspect.signature(ship).parameters["name"].annotation)
    assert (given["year"].annotation, given["year"].default) == (int, 1900)


@pytest.mark.parametrize("server", ["fastmcp", "mcpserver"])
def test_frameworks_make_the_same_schemas_as_without(server: str) -> None:
    def ship(name: Annotated[str, Field(description="Its name.", max_length=9)], year: int = 1900) -> Ship:
        """Look up a ship."""
        raise NotImplementedError(name, year)

    async def listed(function: Any, **options: Any) -> tuple[Any, Any, Any]:
        if server == "fastmcp":
            own: fastmcp.FastMCP[Any] = fastmcp.FastMCP("x")
            own.tool(function, **options)
            (tool,) = await own.list_tools()
            return tool.parameters, tool.output_schema, tool.description
        sdk: mcp.server.MCPServer[Any] = mcp.server.MCPServer("x")
        sdk.tool()(function)
        (found,) = await sdk.list_tools()
        return found.input_schema, found.output_schema, found.description

    plain = asyncio.run(listed(ship))
    for output in ("envelope", "data", "none"):
        made = asyncio.run(listed(enveloped(output=output)(ship)))
        assert (made[0], made[2]) == (plain[0], plain[2])
        if output == "none":
            assert made[1] is None
        else:
            schema = compiled(made[1])
            good: dict[str, Any] = {"name": "Ann", "built": "1912-04-10", "sisters": []}
            document = success_response(good).to_dict() if output == "envelope" else good
            assert schema.is_valid(document)
            broken = success_response({**good, "sisters": "none"}).to_dict()
            assert not schema.is_valid(broken if output == "envelope" else {"name": 1})
            assert schema.is_valid(conflict_error("Taken").to_dict()) is (output == "envelope")


def test_the_bare_data_is_structured_where_the_tool_promises_it() -> None:
    @enveloped(output="data")
    def count(upto: int) -> list[int]:
        if upto < 0:
            raise ValueError("upto must not be negative")
        return list(range(upto))

    good = count(3)
    assert good.structured_content == {"result": [0, 1, 2]}
    assert check_envelope(good.meta[META_KEY]) == ()
    bad = count(-1)
    assert (bad.is_error, bad.structured_content) == (True, None)
    assert bad.meta[META_KEY]["data"]["error_code"] == "VALIDATION_ERROR"


def test_without_an_output_schema_there_is_no_structured_content() -> None:
    @enveloped(output="none")
    def ping() -> str:
        return "pong"

    result = ping()
    assert result.structured_content is None
    assert result.meta[META_KEY]["data"] == {"result": "pong"}


def test_the_text_may_be_prose_or_ones_own() -> None:
    @enveloped(text="prose")
    def failing() -> None:
        raise ResponseError(
            toolvet.validation_error("2 fields are wrong", errors=[{"field": "a", "message": "is odd"}])
        )

    assert failing().content[0].text == "2 fields are wrong\n- a: is odd"
    response = success_response({"n": 1}, warnings=["old"], warning_details=[{"message": "stale"}])
    assert prose(response) == '{"n":1}\nWarning: old\nWarning: stale'
    assert to_result(response, text=lambda envelope: f"{len(envelope.data)} member").content[0].text == "1 member"  # type: ignore[union-attr]


def test_the_text_follows_the_contract_that_the_caller_asked_for() -> None:
    with response_contract("v1"):
        result = returning({"n": 1})
    assert result.content[0].text == '{"n":1}'
    assert result.structured_content["meta"]["version"] == "response-v2"


@pytest.mark.parametrize(
    ("schema", "home"),
    [
        (None, "_meta"),
        ({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}, "data"),
        ({"type": "object"}, "structuredContent"),
        (output_schema(), "structuredContent"),
    ],
)
def test_an_envelope_is_structured_only_where_the_schema_admits_it(schema: Any, home: str) -> None:
    good, bad = success_response({"n": 1}), conflict_error("Taken")
    for era in ("legacy", "modern"):
        for envelope in (good, bad):
            result: dict[str, Any] = placed(envelope, schema, era=era)
            assert ("resultType" in result) is (era == "modern")
            assert ("structuredContent" in result) is (
                home == "structuredContent" or (home == "data" and envelope is good)
            )
            if "structuredContent" in result and schema is not None:
                assert compiled(schema).is_valid(result["structuredContent"])
            if home == "structuredContent":
                assert result["structuredContent"] == envelope.to_dict()
            else:
                assert result["_meta"][META_KEY] == envelope.to_dict()


def test_what_is_too_long_is_shortened_with_the_duration_counted() -> None:
    archive = ContentArchive()

    @enveloped(fit=functools.partial(fit_response, budget=1500, archive=archive))
    def rows() -> list[dict[str, int]]:
        return [{"id": number} for number in range(1000)]

    result = rows()
    found = structured(result)
    assert len(result.content[0].text) <= 1500
    assert found["meta"]["content_fidelity"] == "partial"
    assert "duration_ms" in found["meta"]["telemetry"]
    assert found["meta"]["content_archive_hashes"]["archive"] in archive


def test_a_budget_that_nothing_fits_is_our_fault(caplog: pytest.LogCaptureFixture) -> None:
    @enveloped(fit=functools.partial(fit_response, budget=10))
    def rows() -> list[int]:
        return list(range(1000))

    assert data_of(rows())["error_code"] == "INTERNAL_ERROR"
    assert "budget must be at least" in caplog.text


def test_a_text_function_that_breaks_is_our_fault(caplog: pytest.LogCaptureFixture) -> None:
    @enveloped(text=lambda _: str(1 // 0))
    def ping() -> str:
        return "pong"

    assert data_of(ping())["error_code"] == "INTERNAL_ERROR"
    assert "ZeroDivisionError" in caplog.text


def numbers() -> Iterator[int]:
    yield 1


def test_options_that_cannot_be_meant_are_refused_at_once() -> None:
    for options in ({"output": "xml"}, {"text": 3}, {"output": "data", "fit": fit_response}):
        with pytest.raises(UsageError):
            enveloped(**options)
    with pytest.raises(EnvelopeError, match="generator"):
        enveloped(numbers)
    with pytest.raises(EnvelopeError, match="must be a function"):
        enveloped(3)  # type: ignore[call-overload]


def test_an_envelope_annotation_declares_the_envelope_alone() -> None:
    @enveloped
    def tool() -> Envelope:
        return success_response()

    hint = tool.__annotations__["return"]
    assert hint.__metadata__[0].model_json_schema() == output_schema()
