"""Each category of scenarios plans the calls that its cases name: categories/, one file a category."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from toolvet.assess.exchange import SeededChoice
from toolvet.assess.harvest import Harvest
from toolvet.assess.rules import tool_definition
from toolvet.assess.values import Values
from toolvet.core.discover import modules

CATEGORIES = {module.__name__.rpartition(".")[2]: module for module in modules("toolvet.assess.scenarios")}
FOLDER = Path(__file__).parent / "categories"


def cases() -> Iterator[Any]:
    for path in sorted(FOLDER.glob("*.toml")):
        for case in tomllib.loads(path.read_text(encoding="utf-8"))["case"]:
            yield pytest.param(path.stem, case, id=f"{path.stem}: {case['says']}")


@pytest.mark.parametrize(("name", "case"), list(cases()))
def test_a_category_plans_the_calls_that_its_case_names(name: str, case: Mapping[str, Any]) -> None:
    tool = tool_definition({"name": "reserve", "inputSchema": json.loads(case["schema"])})
    category = CATEGORIES[name]
    planned = category.scenarios(Values(tool, Harvest()), SeededChoice(0, name))
    assert [plan.name for plan in planned] == case["plans"]
