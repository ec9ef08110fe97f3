"""Every rule of the catalogue reports what it should and nothing else.

The cases of `rules/catalog/<subject>.py` are in `cases/<subject>.toml`, where the tables of a rule have its id.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from toolvet.assess.rules import (
    AnswerExcerpt,
    IntendedViolation,
    ListedItem,
    ObservedCall,
    ObservedItems,
    ObservedListing,
    ObservedRequest,
    ObservedServer,
    ObservedValidation,
    Outcome,
    Preview,
    ProtocolError,
    Purpose,
    WireAnomaly,
    cards,
    judge_call,
    judge_calls,
    judge_item,
    judge_items,
    judge_request,
    judge_server,
    judge_tool,
    listed_item,
    tool_definition,
)
from toolvet.assess.rules.judge import rules
from toolvet.assess.rules.page import render_checks_page
from toolvet.core.checks.capability import ValidationReply, parse_reply
from toolvet.core.checks.result import check_result
from toolvet.core.contract import compare_locks, lock_of
from toolvet.core.discover import modules
from toolvet.core.schema import compiled
from toolvet.core.tool_rules import Consequence, FileChange
from toolvet.core.tool_rules.subject import HttpExchange, ObservedHttp
from toolvet.findings import Card, Finding

HERE = Path(__file__).parent
TOOLS: Mapping[str, Any] = json.loads((HERE / "cases" / "tools.json").read_text(encoding="utf-8"))
FILES: Mapping[str, Mapping[str, Any]] = {
    path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted((HERE / "cases").glob("*.toml"))
}
CASES = {rule: cases for file in FILES.values() for rule, cases in file.items()}


def tables() -> Iterator[Any]:
    for rule, cases in sorted(CASES.items()):
        for case in cases:
            yield pytest.param(rule, case, id=f"{rule}: {case['says']} ({case['expect']})")


@pytest.mark.parametrize(("rule", "case"), list(tables()))
def test_a_rule_reports_what_it_should(rule: str, case: Mapping[str, Any]) -> None:
    found = [finding for finding in findings(case) if finding.id == rule]
    if case["expect"] == "nothing":
        assert found == []
        return
    assert [finding.severity.value for finding in found] == [case["expect"]]
    assert case.get("words", "") in found[0].message
    assert case.get("evidence", "") in found[0].evidence
    assert found[0].pointer == case.get("pointer", found[0].pointer)
    assert found[0].tool == (case.get("tool_of", found[0].tool) or None)
    assert 0 < found[0].confidence <= 100
    assert found[0].message.endswith((".", '"', "…", "]", "'", "}")) or "tool" not in case


# Cases of a single fault, with the findings that it may have: the rules agree on which of them reports it.
ONE_FAULT = {
    ("call-timeout", "No answer to an ordinary call"): ["call-timeout"],
    ("server-died", "The process ended"): ["server-died"],
    ("answer-malformed", "A result without content"): ["answer-malformed"],
    ("arguments-protocol-error", "A missing argument answered with -32602"): ["arguments-protocol-error"],
    ("invalid-accepted", "A value beyond the maximum"): ["invalid-accepted"],
    ("unknown-argument-ignored", "The schema forbids others, and an SDK drops them"): ["unknown-argument-ignored"],
    ("arguments-not-object", "A crash of the server's own code"): ["arguments-not-object"],
    ("absent-answered", "A record for an id that does not exist"): ["absent-answered", "parameter-undescribed"],
    ("error-without-flag", "An error in words"): ["error-without-flag"],
    ("empty-success", "No content"): ["empty-success"],
    ("structured-content-missing", "Only a text"): ["structured-content-missing"],
    ("output-schema-broken", "A field of another type"): ["output-schema-broken"],
    ("crash-leaked", "A trace in a failure"): ["crash-leaked", "valid-call-failed"],
    ("valid-call-failed", "A crash"): ["valid-call-failed"],
    ("valid-call-failed", "An error without a word"): ["valid-call-failed"],
    ("environment-outage", "A backend that does not answer, and nothing else was called"): ["environment-outage"],
    ("never-succeeded", "Every valid call is refused"): ["never-succeeded"],
    ("bad-arguments-crash", "A wrong type crashes the tool"): ["bad-arguments-crash"],
    ("schema-invalid", "A type that does not exist"): ["parameter-undescribed", "schema-invalid"],
    ("schema-not-object", "No inputSchema"): ["schema-not-object", "tool-undescribed"],
    ("tool-illegal", "An entry that is a string is not a tool"): ["tool-illegal"],
    ("required-unknown", "A required name that is forbidden is an error"): [
        "parameter-undescribed",
        "required-unknown",
    ],
    ("remote-reference", "A parameter that is described elsewhere"): ["remote-reference"],
}


@pytest.mark.parametrize(("rule", "says"), ONE_FAULT, ids=[f"{rule}: {says}" for rule, says in ONE_FAULT])
def test_one_fault_is_reported_by_one_rule(rule: str, says: str) -> None:
    case = next(case for case in CASES[rule] if case["says"] == says)
    assert sorted({finding.id for finding in findings(case)}) == ONE_FAULT[(rule, says)]


SECRETS = ("hunter2secret", "dbpassS3")
WORDS_WITH_SECRETS = f"password={SECRETS[0]} postgres://bob:{SECRETS[1]}@h/x"


def test_no_rule_quotes_a_secret() -> None:
    """With secrets in all words of the server, in front (where a quotation starts) and behind (where it ends)."""
    quoting = set[str]()
    for rule, cases in CASES.items():
        for case in cases:
            for planted in (plant(case, f"{WORDS_WITH_SECRETS} {{}}"), plant(case, f"{{}} {WORDS_WITH_SECRETS}")):
                for finding in findings(planted):
                    words = f"{finding.message}\n{finding.evidence}"
                    assert not any(secret in words for secret in SECRETS), (rule, finding)
                    if "[redacted]" in words:
                        quoting.add(finding.id)
    assert len(quoting) > 15, quoting


def plant(case: Mapping[str, Any], form: str) -> Mapping[str, Any]:
    """The case with `form` around all that its server says, and with the arguments that came back."""

    def of(value: Any, here: str = "") -> Any:
        if isinstance(value, Mapping):
            return {key: of(member, key) for key, member in value.items()}
        if isinstance(value, list):
            return [of(item, here) for item in value]
        spoken = {
            "text",
            "description",
            "error",
            "detail",
            "listing",
            "errors",
            "failures",
            "announcement_problems",
            "words",
            "body",
        }
        is_words = here in spoken or (here == "anomalies" and " " in str(value))
        return form.format(value) if isinstance(value, str) and is_words else value

    sources = (
        "tool",
        "calls",
        "call",
        "all_calls",
        "item",
        "request",
        "items",
        "tools",
        "unknown",
        "anomalies",
        "listing",
        "validation",
        "odd",
        "http",
        "consequences",
    )
    return {**case, **{key: json.dumps(of(read(case[key]), key)) for key in sources if key in case}}


@pytest.mark.parametrize("rule", sorted(cards()))
def test_a_rule_has_a_card_in_whole_sentences_and_cases_of_both_kinds(rule: str) -> None:
    card = cards()[rule]
    for sentence in (card.looks_for, card.why, card.remedy):
        assert sentence.strip() == sentence
        assert sentence.endswith((".", "?", ")", '"', "`"))
    assert not card.title.endswith(".")
    assert {case["expect"] == "nothing" for case in CASES[rule]} == {True, False}


def test_a_card_is_used_in_its_own_file_once_for_each_subject_and_has_its_cases_there() -> None:
    used = [(rule.judge.__module__.rpartition(".")[2], rule.card.id, rule.scope) for rule in rules()]
    assert len(set(used)) == len(used)
    for module in modules("toolvet.assess.rules.catalog"):
        name = module.__name__.rpartition(".")[2]
        ids = [value.id for value in vars(module).values() if isinstance(value, Card)]
        assert len(ids) == len(set(ids))
        assert set(ids) == {card for file, card, _ in used if file == name} == set(FILES[name])
    assert sum(map(len, FILES.values())) == len(CASES) == len(cards())


def test_the_page_of_checks_is_up_to_date() -> None:
    page = HERE.parents[2] / "docs" / "checks.md"
    write = "python -m toolvet.assess.rules.page > docs/checks.md"
    assert page.read_text(encoding="utf-8") == render_checks_page(), f"run: {write}"


@pytest.mark.parametrize("check", sorted(cards()))
def test_every_check_has_an_anchor_on_the_page(check: str) -> None:
    assert f'<a id="{check}"></a>' in render_checks_page()


def findings(case: Mapping[str, Any]) -> Sequence[Finding]:
    """What all rules say about the subject of a case."""
    found: list[Finding] = []
    if "tool" in case:
        tool = tool_definition(read(case["tool"]))
        calls = [call_of({"tool": tool.raw, **call}) for call in read(case.get("calls", "[]"))]
        found += [*judge_tool(tool), *judge_calls(tool, calls), *judge_all(calls)]
    if "call" in case:
        call = call_of(read(case["call"]))
        if "contract" in case:
            tool = msgspec.structs.replace(call.tool, contract=read(case["contract"]))
            call = msgspec.structs.replace(call, tool=tool)
        found += [*judge_call(call), *judge_calls(call.tool, [call]), *judge_all([call])]
    if {"tools", "unknown", "anomalies", "validation", "all_calls", "odd", "http", "overfilled", "consequences"} & set(
        case
    ):
        tools = read(case.get("tools", '["<search_books>"]'))
        calls = list(map(call_of, read(case.get("all_calls", "[]"))))
        found += judge_server(
            ObservedServer(
                tools=tuple(tool_definition(tool, position) for position, tool in enumerate(tools)),
                protocol_version=case.get("protocol", ""),
                unknown_tool=call_of(read(case["unknown"])) if "unknown" in case else None,
                anomalies=tuple(
                    WireAnomaly(kind=kind, evidence=words) for kind, words in read(case.get("anomalies", "[]"))
                ),
                listing_problems=tuple(read(case.get("listing", "[]"))),
                validation=msgspec.convert(read(case["validation"]), ObservedValidation)
                if "validation" in case
                else None,
                calls=tuple(calls),
                odd_arguments=tuple(map(call_of, read(case.get("odd", "[]")))),
                http=http_of(json.loads(case["http"])) if "http" in case else None,
                overfilled=case.get("overfilled", ""),
                consequences=tuple(map(consequence_of, read(case.get("consequences", "[]")))),
                changes=compare_locks(lock_of(read(case["locked"])), lock_of(tools)) if "locked" in case else (),
                version=case.get("version", ""),
                providers=tuple(case.get("providers", ())),
                profiles=tuple(case.get("profiles", ())),
                manifests=read(case.get("manifests", "{}")),
            )
        )
    if "item" in case:
        found += judge_item(item_of(read(case["item"])))
    if "request" in case:
        request = request_of(read(case["request"]))
        found += [*judge_request(request), *judge_items(ObservedItems(requests=(request,)))]
    if "items" in case:
        found += judge_items(items_of(read(case["items"])))
    return found


def http_of(seen: Mapping[str, Any]) -> ObservedHttp:
    """What probes showed: `exchanges` by their ids, a plain number being a status, with a result if it is 2xx."""
    exchanges = [
        HttpExchange(probe=probe, status=answer, is_result=200 <= answer < 300)
        if isinstance(answer, int)
        else HttpExchange(probe=probe, **answer)
        for probe, answer in seen.get("exchanges", {}).items()
    ]
    facts = msgspec.convert({"revision": "2025-11-25", "legacy": True, **seen, "exchanges": []}, ObservedHttp)
    return msgspec.structs.replace(facts, exchanges=tuple(exchanges))


def item_of(case: Mapping[str, Any], position: int = 0) -> ListedItem:
    return listed_item(case["kind"], case["raw"], position)


def request_of(case: Mapping[str, Any]) -> ObservedRequest:
    error = case.get("error")
    fields = {name: case[name] for name in ("detail", "missing", "is_generated", "protocol_version") if name in case}
    return ObservedRequest(
        method=case["method"],
        params=case.get("params", {}),
        purpose=Purpose(case["purpose"]),
        outcome=Outcome.RESULT if "result" in case else Outcome.PROTOCOL_ERROR if error else Outcome(case["outcome"]),
        item=item_of(case["item"]) if "item" in case else None,
        result=case.get("result"),
        error=ProtocolError(code=error[0], message=error[1]) if error else None,
        known_paths=tuple(case.get("known_paths", ())),
        duration_ms=12.0,
        **fields,
    )


def items_of(case: Mapping[str, Any]) -> ObservedItems:
    items = [item_of(item, position) for position, item in enumerate(case.get("items", ()))]
    return ObservedItems(
        items=tuple(items),
        requests=tuple(map(request_of, case.get("requests", ()))),
        listings=tuple(msgspec.convert(listing, ObservedListing) for listing in case.get("listings", ())),
    )


def consequence_of(case: Mapping[str, Any]) -> Consequence:
    calls = {name: call_of(case[name]) for name in ("action", "before", "after") if name in case}
    return Consequence(**calls, value=case.get("value"))


def judge_all(calls: Sequence[ObservedCall]) -> Sequence[Finding]:
    """The findings of the rules of the server on these calls."""
    tools = {call.tool.name: call.tool for call in calls}
    return judge_server(ObservedServer(tools=tuple(tools.values()), calls=tuple(calls))) if calls else ()


def read(text: str) -> Any:
    """JSON in which `"<name>"` is a tool of tools.json, and `<x*9>` nine times x."""
    for name, tool in TOOLS.items():
        text = text.replace(json.dumps(name), json.dumps(tool))
    text = re.sub(r"<(\w+)\*(\d+)>", lambda found: found[1] * int(found[2]), text)
    return json.loads(text)


def call_of(case: Mapping[str, Any]) -> ObservedCall:
    """The call as an assessment would record it: real violations, a real verdict."""
    tool = tool_definition(case["tool"])
    arguments = case["arguments"]
    is_result = "result" in case
    unfinished = is_result and isinstance(case["result"], dict) and case["result"].get("resultType") == "input_required"
    error = case.get("error")
    outcome = Outcome.RESULT if is_result else Outcome.PROTOCOL_ERROR if error else Outcome(case["outcome"])
    return ObservedCall(
        tool=tool,
        arguments=arguments,
        outcome=outcome,
        category=case.get("category"),
        result=case.get("result"),
        error=ProtocolError(code=error[0], message=error[1]) if error else None,
        verdict=check_result(tool.raw, arguments, case["result"]) if is_result and not unfinished else None,
        violations=compiled(tool.input_schema).violations(arguments),
        intended=IntendedViolation(**case["intended"]) if "intended" in case else None,
        duration_ms=case.get("duration_ms", 12.0),
        detail=case.get("detail", ""),
        absent=case.get("absent", ""),
        present=case.get("present"),
        excerpt=msgspec.convert(case["excerpt"], AnswerExcerpt) if "excerpt" in case else None,
        repeats=case.get("repeats", False),
        outage_nearby=case.get("outage_nearby", False),
        known_paths=tuple(case.get("known_paths", ())),
        files=tuple(FileChange(kind=kind, path=path) for kind, path in case["files"]) if "files" in case else None,
        preview=Preview(reply=reply, levels=tuple(case.get("levels", ())))
        if isinstance(reply := parse_reply(case.get("validation")), ValidationReply)
        else None,
    )
