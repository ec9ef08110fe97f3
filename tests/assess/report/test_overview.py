"""Many servers at a glance: the ranking, what is common, and the three ways to show it."""

import io
import json
import re
from pathlib import Path

import jsonschema  # type: ignore[import-untyped] # ships no types; the tests want an independent judge
import pytest
from msgspec import structs
from rich.console import Console
from tests.assess.report import samples

from toolvet.assess.report import overview as room
from toolvet.assess.report.document import Counts, Report
from toolvet.assess.report.overview import OVERVIEW_FILE, AssessedServer, build_overview, overview_schema
from toolvet.assess.report.overview.formats import print_overview, render_page
from toolvet.assess.report.renderers.json import encode_document
from toolvet.findings import Finding, Severity


def scored(name: str, score: float | None, **more: object) -> AssessedServer:
    (sample,) = samples.named("bookshop")
    report = structs.replace(sample, score=score, **more)
    return AssessedServer(name=name, file=name, report=report)


def finding(check: str, severity: Severity = Severity.ERROR, message: str = "Something.") -> Finding:
    return Finding(id=check, severity=severity, message=message, tool="get_book")


def hostile() -> AssessedServer:
    (sample,) = samples.named("hostile")
    return AssessedServer(name=samples.HOSTILE, file="hostile", report=sample)


class TestRanking:
    def test_the_best_score_is_first_equals_share_a_rank_and_no_score_is_last(self) -> None:
        servers = [scored("d", None), scored("c", 80.0), scored("b", 95.0), scored("a", 80.0), scored("e", 10.0)]
        ranking = build_overview(servers, {}, "1").ranking
        assert [(row.rank, row.name) for row in ranking] == [(1, "b"), (2, "a"), (2, "c"), (4, "e"), (None, "d")]

    def test_of_one_score_fewer_errors_come_first(self) -> None:
        (sample,) = samples.named("bookshop")
        few = structs.replace(sample.summary, findings=Counts(error=1))
        many = structs.replace(sample.summary, findings=Counts(error=2))
        found = build_overview([scored("a", 50.0, summary=many), scored("b", 50.0, summary=few)], {}, "1")
        assert [row.name for row in found.ranking] == ["b", "a"]

    def test_scores_are_counted_by_tens(self) -> None:
        scores = [0.0, 9.9, 10.0, 89.9, 90.0, 100.0, None]
        found = build_overview([scored(str(index), score) for index, score in enumerate(scores)], {}, "1")
        assert found.histogram == [2, 1, 0, 0, 0, 0, 0, 0, 1, 2]
        assert found.median_score == 50.0

    def test_a_row_says_why_the_server_fails(self) -> None:
        (row,) = build_overview([scored("a", 40.0, findings=[], fail_under=50.0)], {}, "1").ranking
        assert row.failures == ["the score 40 is below --fail-under 50"]


class TestCommonChecks:
    def test_what_most_servers_have_comes_first(self) -> None:
        found = build_overview(
            [
                scored("a", 1.0, findings=[finding("rare"), finding("rare"), finding("common", Severity.INFO)]),
                scored("b", 1.0, findings=[finding("common", Severity.INFO)]),
                scored("c", 1.0, findings=[]),
            ],
            {},
            "1",
        )
        assert [(check.id, check.servers, check.findings, check.share) for check in found.checks] == [
            ("common", 2, 2, 0.6667),
            ("rare", 1, 2, 0.3333),
        ]

    def test_examples_are_of_different_servers(self) -> None:
        servers = [scored(name, 1.0, findings=[finding("x", message=f"{name}{i}") for i in (1, 2)]) for name in "abcde"]
        (check,) = build_overview(servers, {}, "1").checks
        assert [(seen.server, seen.message, seen.subject) for seen in check.examples] == [
            ("a", "a1", "get_book"),
            ("b", "b1", "get_book"),
            ("c", "c1", "get_book"),
        ]

    def test_one_severity_of_a_check_is_not_another(self) -> None:
        found = build_overview([scored("a", 1.0, findings=[finding("x"), finding("x", Severity.INFO)])], {}, "1")
        assert [(check.id, check.severity.value) for check in found.checks] == [("x", "error"), ("x", "info")]


def test_reports_are_let_go_one_after_the_other() -> None:
    alive: list[int] = []

    class Watched(Report, frozen=True, kw_only=True):  # glossary: no noun of the project
        def __del__(self) -> None:
            alive.remove(0)

    (sample,) = samples.named("bookshop")

    def servers() -> object:
        for name in "abc":
            assert len(alive) <= 1, "the report before is still held"
            alive.append(0)
            yield AssessedServer(name=name, file=name, report=Watched(**structs.asdict(sample)))

    assert build_overview(servers(), {}, "1").assessed == 3  # type: ignore[arg-type]


class TestPage:
    def test_it_leads_to_the_page_of_each_server(self) -> None:
        page = render_page(build_overview([scored("a b", 80.0)], {}, "1"))
        assert 'href="servers/a%20b.html"' in page
        assert "1 MCP server" in page

    def test_a_hostile_server_writes_no_markup(self) -> None:
        page = render_page(
            build_overview(
                [hostile(), AssessedServer(name="x", file="", reason="limit", problem=samples.HOSTILE)], {}, "1"
            )
        )
        assert "<img" not in page
        assert page.count("<script>") == 1
        assert not re.search("[\x00\x1b\u202e]", page)
        assert "default-src 'none'" in page

    def test_an_empty_run_is_shown(self) -> None:
        page = render_page(build_overview([], {}, "1"))
        assert "0 MCP servers" in page
        assert "<table" not in page


class TestDocument:
    def test_the_published_schema_is_up_to_date(self) -> None:
        # `python -m tests.assess.report.publish` writes it.
        assert json.loads((Path(room.__file__).parent / OVERVIEW_FILE).read_bytes()) == overview_schema()

    @pytest.mark.parametrize("servers", [[], [scored("a", 80.0), scored("b", None)], [hostile()]])
    def test_overviews_satisfy_it(self, servers: list[AssessedServer]) -> None:
        servers = [*servers, AssessedServer(name="x", file="x", reason="limit", problem="took too much")]
        document: object = json.loads(encode_document(build_overview(servers, {}, "1")))
        jsonschema.Draft202012Validator(overview_schema()).validate(document)

    def test_what_is_no_overview_does_not(self) -> None:
        validator = jsonschema.Draft202012Validator(overview_schema())
        documents: list[object] = [{}, {"schema": "toolvet-report/1"}, []]
        assert not any(validator.is_valid(document) for document in documents)


class TestTerminal:
    def test_it_shows_ranking_checks_and_what_is_missing(self) -> None:
        servers = [scored("a", 80.0), AssessedServer(name="b", file="b", reason="limit", problem="took 3 GiB")]
        text = _printed(servers)
        assert re.search(r"1\s+a\s+80", text)
        assert re.search(r"b\s+took 3 GiB", text)
        assert "1 of 2 servers assessed, median score 80" in text

    def test_a_thousand_servers_stay_readable(self) -> None:
        lines = _printed([scored(f"server {index}", 50.0, findings=[]) for index in range(1000)]).splitlines()
        assert len(lines) < 60
        assert "and 950 more servers" in lines

    def test_a_hostile_server_writes_no_escape_codes(self) -> None:
        assert not re.search("[\x00\x1b\u202e]", _printed([hostile()]))


def _printed(servers: list[AssessedServer]) -> str:
    out = io.StringIO()
    print_overview(build_overview(servers, {}, "1"), Console(file=out, width=120))
    return out.getvalue()
