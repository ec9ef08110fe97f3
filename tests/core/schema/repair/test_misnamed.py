"""One member is missing and one is too much: when the one is the other under another name."""

from typing import Any

import pytest
from tests.core.schema.repair.test_repair import fixed

from toolvet import check_arguments

TEXT, WHOLE, TRUTH = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}


def schema_of(required: dict[str, Any], optional: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": [*required], **more}


CITY = schema_of({"city": TEXT})
TASK = schema_of({"task_id": TEXT})


@pytest.mark.parametrize(
    ("schema", "sent", "meant", "confidence"),
    [
        (TASK, {"id": "1"}, {"task_id": "1"}, "medium"),
        (CITY, {"town": "Porto"}, {"city": "Porto"}, "medium"),
        (
            schema_of({"city": TEXT, "days": WHOLE}),
            {"town": "Porto", "days": 3},
            {"city": "Porto", "days": 3},
            "medium",
        ),
        (schema_of({"city": TEXT}, additionalProperties=False), {"town": "Porto"}, {"city": "Porto"}, "medium"),
        (schema_of({"city": TEXT}, {"units": TEXT}), {"town": "Porto"}, {"city": "Porto"}, "medium"),
        # The optional one is as much like it: the required one is the likelier, and doubtful.
        (schema_of({"task_id": TEXT}, {"project_id": TEXT}), {"id": "1"}, {"task_id": "1"}, "low"),
        # Nothing in the names says so: it is the only one that is left.
        (CITY, {"spot": "Porto"}, {"city": "Porto"}, "low"),
        # One of few texts that are valid: the value says it.
        (schema_of({"direction": {"enum": ["asc", "desc"]}}), {"how": "asc"}, {"direction": "asc"}, "medium"),
        # In an object within, and beside a slip that is repaired first.
        (schema_of({"trip": CITY}), {"trip": {"town": "Porto"}}, {"trip": {"city": "Porto"}}, "medium"),
        (
            schema_of({"city": TEXT, "query": TEXT}),
            {"town": "Porto", "Query": "x"},
            {"city": "Porto", "query": "x"},
            "medium",
        ),
    ],
)
def test_the_only_member_that_is_too_much_is_the_only_one_that_is_missing(
    schema: Any, sent: Any, meant: Any, confidence: str
) -> None:
    assert fixed(schema, sent) == (meant, confidence)


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        # Two members that are too much, or two that are missing.
        (CITY, {"town": "Porto", "village": "Sintra"}),
        (schema_of({"city": TEXT, "street": TEXT}), {"town": "Porto"}),
        # A value of another type.
        (CITY, {"town": 3}),
        (schema_of({"task_id": WHOLE}), {"id": "a"}),
        # An optional member that is more like it, or as likely.
        (schema_of({"city": TEXT}, {"town_hall": TEXT}), {"town": "Porto"}),
        (schema_of({"query": TEXT}, {"sort": TEXT}), {"order": "asc"}),
        # A schema that allows further members on purpose.
        (schema_of({"city": TEXT}, additionalProperties=True), {"town": "Porto"}),
        (schema_of({"city": TEXT}, additionalProperties=TEXT), {"town": "Porto"}),
        (schema_of({"city": TEXT}, patternProperties={"^t": TEXT}), {"town": "Porto"}),
        # A member that may be anything.
        (schema_of({"city": {}}), {"spot": "Porto"}),
        # Names that say what they are, and that is something else.
        (schema_of({"task_id": TEXT}), {"user_id": "7"}),
        (schema_of({"end_date": TEXT}), {"start_date": "2025-01-15"}),
        (schema_of({"limit": WHOLE}), {"page": 2}),
        (schema_of({"email": TEXT}), {"phone": "+351"}),
        (CITY, {"reason": "They asked for it."}),
        (CITY, {"tool": "get_weather"}),
        # True and false fit everywhere.
        (schema_of({"confirmed": TRUTH}), {"loud": True}),
    ],
)
def test_another_member_is_not_taken_for_the_missing_one(schema: Any, sent: Any) -> None:
    found = fixed(schema, sent)
    assert found is None
    report = check_arguments({"name": "t", "inputSchema": schema}, sent)
    assert not any(issue.fix.startswith("Rename") for issue in report.issues)


def test_the_report_says_rename() -> None:
    report = check_arguments({"name": "t", "inputSchema": TASK}, {"id": "1"})
    assert [issue.fix for issue in report.issues] == ["Rename 'id' to 'task_id', or add 'task_id': provide a string."]
    strict = schema_of({"trip": schema_of({"city": TEXT}, additionalProperties=False)})
    report = check_arguments({"name": "t", "inputSchema": strict}, {"trip": {"town": "Porto"}})
    assert {issue.fix for issue in report.issues} == {
        "Rename 'town' to 'city', or remove it; allowed fields: city.",
        "Rename 'town' to 'city', or add 'city': provide a string.",
    }
    assert [issue.did_you_mean for issue in report.issues if issue.kind == "unknown"] == [("city",)]


def test_what_stands_in_one_part_of_the_schema_is_known_in_another() -> None:
    schema = {"properties": {"a": TEXT}, "allOf": [{"required": ["b"]}]}
    report = check_arguments({"name": "t", "inputSchema": schema}, {"a": "x"})
    assert report.issues[0].fix == "Add 'b': provide any value."
    assert report.repair is None
