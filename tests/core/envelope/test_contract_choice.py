"""The contract that a caller asked for, and what v1 has no place for."""

import asyncio
from typing import Any

import pytest

from toolvet import EnvelopeError, check_envelope, error_response, success_response
from toolvet.core.envelope import response_contract, to_problem_details


def test_the_contract_holds_inside_and_for_its_task_alone() -> None:
    async def answered(contract: str) -> dict[str, Any]:
        with response_contract(contract):
            await asyncio.sleep(0)
            return success_response({"n": 1}).to_dict()

    async def both() -> list[dict[str, Any]]:
        return list(await asyncio.gather(answered("v1"), answered("v2")))

    first, second = asyncio.run(both())
    assert first == {"n": 1}
    assert second["meta"] == {"version": "response-v2"}
    assert success_response().to_dict()["success"] is True


def test_what_is_asked_for_by_name_wins() -> None:
    with response_contract("v1"):
        assert success_response().to_dict("v2")["success"] is True
        assert success_response().to_json("v2").startswith('{"success"')
        assert success_response({"n": 1}).to_json() == '{"n":1}'


def test_checks_and_converters_see_the_envelope_under_every_contract() -> None:
    response = error_response("No ship", error_code="NOT_FOUND")
    with response_contract("v1"):
        assert check_envelope(response) == ()
        assert to_problem_details(response)["status"] == 404


def test_a_v1_failure_loses_no_error_of_the_callers_own() -> None:
    written = error_response("No ship", data={"error": {"code": 7}}).to_dict("v1")
    assert written["error"] == "No ship"
    assert written["data"]["error"] == {"code": 7}


@pytest.mark.parametrize("contract", ["v3", "", "V1"])
def test_other_contracts_are_refused(contract: str) -> None:
    with pytest.raises(EnvelopeError, match="contract must be v1 or v2"), response_contract(contract):
        pass
    with pytest.raises(EnvelopeError, match="contract must be v1 or v2"):
        success_response().to_dict(contract)


def test_a_number_that_cannot_be_written_is_refused_with_its_place() -> None:
    with pytest.raises(EnvelopeError, match=r"^data/n is a whole number of over 4,000 digits"):
        success_response({"n": 10**5000})
    assert check_envelope({**success_response().to_dict(), "data": {"n": 10**5000}})[0].pointer == "/data/n"
    assert success_response({"n": 10**4000}).to_json().endswith("}")
