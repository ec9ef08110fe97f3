"""What tools/list costs a model is counted near what real tokenizers count, without one."""

from typing import Any

import pytest

from toolvet.assess.tokens import count_definition, count_tokens

SEARCH = {
    "name": "search_notes",
    "description": "Searches all notes for a text and returns the ten best matches, newest first. Use it when the user "
    "asks for something that was written down before.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words to look for", "minLength": 1, "maxLength": 200},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
}
CONVERT = {
    "name": "convertCurrency",
    "description": "Convert an amount between two currencies (ISO 4217 codes, e.g. EUR, USD) at the rate of a day "
    "(YYYY-MM-DD).",
    "inputSchema": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "amount": {"type": "number", "exclusiveMinimum": 0},
            "from": {"type": "string", "pattern": "^[A-Z]{3}$"},
            "to": {"type": "string", "pattern": "^[A-Z]{3}$"},
            "date": {"type": "string", "format": "date"},
        },
        "required": ["amount", "from", "to"],
    },
}
WEATHER = {
    "name": "天气",
    "description": "获取指定城市的天气预报，返回温度和湿度。",  # noqa: RUF001 - Chinese
    "inputSchema": {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "城市名称，例如北京"}},  # noqa: RUF001 - Chinese
        "required": ["city"],
    },
}
FORECAST = {
    "name": "pogoda",
    "description": "Возвращает прогноз погоды для указанного города на несколько дней вперёд.",
    "inputSchema": {"type": "object", "properties": {"city": {"type": "string", "description": "Название города"}}},
}


# Counted by js-tiktoken 1.0.21 (o200k_base) and @anthropic-ai/tokenizer 0.0.4.
@pytest.mark.parametrize(
    ("tool", "openai", "anthropic", "most"),
    [(SEARCH, 112, 114, 0.08), (CONVERT, 127, 135, 0.08), (WEATHER, 51, 62, 0.5), (FORECAST, 47, 74, 0.5)],
)
def test_the_count_is_near_that_of_real_tokenizers(tool: Any, openai: int, anthropic: int, most: float) -> None:
    assert count_definition(tool) == pytest.approx(openai, rel=most)
    assert count_definition(tool) == pytest.approx(anthropic, rel=most)


def test_what_stays_with_the_client_costs_nothing() -> None:
    more = {"annotations": {"readOnlyHint": True}, "outputSchema": {"type": "object"}, "_meta": {"a": "b" * 500}}
    assert count_definition({**SEARCH, **more}) == count_definition(SEARCH)


@pytest.mark.parametrize("raw", [None, 3, "tool", [], {}, {"title": "x"}])
def test_what_is_no_tool_costs_nothing(raw: object) -> None:
    assert count_definition(raw) == 0


def test_what_no_encoder_takes_is_counted_by_its_texts() -> None:
    deep: Any = {}
    for _ in range(3_000):
        deep = {"properties": deep}
    for schema in (deep, {"maximum": 10**400}, {"title": "\ud800"}):
        assert count_definition({"name": "a", "description": "Reads it.", "inputSchema": schema}) == 4


def test_of_a_huge_text_the_beginning_is_counted() -> None:
    assert count_tokens("word " * 1_000_000) == pytest.approx(1_000_000, rel=0.01)
