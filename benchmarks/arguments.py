"""Measure `check_arguments` beside `jsonschema`, `fastjsonschema`, pydantic and ajv (Node): valid, wrong, compiling.

The peers run as fast as they can: validators are compiled beforehand, formats are on where they know them. ajv is
installed with npm into a temporary folder; without npm, or without its registry, the script says so and goes on.

python benchmarks/arguments.py [--without-node]
"""

import gc
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import fastjsonschema
import jsonschema  # type: ignore[import-untyped]
from pydantic import BaseModel, EmailStr, Field, StringConstraints, TypeAdapter, ValidationError

from toolvet import check_arguments
from toolvet.checks.arguments.guide import _guide
from toolvet.schema import compiled
from toolvet.schema.compilation import _CACHE

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "login": {"type": "string", "minLength": 3, "maxLength": 20, "pattern": "^[a-z0-9_]+$"},
        "mail": {"type": "string", "format": "email", "description": "Where the receipt goes"},
        "age": {"type": "integer", "minimum": 16, "maximum": 130},
        "plan": {"type": "string", "enum": ["free", "team", "company"]},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 5, "uniqueItems": True},
    },
    "required": ["login", "mail", "age", "plan"],
    "additionalProperties": False,
}
TOOL = {"name": "create_account", "description": "Open an account for a reader", "inputSchema": SCHEMA}
VALID = {"login": "ada_l", "mail": "ada@example.org", "age": 36, "plan": "team", "tags": ["a", "b"]}
FIVE = {"login": "ad", "mail": "example.org", "age": 7, "plan": "tea", "tags": ["a", "a"]}
# Twenty lines of an order: where calls grow, the fixed cost of a report no longer counts.
ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "customer": {"$ref": "#/$defs/person"},
        "lines": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "sku": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"},
                    "count": {"type": "integer", "minimum": 1, "maximum": 99},
                    "gift": {"type": "boolean"},
                },
                "required": ["sku", "count"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["customer", "lines"],
    "$defs": {"person": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
}
ORDER_TOOL = {"name": "order", "description": "Order books", "inputSchema": ORDER}
LINES = {"customer": {"name": "Ada"}, "lines": [{"sku": f"AB-{1000 + n}", "count": 1 + n} for n in range(20)]}
# Nothing here is out of bounds, so a correction is looked for, and found.
MENDABLE = {"login": "ada_l", "Mail": "ada@example.org", "age": "36", "plan": "Team", "tags": "a"}


def microseconds(job: Callable[[], object], budget: float = 1.0) -> float:
    """The best round's mean time of a call: what others do on the machine only ever adds. The collector rests."""
    job()
    start = time.perf_counter()
    job()
    repeats = max(1, min(20_000, int(0.01 / max(time.perf_counter() - start, 1e-7))))
    rounds: list[float] = []
    end = time.perf_counter() + budget
    gc.disable()
    while time.perf_counter() < end or len(rounds) < 5:
        start = time.perf_counter()
        for _ in range(repeats):
            job()
        rounds.append((time.perf_counter() - start) / repeats)
    gc.enable()
    return min(rounds) * 1e6


def fresh(turn: list[int]) -> dict[str, Any]:
    """The schema with another content, so that no cache knows it."""
    turn[0] += 1
    return {**SCHEMA, "title": str(turn[0])}


def ours() -> dict[str, float]:
    turn = [0]

    def help_anew() -> None:
        _CACHE.clear()
        _guide.cache_clear()
        check_arguments(TOOL, FIVE).to_text()

    measured = {
        "valid": microseconds(lambda: check_arguments(TOOL, VALID)),
        "valid, 20 lines": microseconds(lambda: check_arguments(ORDER_TOOL, LINES)),
        "wrong": microseconds(lambda: check_arguments(TOOL, FIVE)),
        "wrong, text": microseconds(lambda: check_arguments(TOOL, FIVE).to_text()),
        "wrong, corrected, text": microseconds(lambda: check_arguments(TOOL, MENDABLE).to_text()),
        "compile": microseconds(lambda: compiled(fresh(turn))),
        "compile, wrong, text": microseconds(help_anew),
    }
    assert check_arguments(TOOL, VALID).valid
    assert len(check_arguments(TOOL, FIVE).issues) == 5
    assert check_arguments(TOOL, MENDABLE).repair
    return measured


def with_jsonschema() -> dict[str, float]:
    kind = jsonschema.Draft202012Validator
    ready = kind(SCHEMA, format_checker=kind.FORMAT_CHECKER)
    order = kind(ORDER, format_checker=kind.FORMAT_CHECKER)
    assert len(list(ready.iter_errors(FIVE))) == 5

    def build() -> None:
        kind.check_schema(SCHEMA)
        kind(SCHEMA).is_valid(VALID)

    return {
        "valid": microseconds(lambda: ready.is_valid(VALID)),
        "valid, 20 lines": microseconds(lambda: order.is_valid(LINES)),
        "wrong": microseconds(lambda: list(ready.iter_errors(FIVE))),
        "compile": microseconds(build),
    }


def with_fastjsonschema() -> dict[str, float]:
    # It speaks draft 7 at most, writes its defaults into the value, and stops at the first error.
    ready = fastjsonschema.compile({**SCHEMA, "$schema": "http://json-schema.org/draft-07/schema#"})

    order = fastjsonschema.compile({**ORDER, "$schema": "http://json-schema.org/draft-07/schema#"})

    def fail() -> None:
        try:
            ready(FIVE)
        except fastjsonschema.JsonSchemaValueException:
            return

    return {
        "valid": microseconds(lambda: ready(VALID)),
        "valid, 20 lines": microseconds(lambda: order(LINES)),
        "first error": microseconds(fail),
        "compile": microseconds(lambda: fastjsonschema.compile(SCHEMA)),
    }


Login = Annotated[str, StringConstraints(min_length=3, max_length=20, pattern="^[a-z0-9_]+$")]
try:
    TypeAdapter(EmailStr)
    Mail: Any = EmailStr
except ImportError:  # email-validator is an extra of pydantic's: without it the format goes unchecked.
    Mail = str


def account() -> type[BaseModel]:
    class Account(BaseModel, extra="forbid", strict=True):
        login: Login
        mail: Mail
        age: Annotated[int, Field(ge=16, le=130)]
        plan: Literal["free", "team", "company"]
        tags: Annotated[list[str], Field(min_length=1, max_length=5)] | None = None

    return Account


def with_pydantic() -> dict[str, float]:
    model = account()

    def fail() -> list[Any]:
        try:
            model.model_validate(FIVE)
        except ValidationError as error:
            return list(error.errors())
        return []

    return {
        "valid": microseconds(lambda: model.model_validate(VALID)),
        "wrong": microseconds(fail),
        "compile": microseconds(account),
    }


AJV = """
import Ajv from "ajv/dist/2020.js"; import formats from "ajv-formats"; import {readFileSync} from "node:fs";
const {schema, valid, five, order, lines} = JSON.parse(readFileSync(0, "utf8"));
const best = (job) => {
  for (let i = 0; i < 20000; i++) job();
  const rounds = [];
  for (let r = 0; r < 15; r++) { const t = process.hrtime.bigint(); for (let i = 0; i < 20000; i++) job();
    rounds.push(Number(process.hrtime.bigint() - t) / 20000 / 1000); }
  return Math.min(...rounds);
};
const make = (s) => { const ajv = new Ajv({allErrors: true}); formats(ajv); return ajv.compile(s); };
const check = make(schema), twenty = make(order);
if (!check(valid) || check(five) || check.errors.length !== 5) throw new Error(JSON.stringify(check.errors));
const ajv = new Ajv({allErrors: true}); formats(ajv);
const compiles = [];
for (let i = 0; i < 300; i++) { const s = {...schema, title: String(i)};
  const t = process.hrtime.bigint(); ajv.compile(s); compiles.push(Number(process.hrtime.bigint() - t) / 1000); }
const alone = [];
for (let i = 0; i < 60; i++) { const t = process.hrtime.bigint(); make(schema);
  alone.push(Number(process.hrtime.bigint() - t) / 1000); }
const least = (list) => Math.min(...list);
const wrong = best(() => { check(five); return check.errors; });
console.log(JSON.stringify({valid: best(() => check(valid)), "valid, 20 lines": best(() => twenty(lines)), wrong,
  compile: least(compiles), "compile, own instance": least(alone)}));
"""


def with_ajv() -> dict[str, float] | str:
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        return "npm or node is not installed"
    with tempfile.TemporaryDirectory() as folder:
        install = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, "ajv@8", "ajv-formats@3"]
        try:
            done = subprocess.run(install, capture_output=True, text=True, timeout=180, check=False)
        except subprocess.TimeoutExpired:
            return "npm install took over three minutes"
        if done.returncode:
            return f"npm install failed: {done.stderr.strip()[:200]}"
        script = Path(folder) / "bench.mjs"
        script.write_text(AJV, encoding="utf-8")
        told = json.dumps({"schema": SCHEMA, "valid": VALID, "five": FIVE, "order": ORDER, "lines": LINES})
        run = subprocess.run([node, str(script)], input=told, capture_output=True, text=True, timeout=180, check=False)
        if run.returncode:
            return f"node failed: {run.stderr.strip()[:300]}"
        measured: dict[str, float] = json.loads(run.stdout)
        return measured


COLUMNS = ("valid", "valid, 20 lines", "wrong", "compile")


def main() -> None:
    mine = ours()
    peers: dict[str, dict[str, float] | str] = {
        "jsonschema": with_jsonschema(),
        "fastjsonschema": with_fastjsonschema(),
        "pydantic": with_pydantic(),
        "ajv (Node)": "left out" if "--without-node" in sys.argv else with_ajv(),
    }
    print(f"{'':24}" + "".join(f"{column:>18}" for column in COLUMNS) + "      (times ours: more is slower)")
    print(f"{'check_arguments':24}" + "".join(f"{mine[column]:15.2f} µs" for column in COLUMNS))
    for name, measured in peers.items():
        if isinstance(measured, str):
            print(f"{name:24}{measured}")
            continue
        cells = [f"{measured[column]:15.2f} µs" if column in measured else f"{'-':>18}" for column in COLUMNS]
        ratios = [f"{measured[column] / mine[column]:.1f}x" if column in measured else "-" for column in COLUMNS]
        print(f"{name:24}{''.join(cells)}      {' '.join(ratios)}")
        for column in measured.keys() - set(COLUMNS):
            print(f"{'':24}{column}: {measured[column]:.2f} µs")
    print("\ncheck_arguments, in full:")
    for column in mine:
        print(f"  {column:24}{mine[column]:10.2f} µs")
    print(
        "\nwrong: all five errors as objects; fastjsonschema knows the first one only, pydantic cannot say uniqueItems."
    )


if __name__ == "__main__":
    main()
