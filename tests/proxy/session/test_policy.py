"""The policy of each tool, from what a settings file says."""

from pathlib import Path

import msgspec
import pytest

from toolvet.core.settings import load_settings
from toolvet.errors import ConfigError
from toolvet.proxy.session import Policies, Policy, ProxySettings, ToolSettings

FILE = """
[proxy]
repair = "apply"
break_after = 3

[proxy.tools."git_*"]
repair = "off"
results = "enforce"

[proxy.tools.git_push]
repair = "suggest"

[proxy.tools."*_push"]
repair = "apply"
arguments = "audit"
"""


def policies(text: str) -> Policies:
    return Policies(msgspec.convert(msgspec.toml.decode(text)["proxy"], ProxySettings))


def test_without_settings_every_tool_has_the_defaults() -> None:
    assert Policies().of("anything") == Policy()


def test_the_defaults_enforce_arguments_and_change_nothing_else() -> None:
    found = Policy()
    assert (found.arguments, found.repair, found.results) == ("enforce", "suggest", "annotate")
    assert (found.output_schema, found.verdict, found.server_validation) == ("warn", "on_request", "off")


def test_patterns_go_before_the_section_and_an_exact_name_before_patterns() -> None:
    found = policies(FILE)
    assert found.of("other") == Policy(repair="apply", break_after=3)
    assert found.of("git_log") == Policy(repair="off", results="enforce", break_after=3)
    assert found.of("git_push") == Policy(repair="suggest", results="enforce", arguments="audit", break_after=3)


def test_an_explained_policy_says_where_each_choice_comes_from() -> None:
    told = {choice.name: (choice.value, choice.source) for choice in policies(FILE).explained("git_push")}
    assert told["repair"] == ("suggest", '[proxy.tools."git_push"]')
    assert told["results"] == ("enforce", '[proxy.tools."git_*"]')
    assert told["break_after"] == (3, "[proxy]")
    assert told["max_depth"] == (128, "default")
    assert set(told) == set(Policy.__struct_fields__)


def test_a_pattern_is_case_sensitive() -> None:
    assert policies(FILE).of("GIT_log").results == "annotate"


def test_names_that_clients_make_up_do_not_fill_the_memory() -> None:
    found = Policies()
    for number in range(10_000):
        found.of(f"tool{number}")
    assert len(found._known) <= 4096


def test_every_option_of_a_policy_can_be_set_for_one_tool() -> None:
    assert ToolSettings.__struct_fields__ == Policy.__struct_fields__


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[proxy]\nrepair = "aply"\n', "line 2: proxy.repair: 'aply' is not one of off, suggest, apply"),
        ("[proxy]\nbreak_after = -1\n", "line 2: proxy.break_after: Expected 'int' >= 0"),
        (
            '[proxy]\nargumnts = "off"\n',
            "line 2: proxy.argumnts: unknown key (did you mean 'arguments'?); see 'toolvet proxy --help'",
        ),
        (
            '\n[proxy.tools."git_*"]\nresults = "odd"\n',
            "line 3: proxy.tools.git_*.results: 'odd' is not one of off, annotate, enforce",
        ),
        ('\n[proxy.tools."git_*"]\nresult = "off"\n', "line 3: proxy.tools.git_*.result: unknown key"),
        ("[proxy.tools]\ngit_push = 3\n", "line 2: proxy.tools.git_push: Expected 'object', got 'int'"),
        ("[proxy]\npatience = 0\n", "line 2: proxy.patience: Expected 'float' > 0"),
    ],
)
def test_a_wrong_setting_is_named_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "toolvet.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as raised:
        load_settings(file)
    assert told in str(raised.value).replace("`", "'")


def test_the_settings_file_has_a_part_for_the_proxy(tmp_path: Path) -> None:
    file = tmp_path / "toolvet.toml"
    file.write_text(FILE)
    found = load_settings(file)[ProxySettings]
    assert found.repair == "apply"
    assert found.tools["git_push"] == ToolSettings(repair="suggest")
