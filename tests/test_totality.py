"""Every public function gives a verdict for any value and any of its options, or raises what its page says.

`fuzz/targets/` has promises about the same functions, for inputs that coverage guides.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

from hypothesis import given, strategies as st
from tests.strategies import (
    ANSWER_OPTIONS,
    ANY,
    CALL,
    FIT_OPTIONS,
    JSON,
    MESSAGE,
    RESULT,
    RESULT_OPTIONS,
    SCHEMA,
    TEXT,
    TOOL,
    TURN_OPTIONS,
)

import toolvet
from toolvet.core.redact import redact, redact_text
from toolvet.core.tools import view_of

Options = dict[str, Any]
SETTINGS = toolvet.Settings()


@given(TOOL, ANY | JSON | TEXT, st.sampled_from(["refuse", "pass"]), st.none() | TEXT)
def test_arguments(tool: object, arguments: object, unchecked: Any, trace: str | None) -> None:
    view_of(tool)
    try:
        report = toolvet.check_arguments(tool, arguments, unchecked=unchecked, trace=trace)
    except toolvet.ToolShapeError:
        assert unchecked == "refuse"
        return
    assert report.valid is not bool(report.issues)
    assert (report.summary, report.schema, report.is_checked) is not None
    json.dumps(report.to_dict())
    assert len(report.to_text(max_chars=500)) <= 500
    assert report.to_text()
    assert repr(report)
    assert report.without_repair().repair is None
    if not report.valid:
        json.dumps([report.to_result("modern"), report.to_result("legacy")])


@given(TOOL, ANY, RESULT, RESULT_OPTIONS)
def test_results(tool: object, arguments: object, result: object, options: Options) -> None:
    verdict = toolvet.check_result(tool, arguments, result, **options)
    json.dumps(verdict.to_dict())
    assert 0 <= toolvet.overall_confidence([verdict, verdict]) <= 100
    json.dumps(toolvet.extract_metadata(tool, result).to_dict())
    toolvet.is_business_logic_error(tool, arguments, result, ["bad"], ["21"])
    toolvet.ResultCheck()(tool, arguments, result)


@given(TEXT | st.none(), TURN_OPTIONS, ANSWER_OPTIONS)
def test_answers(text: str | None, turn: Options, options: Options) -> None:
    quality = toolvet.check_answer(text, **turn, **options)
    json.dumps(quality.to_dict())
    assert 0 <= quality.score <= 1
    toolvet.regeneration_advice(quality, question="How much?", calls=turn.get("calls"))
    assert toolvet.check_answers([text], **options) == [toolvet.check_answer(text, **options)]
    json.dumps(toolvet.quality_summary([quality]).to_dict())
    calls, question = turn.get("calls"), turn.get("question")
    assert toolvet.best_answer([text, text], calls=calls, question=question, **options).index == 0


@given(st.lists(TEXT | st.none(), max_size=4), TURN_OPTIONS, ANSWER_OPTIONS)
def test_streams(chunks: Sequence[str | None], turn: Options, options: Options) -> None:
    stream = toolvet.AnswerStream(**options)
    for chunk in chunks:
        stream.feed(chunk)
    stream.finish(**turn)

    async def passed() -> list[str | None]:
        async def source() -> AsyncIterator[str | None]:
            for chunk in chunks:
                yield chunk

        return [chunk async for chunk in toolvet.vet_stream(source(), text=lambda chunk: chunk, **options)]

    assert asyncio.run(passed()) == list(chunks)


@given(st.lists(MESSAGE, max_size=5) | ANY, st.none() | st.lists(TOOL, max_size=2) | ANY, ANSWER_OPTIONS)
def test_conversations(messages: object, tools: object, options: Options) -> None:
    try:
        turns = toolvet.turns(messages)
    except TypeError:
        return
    assert repr(turns)
    with contextlib.suppress(TypeError):  # `tools` is a value of Python in which there is no tool.
        json.dumps(toolvet.check_conversation(messages, tools=tools, **options).to_dict())


@given(SCHEMA | ANY, ANY | JSON)
def test_schemas(schema: object, value: object) -> None:
    toolvet.invalid_examples(schema)
    for required_only in (False, True):
        # No value satisfies the schema, or none was found.
        with contextlib.suppress(toolvet.ToolvetError):
            toolvet.valid_example(schema, required_only=required_only)
    found = toolvet.repair(schema, value)
    assert found is None or 0 <= found.certainty <= 1


@given(TEXT)
def test_texts(text: str) -> None:
    toolvet.recover(text)
    assert redact_text(redact_text(text)) == redact_text(text)
    with contextlib.suppress(toolvet.ConfigError):
        toolvet.read_wording(text)


@given(ANY)
def test_envelopes(value: object) -> None:
    toolvet.check_envelope(value)
    toolvet.check_envelope({"success": True, "data": value, "meta": value, "error": value})
    redact(value)


@given(JSON | ANY, st.integers(0, 3_000), FIT_OPTIONS)
def test_fitting(value: object, budget: int, options: Options) -> None:
    data = {"a": [value, value, {"id": 1, "a": value}], "b": value}
    try:
        fitted = toolvet.fit_response(data, budget, **options)
    except toolvet.EnvelopeError:
        return
    json.dumps(fitted.to_dict())


@given(st.dictionaries(st.sampled_from(["data", "details", "meta", "telemetry", "rate_limit"]), ANY, max_size=3), TEXT)
def test_building(options: Options, text: str) -> None:
    builders = (
        lambda: toolvet.error_response(text, **options),
        lambda: toolvet.success_response(options.get("data"), meta=options.get("meta")),
        lambda: toolvet.not_found_error(text, text, remediation=text),
        lambda: toolvet.validation_error(text, details=options.get("details")),
        lambda: toolvet.rate_limit_error(1, text, 2.5, reset_at=text),
    )
    for build in builders:
        with contextlib.suppress(toolvet.EnvelopeError):
            json.dumps(build().to_dict())  # type: ignore[no-untyped-call]


@given(st.lists(CALL, max_size=4))
def test_calls_of_any_form(calls: Sequence[object]) -> None:
    toolvet.check_answer("I've sent the 2 emails; it costs 21 EUR.", calls=calls).to_dict()
    toolvet.check_answer("I've sent the 2 emails; it costs 21 EUR.", question=calls, calls=[]).to_dict()


@given(ANY | TEXT)
def test_calls_that_are_no_list(calls: Any) -> None:
    toolvet.check_answer("It costs 21 EUR.", calls=calls, question=calls)
