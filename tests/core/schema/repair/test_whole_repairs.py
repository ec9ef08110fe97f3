"""Repairs of values in full: the value, how sure it is, what it costs, and every step."""

import pytest
from tests.core.schema.repair.whole import B, Schema, T, W, Whole, obj, whole

LIST: Schema = {"type": "array", "items": T}
CODE: Schema = {"type": "string", "pattern": "^[A-Z]+$"}
DAY: Schema = {"type": "string", "format": "date"}


@pytest.mark.parametrize(
    ("schema", "sent", "found"),
    [
        # A text that says that there is nothing.
        (
            obj({"limit": W}),
            {"limit": "n/a"},
            ({}, "medium", 2, ["Removed '/limit': it says null, and may be left out."]),
        ),
        (
            obj({"limit": W}),
            {"limit": "none"},
            ({}, "medium", 2, ["Removed '/limit': it says null, and may be left out."]),
        ),
        (obj({"limit": W}, ["limit"]), {"limit": "none"}, None),
        (
            obj({"name": {"type": "string", "minLength": 9}}),
            {"name": "none"},
            ({}, "medium", 2, ["Removed '/name': it says null, and may be left out."]),
        ),
        (
            obj({"name": {"enum": ["none", "all"]}}),
            {"name": "None"},
            ({"name": "none"}, "high", 1, ['Changed \'/name\' from the text "None" to the text "none".']),
        ),
        (
            obj({"name": {"enum": ["nobody", "all"]}}),
            {"name": "None"},
            ({}, "medium", 2, ["Removed '/name': it says null, and may be left out."]),
        ),
        (
            obj({"code": {"type": "string", "pattern": "^[A-Z]+$"}}),
            {"code": "none"},
            ({"code": "NONE"}, "medium", 1, ['Changed \'/code\' from the text "none" to the text "NONE".']),
        ),
        (
            obj({"flags": LIST}),
            {"flags": "none"},
            ({}, "medium", 2, ["Removed '/flags': it says null, and may be left out."]),
        ),
        (
            obj({"name": {"type": "string", "minLength": 1}}),
            {"name": ""},
            ({}, "medium", 2, ["Removed '/name': it is empty, and may be left out."]),
        ),
        (
            obj({"flags": {"type": "array", "minItems": 1}}),
            {"flags": []},
            ({}, "medium", 2, ["Removed '/flags': it is empty, and may be left out."]),
        ),
        (obj({"flags": {"type": "array", "minItems": 1}}, ["flags"]), {"flags": []}, None),
        (
            obj({"a": {"anyOf": [W, {"type": "null"}]}}, ["a"]),
            {"a": ""},
            ({"a": None}, "medium", 2, ["Changed '/a' from the text \"\" to null."]),
        ),
        (
            obj({"a": {"anyOf": [W, B]}}),
            {"a": ""},
            ({}, "medium", 2, ["Removed '/a': it is empty, and may be left out."]),
        ),
        # Values as another type, or spelt differently.
        (
            obj({"flags": {"type": "array", "uniqueItems": True}}),
            {"flags": [1, 2, 1]},
            ({"flags": [1, 2]}, "medium", 1, ["Changed '/flags' to another list."]),
        ),
        (
            obj({"n": {"type": ["number", "integer"]}}),
            {"n": "5"},
            ({"n": 5}, "high", 1, ["Changed '/n' from the text \"5\" to the number 5."]),
        ),
        (
            obj({"n": {"type": ["number", "boolean"]}}),
            {"n": "1"},
            ({"n": 1}, "medium", 1, ["Changed '/n' from the text \"1\" to the number 1."]),
        ),
        (
            obj({"n": {"type": ["number", "string"]}}),
            {"n": True},
            ({"n": "true"}, "high", 1, ["Changed '/n' from true to the text \"true\"."]),
        ),
        (
            obj({"n": {"type": ["integer", "string"], "maxLength": 2}}),
            {"n": [5]},
            ({"n": 5}, "medium", 1, ["Changed '/n' from a list to the number 5."]),
        ),
        (
            obj({"n": {"type": "string", "maxLength": 2}}),
            {"n": " ab "},
            ({"n": "ab"}, "high", 1, ['Changed \'/n\' from the text " ab " to the text "ab".']),
        ),
        (
            obj({"n": {"type": "string", "maxLength": 2}}),
            {"n": "'ab'"},
            ({"n": "ab"}, "high", 2, ["Changed '/n' from the text \"'ab'\" to the text \"ab\"."]),
        ),
        (
            obj({"n": {"const": 5}}),
            {"n": "5"},
            ({"n": 5}, "high", 2, ["Changed '/n' from the text \"5\" to the number 5."]),
        ),
        (
            obj({"n": {"const": "5"}}),
            {"n": 5},
            ({"n": "5"}, "high", 2, ["Changed '/n' from the number 5 to the text \"5\"."]),
        ),
        (
            obj({"n": {"enum": [5, "5"]}}),
            {"n": "5 "},
            ({"n": "5"}, "medium", 1, ['Changed \'/n\' from the text "5 " to the text "5".']),
        ),
        (
            obj({"n": {"enum": [True, "no"]}}),
            {"n": "yes"},
            ({"n": True}, "medium", 2, ["Changed '/n' from the text \"yes\" to true."]),
        ),
        (
            obj({"n": {"enum": ["true", "no"]}}),
            {"n": True},
            ({"n": "true"}, "high", 2, ["Changed '/n' from true to the text \"true\"."]),
        ),
        (
            obj({"n": {"enum": ["1.0", "no"]}}),
            {"n": 1},
            ({"n": "1.0"}, "high", 2, ["Changed '/n' from the number 1 to the text \"1.0\"."]),
        ),
        (
            obj({"n": {"enum": ["a", "b"]}}),
            {"n": ["A"]},
            ({"n": "a"}, "high", 1, ["Changed '/n' from a list to the text \"a\"."]),
        ),
        (obj({"n": {"enum": ["a", "b"]}}), {"n": ["a", "b"]}, None),
        (obj({"n": {"enum": [["a"], "b"]}}), {"n": "a"}, None),
        (
            obj({"key": {"type": "string", "pattern": "^[A-Z]+$"}, "api_key": CODE}),
            {"key": "ab", "api_key": "abc"},
            (
                {"key": "AB", "api_key": "ABC"},
                "medium",
                2,
                ['Changed \'/key\' from the text "ab" to the text "AB".', "Changed '/api_key' to another text."],
            ),
        ),
        (
            obj({"day": DAY}),
            {"day": 1795348800},
            (
                {"day": "2026-11-22"},
                "low",
                1,
                ["Changed '/day' from the number 1795348800 to the text \"2026-11-22\"."],
            ),
        ),
        (
            obj({"day": DAY}),
            {"day": "Sept 5, 2025"},
            (
                {"day": "2025-09-05"},
                "high",
                1,
                ['Changed \'/day\' from the text "Sept 5, 2025" to the text "2025-09-05".'],
            ),
        ),
        (
            {"type": "array", "items": W},
            ["1", "2"],
            (
                [1, 2],
                "high",
                2,
                [
                    "Changed '/0' from the text \"1\" to the number 1.",
                    "Changed '/1' from the text \"2\" to the number 2.",
                ],
            ),
        ),
        (
            {"type": "array", "items": W},
            "1,2",
            (
                [1, 2],
                "medium",
                3,
                [
                    'Changed the arguments from the text "1,2" to a list.',
                    "Changed '/0' from the text \"1\" to the number 1.",
                    "Changed '/1' from the text \"2\" to the number 2.",
                ],
            ),
        ),
        (obj({}), None, ({}, "medium", 1, ["Changed the arguments from null to an object."])),
        (obj({}), [], ({}, "medium", 1, ["Changed the arguments from a list to an object."])),
        (obj({}), "", None),
        # Texts that hold JSON, or a list with commas, where the schema says so.
        (
            obj({"filter": {"type": "string", "description": "The filter as JSON."}}),
            {"filter": {"c": 1}},
            ({"filter": '{"c":1}'}, "medium", 1, ["Changed '/filter' from an object to a JSON text."]),
        ),
        (
            obj({"payload_json": {"type": "string", "description": "What is sent."}}),
            {"payload_json": {"c": 1}},
            ({"payload_json": '{"c":1}'}, "medium", 1, ["Changed '/payload_json' from an object to a JSON text."]),
        ),
        (
            obj({"payloadJson": T}),
            {"payloadJson": [1, 2]},
            ({"payloadJson": "[1,2]"}, "medium", 1, ["Changed '/payloadJson' from a list to a JSON text."]),
        ),
        (
            obj({"ids": {"type": "string", "title": "JSON", "description": "x"}}),
            {"ids": [1, 2]},
            ({"ids": "[1,2]"}, "medium", 1, ["Changed '/ids' from a list to a JSON text."]),
        ),
        (
            obj({"ids": {"type": "string", "contentMediaType": "application/json"}}),
            {"ids": [1, 2]},
            ({"ids": "[1,2]"}, "medium", 1, ["Changed '/ids' from a list to a JSON text."]),
        ),
        (obj({"ids": T}), {"ids": [1, 2]}, None),
        (
            obj({"ids": {"type": "string", "description": "x" * 995 + " json"}}),
            {"ids": [1, 2]},
            ({"ids": "[1,2]"}, "medium", 1, ["Changed '/ids' from a list to a JSON text."]),
        ),
        (obj({"ids": {"type": "string", "description": "x" * 996 + " json"}}), {"ids": [1, 2]}, None),
        (
            obj({"ids": {"type": "string", "description": "x" * 996 + " CSV"}}),
            {"ids": ["a", "b"]},
            ({"ids": "a,b"}, "medium", 1, ["Changed '/ids' from a list to the text \"a,b\"."]),
        ),
        (obj({"ids": {"type": "string", "description": "x" * 997 + " CSV"}}), {"ids": ["a", "b"]}, None),
        (obj({"ids": {"type": "string", "description": "As CSV"}}, ["ids"]), {"ids": []}, None),
        (obj({"ids": {"type": "string", "description": "As JSON"}}, ["ids"]), {"ids": []}, None),
    ],
)
def test_the_repair_of_a_value_in_full(schema: Schema, sent: object, found: Whole) -> None:
    made = whole(schema, sent)
    assert made == found
    assert repr(made) == repr(found)
