"""Structure that other programs rely on, written down from their specifications and independent of our writers."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import cast

from markdown_it import MarkdownIt

Json = Mapping[str, object]

# junit-10.xsd of the Jenkins xunit plugin: attributes (those that are required first), and children.
JUNIT: Mapping[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": (set(), {"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"time", "skipped", "timestamp", "hostname", "id", "package", "group", "file"},
        {"properties", "testcase", "system-out", "system-err"},
    ),
    "properties": (set(), set(), {"property"}),
    "property": ({"name", "value"}, set(), set()),
    "testcase": ({"name"}, {"classname", "time"}, {"skipped", "error", "failure", "system-out", "system-err"}),
    "failure": (set(), {"message", "type"}, set()),
    "error": (set(), {"message", "type"}, set()),
    "skipped": (set(), {"message", "type"}, set()),
    "system-out": (set(), set(), set()),
    "system-err": (set(), set(), set()),
}
JUNIT_ORDER = ["properties", "testcase", "system-out", "system-err"]


def check_junit(root: ET.Element) -> None:
    """The XSD's structure, and counts that agree with what is there."""
    assert root.tag == "testsuites"
    for element in root.iter():
        required, optional, children = JUNIT[element.tag]
        assert required <= set(element.keys()), element.tag
        assert set(element.keys()) <= required | optional, element.tag
        assert {child.tag for child in element} <= children, element.tag
        if "time" in element.keys():  # noqa: SIM118 - an element's own iteration is over its children
            assert re.fullmatch(r"\d+(\.\d+)?", element.attrib["time"])
    for suite in root:
        positions = [JUNIT_ORDER.index(child.tag) for child in suite]
        assert positions == sorted(positions)
        cases = suite.findall("testcase")
        assert int(suite.attrib["tests"]) == len(cases)
        assert int(suite.attrib["failures"]) == sum(case.find("failure") is not None for case in cases)
        assert int(suite.attrib["skipped"]) == sum(case.find("skipped") is not None for case in cases)
    assert int(root.attrib["tests"]) == len(root.findall("testsuite/testcase"))
    assert int(root.attrib["failures"]) == len(root.findall("testsuite/testcase/failure"))


def check_sarif(log: Json) -> None:
    """What SARIF 2.1.0 requires of the parts we write, and what GitHub code scanning needs beside it."""
    assert log["version"] == "2.1.0"
    for run in cast("list[Json]", log["runs"]):
        driver = cast("Json", cast("Json", run["tool"])["driver"])
        assert driver["name"]
        rules = cast("list[Json]", driver["rules"])
        assert len({rule["id"] for rule in rules}) == len(rules)
        for rule in rules:
            assert _text(rule["shortDescription"]) is not None
            assert cast("Json", rule["defaultConfiguration"])["level"] in {"error", "warning", "note"}
        assert re.fullmatch(r"toolvet/[^/]+/", cast("str", cast("Json", run["automationDetails"])["id"]))
        for invocation in cast("list[Json]", run["invocations"]):
            assert isinstance(invocation["executionSuccessful"], bool)
        prints: set[object] = set()
        artifacts = cast("list[Json]", run["artifacts"])
        for result in cast("list[Json]", run["results"]):
            assert rules[cast("int", result["ruleIndex"])]["id"] == result["ruleId"]
            assert result["level"] in {"error", "warning", "note"}
            message = _text(result["message"])
            assert message
            assert "](" not in message
            (location,) = cast("list[Json]", result["locations"])
            _check_location(location, artifacts)
            fingerprint = cast("Json", result["partialFingerprints"])["primaryLocationLineHash"]
            assert re.fullmatch(r"[0-9a-f]{32}:\d+", cast("str", fingerprint))
            prints.add(fingerprint)
        assert len(prints) == len(cast("list[Json]", run["results"]))


def _check_location(location: Json, artifacts: list[Json]) -> None:
    physical = cast("Json", location["physicalLocation"])
    artifact = cast("Json", physical["artifactLocation"])
    uri = cast("str", artifact["uri"])
    # A relative reference of RFC 3986, and not one that climbs out of the repository.
    assert re.fullmatch(r"(?:[A-Za-z0-9._~!$&'()*+,;=@-]|%[0-9A-F]{2})+(?:/(?:[\w.~-]|%[0-9A-F]{2})+)*", uri, re.ASCII)
    assert ".." not in uri.split("/")
    assert cast("Json", artifacts[cast("int", artifact["index"])]["location"])["uri"] == uri
    assert cast("Json", physical["region"])["startLine"] == 1
    for logical in cast("list[Json]", location["logicalLocations"]):
        assert logical["kind"] in {"function", "module", "value"}
        assert isinstance(logical["fullyQualifiedName"], str)


def _text(message: object) -> str | None:
    text = cast("Json", message).get("text")
    return text if isinstance(text, str) else None


class Page(HTMLParser):
    """A page as a browser's parser sees it: its tags, ids, links, and the text outside script and style."""

    VOID = frozenset({"meta", "link", "input", "br", "img"})

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.code: dict[str, str] = {}
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> out of place"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in {"script", "style"}:
            self.code[self.open[-1]] = data
        else:
            self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)

    def values(self, attribute: str) -> list[str]:
        return [value for _, attributes in self.tags if (value := attributes.get(attribute)) is not None]


_PAGE_TAGS = """
html head meta link title style body script header main article section form fieldset legend label input select option
optgroup output button h1 h2 h3 h4 h5 p pre div span a abbr b bdi code dl dt dd ul li figure figcaption details summary
table thead tbody tr th td svg rect path circle text
"""
PAGE_TAGS = frozenset(_PAGE_TAGS.split())


def check_page(source: str) -> Page:
    """Nothing but our own elements, balanced, no handlers, nothing from elsewhere, every link inside has its target."""
    page = Page(source)
    assert page.open == []
    assert {tag for tag, _ in page.tags} <= PAGE_TAGS
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert [tag for tag, _ in page.tags].count("style") == 1
    for tag, attributes in page.tags:
        assert not any(name.startswith("on") or name in {"style", "src", "action", "srcset"} for name in attributes), (
            tag
        )
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    for link in page.values("href"):
        assert link == "data:," or (link.startswith("#") and link[1:] in ids), link
    for name in ("aria-labelledby",):
        assert set(page.values(name)) <= set(ids)
    return page


_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_MARKDOWN_TAGS = frozenset(
    {"h2", "p", "hr", "blockquote", "strong", "details", "summary", "b", "ul", "li", "code", "pre"}
) | {
    *("table", "thead", "tbody", "tr", "th", "td"),
}


def check_markdown(source: str) -> Page:
    """As GitHub renders it: our own elements, balanced, and no link, image, emphasis or HTML of anybody else."""
    source.encode()
    page = Page(_MARKDOWN.render(source))
    assert page.open == []
    assert {tag for tag, _ in page.tags} <= _MARKDOWN_TAGS
    for tag, attributes in page.tags:
        assert attributes.keys() <= ({"style"} if tag in {"th", "td"} else {"class"} if tag == "code" else set()), tag
    return page
