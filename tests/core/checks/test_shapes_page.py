"""docs/shapes.md is what the tables of shapes say."""

import subprocess
import sys
from pathlib import Path

from toolvet.core.checks.result.page import render_shapes_page
from toolvet.core.checks.result.shapes import (
    EXCEPTION,
    HTTP_RESPONSE,
    JSON_RPC,
    NOTHING,
    PAYLOAD,
    TEXT,
    result_shapes,
)
from toolvet.core.tools.shape import readable_shapes

PAGE = Path(__file__).parents[3] / "docs" / "shapes.md"


def test_the_page_is_up_to_date() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == render_shapes_page(), "python -m toolvet.core.checks.result.page > docs/shapes.md"


def test_as_a_program_it_prints_the_page() -> None:
    words = [sys.executable, "-m", "toolvet.core.checks.result.page"]
    assert subprocess.run(words, capture_output=True, encoding="utf-8", check=True).stdout == render_shapes_page()


def test_every_shape_is_on_the_page() -> None:
    page = render_shapes_page()
    for name in (*(name for name, _ in readable_shapes()), *(shape.name for shape in result_shapes())):
        assert f"| {name} |" in page
    for name in (EXCEPTION, HTTP_RESPONSE, JSON_RPC, NOTHING, PAYLOAD, TEXT):
        assert f"| {name} |" in page
