"""Results of any kind become a schema that accepts them, and any result is held to it."""

import json
from contextlib import suppress

from fuzz.draw import Draw
from fuzz.holds import holds

from toolvet.core.checks import contract_drift
from toolvet.core.contract import lock_of, propose_schema, read_lock, write_lock
from toolvet.core.schema import compiled


def check(draw: Draw) -> None:
    """Few different results, many times: a schema needs repeated evidence."""
    some = [draw.json() for _ in range(1 + draw.byte() % 4)]
    results = [draw.one(some) for _ in range(draw.byte() % 60)]
    proposal = propose_schema(results, [draw.json()] * (draw.byte() % 3))
    schema = compiled(proposal.schema or True)
    if _is_json(results):
        holds(
            schema.problem is not None or all(map(schema.is_valid, results)), "a schema refuses what it was made from"
        )
        lock = lock_of(contracts=[{"name": "t", "outputSchema": proposal.schema, "results": proposal.results}])
        holds(read_lock(write_lock(lock)).contract_of("t") is not None, "a lock loses a contract")
    contract_drift(proposal.schema, draw.result())
    contract_drift(draw.json(), draw.result())
    propose_schema([draw.value()] * 12)


def _is_json(results: object) -> bool:
    """Whether JSON can hold the results: no NaN, no half of a surrogate pair."""
    with suppress(ValueError):
        return bool(json.dumps(results, allow_nan=False, ensure_ascii=False).encode())
    return False
