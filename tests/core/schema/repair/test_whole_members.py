"""Repairs of members in full: the value, how sure it is, what it costs, and every step."""

import pytest
from tests.core.schema.repair.whole import SHUT, B, Schema, T, W, Whole, obj, whole

OPEN: Schema = {"additionalProperties": True}
USER = obj({"name": T, "age": W}, ["name"])
SHAPE: Schema = {
    "anyOf": [
        obj({"kind": {"const": "x"}, "n": W}, ["kind", "n"]),
        obj({"kind": {"const": "y"}, "m": W}, ["kind", "m"]),
    ]
}
# Members that name a call; the wrapping beside them is the seventh.
BESIDE = {"name": "t", "id": "1", "type": "f", "tool": "t", "function": "x", "tool_name": "y"}


@pytest.mark.parametrize(
    ("schema", "sent", "found"),
    [
        # Names.
        (
            obj({"a": W, "b": W}, ["a", "b"], **SHUT),
            {"A": 1, "B": "2"},
            (
                {"a": 1, "b": 2},
                "high",
                4,
                ["Renamed '/A' to '/a'.", "Renamed '/B' to '/b'.", "Changed '/b' from the text \"2\" to the number 2."],
            ),
        ),
        (
            obj({"a": W, "b": W}, ["a", "b"]),
            {"A": 1, "a": "2", "B": 3},
            (
                {"A": 1, "a": 2, "b": 3},
                "high",
                3,
                ["Renamed '/B' to '/b'.", "Changed '/a' from the text \"2\" to the number 2."],
            ),
        ),
        (obj({"a": W, "b": W}, ["a", "b"]), {"a": 1, "A": 2}, None),
        (
            obj({"relevance": W}, ["relevance"]),
            {"relevence": "5"},
            (
                {"relevance": 5},
                "medium",
                3,
                ["Renamed '/relevence' to '/relevance'.", "Changed '/relevance' from the text \"5\" to the number 5."],
            ),
        ),
        (obj({"relevance": W}, ["relevance"]), {"relevence": "abc"}, None),
        (
            obj({"relevance": W, "recency": W}, ["relevance", "recency"]),
            {"relevence": 1, "recancy": 2},
            (
                {"relevance": 1, "recency": 2},
                "medium",
                3,
                ["Renamed '/relevence' to '/relevance'.", "Renamed '/recancy' to '/recency'."],
            ),
        ),
        (
            obj({"file_path": T}, ["file_path"], **SHUT),
            {"file_name_of": "a"},
            ({"file_path": "a"}, "low", 2, ["Renamed '/file_name_of' to '/file_path'."]),
        ),
        (
            obj({"file_path": T}, ["file_path"], **OPEN),
            {"a_file": "a"},
            ({"file_path": "a"}, "low", 2, ["Renamed '/a_file' to '/file_path'."]),
        ),
        (obj({"file_path": T}, ["file_path"], **OPEN), {"a_file": "a", "b_file": "b"}, None),
        (obj({"file_path": T, "file_mode": T}, ["file_path", "file_mode"], **OPEN), {"a_file": "a"}, None),
        (
            obj({"days": W}, ["days"]),
            {"days_id": "3"},
            (
                {"days": 3},
                "medium",
                3,
                ["Renamed '/days_id' to '/days'.", "Changed '/days' from the text \"3\" to the number 3."],
            ),
        ),
        (
            obj({"start_date": T, "end_date": T}, ["start_date", "end_date"]),
            {"start_day": "a", "end_day": "b"},
            (
                {"start_date": "a", "end_date": "b"},
                "low",
                4,
                ["Renamed '/start_day' to '/start_date'.", "Renamed '/end_day' to '/end_date'."],
            ),
        ),
        (
            obj({"city": T, "units": {"const": "C"}}, ["city", "units"]),
            {"town": "Porto"},
            (
                {"units": "C", "city": "Porto"},
                "medium",
                4,
                ["Added '/units' with the text \"C\", the only value that is allowed.", "Renamed '/town' to '/city'."],
            ),
        ),
        (
            {"type": "object", "propertyNames": {"pattern": "^[A-Z]+$"}},
            {"OK": 1, "bad": 2, "worse ": 3},
            (
                {"OK": 1, "BAD": 2, "WORSE": 3},
                "medium",
                3,
                ["Renamed '/bad' to '/BAD'.", "Renamed '/worse ' to '/WORSE'."],
            ),
        ),
        (
            obj({"a": {"$ref": "#/$defs/n"}}, ["a"], **{"$defs": {"n": W}}),
            {"A": "5"},
            ({"a": 5}, "high", 3, ["Renamed '/A' to '/a'.", "Changed '/a' from the text \"5\" to the number 5."]),
        ),
        (
            {"type": "object", "dependentRequired": {"a": ["b"]}},
            {"a": 1, "B": 2},
            ({"a": 1, "b": 2}, "high", 2, ["Renamed '/B' to '/b'."]),
        ),
        # Members that only wrap others, and members at another level.
        (
            obj({"user": USER}, **SHUT),
            {"name": "Ann", "age": 5},
            (
                {"user": {"name": "Ann", "age": 5}},
                "high",
                4,
                [
                    "Added '/user' with an object, to hold what belongs there.",
                    "Moved '/name' to '/user/name'.",
                    "Moved '/age' to '/user/age'.",
                ],
            ),
        ),
        (
            obj({"user": USER}, ["user"]),
            {"name": "Ann"},
            (
                {"user": {"name": "Ann"}},
                "medium",
                3,
                ["Added '/user' with an object, to hold what belongs there.", "Moved '/name' to '/user/name'."],
            ),
        ),
        (obj({"user": USER}, ["user"]), {"age": 5}, None),
        (
            obj({"user": USER, "x": W}, ["user", "x"]),
            {"user": {"name": "Ann", "x": 5}},
            ({"user": {"name": "Ann"}, "x": 5}, "medium", 2, ["Moved '/user/x' to '/x'."]),
        ),
        (
            obj({"user": USER}, ["user"]),
            {"user": {"user": {"name": "Ann", "x": 1}}},
            ({"user": {"name": "Ann", "x": 1}}, "high", 1, ["Moved '/user/user' to '/user'."]),
        ),
        (
            obj({"user": USER}, ["user"]),
            {"user": {"name": {"name": "Ann"}}},
            ({"user": {"name": "Ann"}}, "medium", 1, ["Changed '/user/name' from an object to the text \"Ann\"."]),
        ),
        (
            obj({"user": USER, "x": W}, **SHUT),
            {"user": {"name": "Ann"}, "age": 5},
            ({"user": {"name": "Ann", "age": 5}}, "medium", 2, ["Moved '/age' to '/user/age'."]),
        ),
        (
            obj({"one": obj({"p": W}, ["p"]), "two": obj({"q": W}, ["q"])}, **SHUT),
            {"p": 1, "q": 2},
            (
                {"one": {"p": 1}, "two": {"q": 2}},
                "high",
                5,
                [
                    "Added '/one' with an object, to hold what belongs there.",
                    "Moved '/p' to '/one/p'.",
                    "Added '/two' with an object, to hold what belongs there.",
                    "Moved '/q' to '/two/q'.",
                ],
            ),
        ),
        (
            obj({"one": {"properties": {"p": W}, "required": ["p"]}}, **SHUT),
            {"p": 1},
            (
                {"one": {"p": 1}},
                "medium",
                3,
                ["Added '/one' with an object, to hold what belongs there.", "Moved '/p' to '/one/p'."],
            ),
        ),
        (obj({"one": {}}, **SHUT), {"p": 1}, ({}, "medium", 11, ["Removed '/p': the schema allows no such member."])),
        (
            obj({"a": W, "b": W}, ["a", "b"]),
            {"z": {"a": 1, "b": 2}},
            ({"a": 1, "b": 2}, "high", 1, ["Took the arguments out of '/z'."]),
        ),
        (
            obj({"a": W, "b": W}, ["a", "b"]),
            {"z": {"a": 1, "b": 2, "c": 3}},
            ({"a": 1, "b": 2, "c": 3}, "medium", 1, ["Took the arguments out of '/z'."]),
        ),
        (
            obj({"a": W, "b": W}, ["a", "b"]),
            {"z": {"a": 1}, "y": {"b": 2}},
            (
                {"a": 1, "b": 2},
                "medium",
                5,
                [
                    "Moved '/z/a' to '/a'.",
                    "Moved '/y/b' to '/b'.",
                    "Removed '/z': it is empty now.",
                    "Removed '/y': it is empty now.",
                ],
            ),
        ),
        (obj({"a": W, "b": W}, ["a", "b"]), {"z": {"a": 1}, "y": {"b": 2, "c": 3}}, None),
        (
            obj({"a": W, "b": W}, ["a", "b"]),
            {"input": '{"a": 1, "b": "2"}'},
            (
                {"a": 1, "b": 2},
                "high",
                2,
                [
                    "Changed '/input' from a JSON text to an object.",
                    "Took the arguments out of '/input'.",
                    "Changed '/b' from the text \"2\" to the number 2.",
                ],
            ),
        ),
        (obj({"a": W, "b": W}, ["a", "b"]), {"input": "{'a': 1, 'b': 2}", "x": 1}, None),
        (
            obj({"a": W}, ["a"]),
            {"name": "f", "id": "x", "input": {"a": 1}},
            ({"a": 1}, "medium", 1, ["Took the arguments out of '/input'."]),
        ),
        (
            obj({"a": W, "name": T}, ["a"]),
            {"name": "f", "input": {"a": 1}},
            ({"name": "f", "a": 1}, "medium", 3, ["Moved '/input/a' to '/a'.", "Removed '/input': it is empty now."]),
        ),
        (
            obj({"a": W, "name": T}, ["a"]),
            {"name": "f", "input": {"a": 1, "name": "g"}},
            ({"a": 1, "name": "g"}, "medium", 1, ["Took the arguments out of '/input'."]),
        ),
        (obj({"a": W}, **SHUT), {"input": {}}, ({}, "high", 1, ["Took the arguments out of '/input'."])),
        (
            obj({"a": W}, **SHUT),
            {"q": {"a": 1, "b": 2}},
            (
                {"a": 1},
                "medium",
                12,
                ["Took the arguments out of '/q'.", "Removed '/b': the schema allows no such member."],
            ),
        ),
        (
            obj({"a": W}, ["a"]),
            {**BESIDE, "input": {"a": 1}},
            ({"a": 1}, "medium", 1, ["Took the arguments out of '/input'."]),
        ),
        (
            obj({"a": W}, ["a"]),
            {**BESIDE, "call_id": "z", "input": {"a": 1}},
            (
                {
                    "name": "t",
                    "id": "1",
                    "type": "f",
                    "tool": "t",
                    "function": "x",
                    "tool_name": "y",
                    "call_id": "z",
                    "a": 1,
                },
                "medium",
                3,
                ["Moved '/input/a' to '/a'.", "Removed '/input': it is empty now."],
            ),
        ),
        (
            obj({"a": obj({"b": W}, **SHUT), "c": W, "d": W}),
            {"a": {"b": 1, "c": 2, "d": 3}},
            ({"a": {"b": 1}, "c": 2, "d": 3}, "medium", 3, ["Moved '/a/c' to '/c'.", "Moved '/a/d' to '/d'."]),
        ),
        (
            obj({"a": obj({"b": W}, **SHUT), "c": W}),
            {"a": {"b": 1, "c": "2"}},
            ({"a": {"b": 1}}, "medium", 11, ["Removed '/a/c': the schema allows no such member."]),
        ),
        (
            obj({"a": obj({"e": obj({"b": W}, **SHUT), "c": W}), "c": W}),
            {"a": {"e": {"b": 1, "c": 2}}},
            ({"a": {"e": {"b": 1}, "c": 2}}, "medium", 2, ["Moved '/a/e/c' to '/a/c'."]),
        ),
        (
            obj({"a": {"type": "array", "items": obj({"b": W}, **SHUT)}, "c": W}),
            {"a": [{"b": 1, "c": 2}]},
            ({"a": [{"b": 1}], "c": 2}, "medium", 2, ["Moved '/a/0/c' to '/c'."]),
        ),
        (
            obj({"a": W}, ["a"]),
            {"tool": {"v": 1}, "input": {"a": 1}},
            ({"a": 1}, "medium", 1, ["Took the arguments out of '/input'."]),
        ),
        (
            obj({"relevance": W}, **SHUT),
            {"relevence": "abc"},
            ({}, "medium", 11, ["Removed '/relevence': the schema allows no such member."]),
        ),
        # Members that the schema knows, and those that it does not.
        (
            obj({"a": {"const": 3}, "b": {"default": 7}, "c": W}, ["a", "b"]),
            {},
            (
                {"a": 3, "b": 7},
                "medium",
                3,
                [
                    "Added '/a' with the number 3, the only value that is allowed.",
                    "Added '/b' with the number 7, its default.",
                ],
            ),
        ),
        (obj({"a": {"const": 3}, "b": {"default": "x", "type": "integer"}}, ["a", "b"]), {}, None),
        (obj({"a": W, "b": {"enum": [4]}}, ["a", "b"]), {}, None),
        (
            obj({"a": W, "b": W, "c": W, "d": W}, **SHUT),
            {"a": 1, "b": 2, "x": 5, "y": 6},
            (
                {"a": 1, "b": 2},
                "medium",
                21,
                ["Removed '/x': the schema allows no such member.", "Removed '/y': the schema allows no such member."],
            ),
        ),
        (
            obj({"a": W, "b": W, "c": W, "d": W}, **SHUT),
            {"a": 1, "x": 5, "y": 6},
            (
                {"a": 1},
                "low",
                21,
                ["Removed '/x': the schema allows no such member.", "Removed '/y': the schema allows no such member."],
            ),
        ),
        (
            obj({"a": W}, **SHUT),
            {"x": None, "y": None},
            (
                {},
                "high",
                21,
                ["Removed '/x': the schema allows no such member.", "Removed '/y': the schema allows no such member."],
            ),
        ),
        (
            obj({"a": W}, **SHUT),
            {"x": None, "y": 1},
            (
                {},
                "low",
                21,
                ["Removed '/x': the schema allows no such member.", "Removed '/y': the schema allows no such member."],
            ),
        ),
        (
            {"type": "object", "properties": {"a": W}, "unevaluatedProperties": False},
            {"a": 1, "b": None},
            ({"a": 1}, "high", 11, ["Removed '/b': the schema allows no such member."]),
        ),
        (
            {"type": "object", "patternProperties": {"^x": W}, **SHUT},
            {"x1": "5", "y": None},
            (
                {"x1": 5},
                "high",
                12,
                [
                    "Removed '/y': the schema allows no such member.",
                    "Changed '/x1' from the text \"5\" to the number 5.",
                ],
            ),
        ),
        (obj({}, minProperties=1), {}, None),
        # Choices.
        (
            {"oneOf": [W, {"type": "number"}, B]},
            "1",
            (True, "medium", 2, ['Changed the arguments from the text "1" to true.']),
        ),
        ({"oneOf": [W, B]}, "1", (1, "medium", 2, ['Changed the arguments from the text "1" to the number 1.'])),
        ({"anyOf": [W, B]}, "true", (True, "high", 2, ['Changed the arguments from the text "true" to true.'])),
        (
            {"anyOf": [W, {"type": "array", "items": W}]},
            ["5"],
            ([5], "medium", 2, ["Changed '/0' from the text \"5\" to the number 5."]),
        ),
        (
            obj({"a": {"anyOf": [W, {"type": "array", "items": W}]}}, ["a"]),
            {"a": "5"},
            ({"a": 5}, "medium", 2, ["Changed '/a' from the text \"5\" to the number 5."]),
        ),
        (
            obj({"a": SHAPE}, ["a"]),
            {"a": {"kind": "y", "M": "5"}},
            (
                {"a": {"kind": "y", "m": 5}},
                "high",
                4,
                ["Renamed '/a/M' to '/a/m'.", "Changed '/a/m' from the text \"5\" to the number 5."],
            ),
        ),
        (obj({"a": SHAPE}, ["a"], **SHUT), {"kind": "y", "m": 5}, None),
        (
            obj({"a": SHAPE}, ["a"], **SHUT),
            {"a": {"kind": "y"}, "m": 5},
            ({"a": {"kind": "y", "m": 5}}, "medium", 2, ["Moved '/m' to '/a/m'."]),
        ),
    ],
)
def test_the_repair_of_members_in_full(schema: Schema, sent: object, found: Whole) -> None:
    made = whole(schema, sent)
    assert made == found
    assert repr(made) == repr(found)
