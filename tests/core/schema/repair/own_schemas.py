"""A dozen schemas of tools as people write them, for where real ones are not at hand, and for what those lack."""

from typing import Any

_PERSON = {
    "type": "object",
    "properties": {
        "first_name": {"type": "string", "minLength": 1},
        "email": {"type": "string", "format": "email"},
        "date_of_birth": {"type": "string", "format": "date"},
    },
    "required": ["first_name", "email"],
    "additionalProperties": False,
}

OWN_SCHEMAS: list[dict[str, Any]] = [
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
            "sort": {"type": "string", "enum": ["relevance", "created_at", "updated_at"]},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "exact": {"type": "boolean"},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    {
        "type": "object",
        "properties": {
            "guest": {"$ref": "#/$defs/person"},
            "arrival": {"type": "string", "format": "date"},
            "nights": {"type": "integer", "minimum": 1, "maximum": 60},
            "rooms": {"type": "array", "items": {"type": "string", "pattern": "^[A-Z]-[0-9]{3}$"}, "minItems": 1},
        },
        "required": ["guest", "arrival", "nights"],
        "$defs": {"person": _PERSON},
    },
    {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "start": {"type": "string", "format": "date-time"},
            "end": {"type": "string", "format": "date-time"},
            "reminder": {"type": "string", "format": "time"},
            "attendees": {"type": "array", "items": {"type": "string", "format": "email"}},
            "visibility": {"enum": ["public", "private", "confidential"]},
        },
        "required": ["title", "start", "end"],
        "additionalProperties": False,
    },
    {
        "type": "object",
        "properties": {
            "amount": {"type": "number", "exclusiveMinimum": 0, "maximum": 10000},
            "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
            "account_id": {"type": "string", "format": "uuid"},
            "note": {"anyOf": [{"type": "string", "maxLength": 40}, {"type": "null"}], "default": None},
        },
        "required": ["amount", "currency", "account_id"],
    },
    {
        "type": "object",
        "properties": {
            "shape": {
                "oneOf": [
                    {
                        "type": "object",
                        "properties": {"kind": {"const": "circle"}, "radius": {"type": "number", "minimum": 0}},
                        "required": ["kind", "radius"],
                    },
                    {
                        "type": "object",
                        "properties": {
                            "kind": {"const": "rectangle"},
                            "width": {"type": "number", "minimum": 0},
                            "height": {"type": "number", "minimum": 0},
                        },
                        "required": ["kind", "width", "height"],
                    },
                ]
            },
            "color": {"type": "string", "pattern": "^#[0-9a-f]{6}$"},
        },
        "required": ["shape"],
    },
    {
        "type": "object",
        "properties": {
            "file_path": {"type": "string"},
            "max_lines": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "default": None},
            "encoding": {"type": "string", "enum": ["utf-8", "utf-16", "latin-1"], "default": "utf-8"},
            "follow": {"type": "boolean", "default": False},
        },
        "required": ["file_path"],
    },
    {
        "type": "object",
        "properties": {
            "issueNumber": {"type": "integer", "minimum": 1},
            "repoName": {"type": "string"},
            "labels": {"type": "array", "items": {"enum": ["bug", "enhancement", "question", "help wanted"]}},
            "state": {"type": "string", "enum": ["open", "closed"]},
        },
        "required": ["issueNumber", "repoName"],
        "additionalProperties": False,
    },
    {
        "type": "object",
        "properties": {
            "filter": {
                "type": "object",
                "properties": {
                    "min_price": {"type": "number", "minimum": 0},
                    "max_price": {"type": "number", "minimum": 0},
                    "in_stock": {"type": "boolean"},
                },
                "additionalProperties": False,
            },
            "page": {"type": "integer", "minimum": 1},
        },
        "required": ["filter"],
        "additionalProperties": False,
    },
    {
        "type": "object",
        "properties": {
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"sku": {"type": "string"}, "quantity": {"type": "integer", "minimum": 1}},
                    "required": ["sku", "quantity"],
                    "additionalProperties": False,
                },
                "minItems": 1,
            },
            "express": {"type": "boolean"},
        },
        "required": ["items"],
        "additionalProperties": False,
    },
    {
        "type": "object",
        "properties": {
            "coordinates": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 3},
            "unit": {"type": "string", "enum": ["metric", "imperial"]},
            "radius_km": {"type": "number", "minimum": 0.1, "maximum": 500},
        },
        "required": ["coordinates", "unit"],
    },
    {
        "type": "object",
        "properties": {
            "username": {"type": "string", "minLength": 3, "maxLength": 20, "pattern": "^[a-z0-9_]+$"},
            "password": {"type": "string", "minLength": 8},
            "age": {"type": "integer", "minimum": 18, "maximum": 120},
            "role": {"type": "string", "enum": ["admin", "moderator", "user", "guest"]},
        },
        "required": ["username", "age", "role"],
        "additionalProperties": False,
    },
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "table": {"type": "string"},
            "where": {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}},
            "columns": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
            "order": {"type": "string", "enum": ["ASC", "DESC"]},
        },
        "required": ["table"],
        "additionalProperties": False,
    },
]
