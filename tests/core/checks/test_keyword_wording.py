"""Each row of the wording of arguments is shown at work by a case in keywords.toml."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from toolvet import check_arguments

CASES = tomllib.loads((Path(__file__).parent / "keywords.toml").read_text(encoding="utf-8"))["case"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["row"]))
def test_a_broken_keyword_is_put_in_the_words_of_its_row(case: Mapping[str, Any]) -> None:
    report = check_arguments({"name": "t", "inputSchema": json.loads(case["schema"])}, json.loads(case["arguments"]))
    assert [issue.problem for issue in report.issues] == [case["problem"]]
