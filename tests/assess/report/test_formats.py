import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema  # type: ignore[import-untyped] # ships no types; the tests want an independent judge
import msgspec
import pytest
from tests.assess.report import samples

from toolvet.assess import report
from toolvet.assess.report import document
from toolvet.assess.report.document import SCHEMA_FILE, Report
from toolvet.assess.report.gate import apply_baseline
from toolvet.assess.report.wording import group_findings
from toolvet.core import discover
from toolvet.errors import ConfigError, UsageError
from toolvet.findings import Finding, Severity

ROOM = Path(report.__file__).parent


def test_every_file_in_the_folder_is_a_format_under_its_own_name() -> None:
    files = {path.stem for path in (ROOM / "renderers").glob("[a-z]*.py")}
    assert set(report.formats()) == files >= {"github", "html", "json", "junit", "markdown", "sarif"}
    assert len({item.suffix for item in report.formats().values()}) == len(files)


def test_an_unknown_format_is_named_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=f"'pdf': use one of {', '.join(sorted(report.formats()))}$"):
        report.render("pdf", [], {})


@pytest.mark.parametrize("name", list(report.formats()))
def test_no_server_at_all_is_a_document_too(name: str) -> None:
    assert isinstance(report.render(name, [], samples.CARDS), str)


class TestJson:
    def test_one_report_is_the_document_with_the_keys_that_were_promised(self) -> None:
        document = json.loads(report.render("json", [samples.bookshop()], {}))
        assert document["schema"] == "toolvet-report/1"
        assert {"server", "score", "status", "tools", "findings", "summary"} <= document.keys()
        assert {"name", "version", "protocol_version", "transport"} <= document["server"].keys()
        tool = document["tools"][0]
        assert {"name", "status", "confidence", "error_message_score", "skipped", "scenarios"} <= tool.keys()
        promised = {"name", "category", "arguments", "result", "verdict", "passed", "duration_ms"}
        assert promised <= tool["scenarios"][0].keys()
        promised = {"id", "severity", "confidence", "tool", "message", "pointer", "evidence", "remedy", "reproduce"}
        assert promised <= document["findings"][0].keys()

    def test_what_was_written_is_read_back_the_same(self) -> None:
        several = samples.named("several")
        assert report.load(report.render("json", several, {}).encode(), "r.json") == several
        assert report.load(report.render("json", several[:1], {}).encode(), "r.json") == several[:1]

    def test_a_lone_surrogate_does_not_stop_the_report(self) -> None:
        broken = msgspec.structs.replace(samples.empty(), stderr="\ud800!")
        (read,) = report.load(report.render("json", [broken], {}).encode(), "r.json")
        assert read.stderr == "\ufffd!"

    def test_a_field_of_a_later_version_is_no_obstacle(self) -> None:
        document = json.loads(report.render("json", [samples.bookshop()], {}))
        document["new"] = document["server"]["new"] = 1
        assert report.load(json.dumps(document).encode(), "r.json") == (samples.bookshop(),)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"{", r"^old\.json, line 1: not JSON"),
            (b'{\n"schema": "toolvet-report/1",\n}', r"^old\.json, line 3: not JSON"),
            (b'{"schema": "\xff"}', r"^old\.json.*: not JSON"),
            (b"[]", r"^old\.json: not a toolvet report: Expected `object`, got `array`$"),
            (b"{}", r"^old\.json: not a toolvet report: 'schema' is missing$"),
            (b'{"schema": "toolvet-report/9"}', r"^old\.json: schema: .*toolvet-report/1.*not 'toolvet-report/9'$"),
            (b'{"schema": "toolvet-report/1"}', r"^old\.json: not a toolvet report: .*`server`"),
            (
                b'{"schema": "toolvet-report/1", "server": {"name": 7}}',
                r"^old\.json: \$\.server\.name: not a toolvet report: Expected `str`, got `int`$",
            ),
            (b"[" * 100_000, r"^old\.json.*"),
        ],
    )
    def test_a_broken_file_is_told_with_file_and_place(self, content: bytes, message: str) -> None:
        with pytest.raises(ConfigError, match=message):
            report.load(content, "old.json")


class TestSchema:
    def test_the_published_file_is_up_to_date(self) -> None:
        # `python -m tests.assess.report.publish` writes it.
        assert json.loads((ROOM / SCHEMA_FILE).read_bytes()) == report.schema()

    def test_it_is_a_schema(self) -> None:
        jsonschema.Draft202012Validator.check_schema(report.schema())

    @pytest.mark.parametrize("name", ["bookshop", "hostile", "empty", "several", "forty", "baselined"])
    def test_rendered_reports_satisfy_it(self, name: str) -> None:
        document = json.loads(report.render("json", samples.named(name), {}))
        jsonschema.Draft202012Validator(report.schema()).validate(document)

    @pytest.mark.parametrize(
        "document", [{}, {"schema": "toolvet-report/1"}, {"schema": "toolvet-reports/1"}, [], {"reports": []}]
    )
    def test_what_is_no_report_does_not(self, document: object) -> None:
        assert not jsonschema.Draft202012Validator(report.schema()).is_valid(document)

    def test_it_says_what_everything_is(self) -> None:
        definitions = report.schema()["$defs"]
        assert isinstance(definitions, dict)
        assert all(item.get("description") for item in definitions.values())

    def test_our_own_fields_are_snake_case(self) -> None:
        definitions = report.schema()["$defs"]
        assert isinstance(definitions, dict)
        names = {name for item in definitions.values() for name in item.get("properties", {})}
        assert {"error_message_score", "scenario"} <= names
        assert [name for name in sorted(names) if not re.fullmatch("[a-z]+(_[a-z]+)*", name)] == []

    def test_the_nouns_of_the_document_are_those_of_the_code(self) -> None:
        definitions = report.schema()["$defs"]
        assert isinstance(definitions, dict)
        classes = {name for name, item in vars(document).items() if isinstance(item, type) and item is not Report}
        assert set(definitions) - {"Report", "Severity", "Finding"} <= classes
        assert "ReportedToolValidation" in definitions

    def test_it_is_in_the_package(self) -> None:
        assert SCHEMA_FILE in dict(discover.data_files("toolvet.assess.report", ".schema.json"))


def a_finding(name: str, tool: str | None = None, pointer: str = "", severity: Severity = Severity.ERROR) -> Finding:
    return Finding(id=name, severity=severity, message=f"{name} here", tool=tool, pointer=pointer)


def with_findings(*findings: Finding) -> Report:
    return msgspec.structs.replace(samples.bookshop(), findings=list(findings))


class TestBaseline:
    def test_a_known_finding_is_kept_out_whatever_its_words_are_today(self) -> None:
        before = a_finding("a", "find_books", "/x")
        now = msgspec.structs.replace(before, message="other words", evidence="other", confidence=50)
        new = a_finding("a", "find_books", "/y", Severity.WARNING)
        result = apply_baseline(with_findings(now, new), [with_findings(before)], "base.json")
        assert result.findings == [new]
        assert result.baseline is not None
        assert (result.baseline.file, result.baseline.known, result.baseline.stale) == ("base.json", [now], [])
        assert (result.summary.findings.error, result.summary.findings.warning) == (0, 1)

    def test_an_entry_that_nothing_matches_is_stale_once(self) -> None:
        gone = a_finding("a", "find_books")
        result = apply_baseline(with_findings(), [with_findings(gone, gone), with_findings(gone)], "base.json")
        assert result.baseline is not None
        assert result.baseline.stale == [gone]

    def test_an_entry_of_a_tool_that_the_server_no_longer_has_is_stale(self) -> None:
        gone = a_finding("a", "removed_tool")
        result = apply_baseline(with_findings(), [with_findings(gone)], "base.json")
        assert result.baseline is not None
        assert result.baseline.stale == [gone]

    @pytest.mark.parametrize("tool", ["delete_book", "filtered_tool"])
    def test_an_entry_of_a_tool_that_was_not_called_is_not_stale(self, tool: str) -> None:
        run = msgspec.structs.replace(with_findings(), filtered=["filtered_tool"])
        result = apply_baseline(run, [with_findings(a_finding("a", tool))], "base.json")
        assert result.baseline is not None
        assert result.baseline.stale == []

    def test_an_incomplete_run_proves_nothing_stale(self) -> None:
        run = msgspec.structs.replace(with_findings(), incomplete="Ctrl-C")
        result = apply_baseline(run, [with_findings(a_finding("a", "find_books"), a_finding("b"))], "base.json")
        assert result.baseline is not None
        assert result.baseline.stale == []

    def test_another_servers_entries_do_not_count(self) -> None:
        finding = a_finding("a", "now")
        other = msgspec.structs.replace(samples.clock(), findings=[finding])
        result = apply_baseline(with_findings(finding), [other], "base.json")
        assert result.findings == [finding]
        assert result.baseline is not None
        assert (result.baseline.known, result.baseline.stale) == ([], [])

    def test_a_report_written_with_a_baseline_is_itself_the_next_baseline(self) -> None:
        finding = a_finding("a", "find_books")
        first = apply_baseline(with_findings(finding), [with_findings(finding)], "base.json")
        second = apply_baseline(with_findings(finding), [first], "next.json")
        assert second.findings == []

    def test_the_score_and_the_report_that_was_given_stay_as_they_are(self) -> None:
        before = with_findings(a_finding("a"))
        result = apply_baseline(before, [before], "base.json")
        assert result.score == before.score
        assert before.findings
        assert before.baseline is None


class TestGroups:
    def test_the_worst_comes_first_and_then_the_order_of_the_report(self) -> None:
        findings = [
            a_finding("note", severity=Severity.INFO),
            a_finding("rare"),
            a_finding("often", "x"),
            a_finding("often", "y"),
            a_finding("often", "x", severity=Severity.WARNING),
        ]
        groups = group_findings(findings)
        assert [(group.id, group.severity.value, len(group.findings)) for group in groups] == [
            ("rare", "error", 1),
            ("often", "error", 2),
            ("often", "warning", 1),
            ("note", "info", 1),
        ]
        assert groups[1].tools == ("x", "y")

    def test_a_remedy_is_said_once_only_where_all_agree(self) -> None:
        same = [msgspec.structs.replace(a_finding("a", name), remedy="Do it.") for name in "xy"]
        assert group_findings(same)[0].remedy == "Do it."
        assert group_findings([*same, a_finding("a", "z")])[0].remedy == ""


class TestJunit:
    def test_a_finding_is_in_the_case_of_its_scenario_even_if_two_scenarios_have_one_command(self) -> None:
        shop = samples.bookshop()
        order = shop.tools[1]
        same = [msgspec.structs.replace(item, reproduce="one command", passed=False) for item in order.scenarios]
        finding = msgspec.structs.replace(shop.findings[0], reproduce="one command", scenario="order_book/2")
        tools = [msgspec.structs.replace(order, scenarios=same)]
        text = report.render("junit", [msgspec.structs.replace(shop, tools=tools, findings=[finding])], samples.CARDS)
        cases = ET.fromstring(text).iter("testcase")  # noqa: S314 - our own output
        holding = [case.get("name") for case in cases if finding.message in ET.tostring(case, encoding="unicode")]
        assert holding == ["error case: unknown book"]
