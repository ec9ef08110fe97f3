"""The `[proxy]` part of a settings file: its error messages say how to fix it."""

import sys
from pathlib import Path

import pytest

from toolvet.cli.commands.proxy.explain import explain_policies
from toolvet.core.settings import load_settings
from toolvet.errors import ConfigError
from toolvet.proxy.session import Policies, ProxySettings, ToolSettings

FLIGHTS = str(Path(__file__).parents[1] / "agents" / "integrations" / "flights.py")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[proxy]\nrepair = "aply"\n', "line 2: proxy.repair: 'aply' is not one of off, suggest, apply"),
        ('[proxy]\nannounce = "on"\n', "'on' is not one of off, capability, tool"),
        ('[proxy.tools."a_*"]\nresults = "on"\n', "proxy.tools.a_*.results: 'on' is not one of off, annotate, enforce"),
        ('[assess]\nera = "old"\n', "assess.era: 'old' is not one of auto, legacy, modern"),
    ],
)
def test_a_word_that_is_not_allowed_is_reported_with_those_that_are(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "toolvet.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as raised:
        load_settings(file)
    assert said in str(raised.value)


def test_only_a_section_that_matches_no_tool_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    said = {name: ToolSettings(repair="apply") for name in ("book_*", "ping_me", "bok_flight")}
    command = (sys.executable, FLIGHTS, "lowlevel", "stdio")
    assert explain_policies(command, None, None, {}, Policies(ProxySettings(tools=said)), form="text") == 0
    printed = capsys.readouterr().out
    assert [line for line in printed.splitlines() if "speaks of no tool" in line] == [
        '[proxy.tools."bok_flight"] speaks of no tool of this server'
    ]
