"""docs/proxy.md is complete and true."""

import re
from pathlib import Path
from typing import get_args

from toolvet.proxy.record.metrics import Metrics
from toolvet.proxy.record.recorder import Recorder
from toolvet.proxy.session import Policy

PAGE = (Path(__file__).parents[2] / "docs" / "proxy.md").read_text(encoding="utf-8")


def test_the_page_has_every_policy_with_its_values_and_its_default() -> None:
    rows = {row[1]: row for row in re.finditer(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|", PAGE, re.MULTILINE)}
    assert set(rows) == set(Policy.__struct_fields__)
    default = Policy()
    for name, row in rows.items():
        values = get_args(Policy.__annotations__[name])
        if values and all(isinstance(value, str) for value in values):
            assert row[2].split(", ") == list(values), name
        shown = "none" if getattr(default, name) == () else str(getattr(default, name))
        assert row[3] == shown, name


def test_the_page_has_every_metric() -> None:
    recorder = Recorder([Metrics()])
    recorder.close()
    for name in re.findall(r"^# TYPE (\S+)", recorder.render_metrics(), re.MULTILINE):
        assert name in PAGE or name == "toolvet_build_info"
