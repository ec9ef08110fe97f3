"""`/v1/guardrails/…` and `/v1/hooks/claude`: what other products ask, answered in their own words."""

from typing import Annotated, Any, Final

import msgspec
from starlette.responses import Response

from toolvet.core.envelope import missing_required_error
from toolvet.core.json_value import members
from toolvet.server.access.role import Role
from toolvet.server.dashboard.api.bodies import note_fault
from toolvet.server.dashboard.api.endpoint import ApiBody, ApiRequest, Endpoint, Nothing
from toolvet.server.dashboard.api.fields import Name
from toolvet.server.failures import ApiError, json_response
from toolvet.server.guardrails.answering import GuardrailQuestion, GuardrailState, MissingMemberError, answer_to
from toolvet.server.guardrails.dialect import PRODUCTS, Product, body_type, filled, guardrail_dialect, moments_by_path

_MOST_TOOLS: Final = 10_000


class DeclareTools(ApiBody, frozen=True, kw_only=True):
    """The tools of a server, for products that do not send them with a call; none take back what was declared."""

    server: Name
    tools: Annotated[list[dict[str, Any]], msgspec.Meta(max_length=_MOST_TOOLS)]


def _declare(asked: ApiRequest[DeclareTools]) -> object:
    asked.note("declare_tools", asked.body.server)
    known = asked.site.kept(GuardrailState).memory.declare(asked.body.server, asked.body.tools)
    return {"server": asked.body.server, "tools": known, "unreadable": len(asked.body.tools) - known}


def _endpoint(product: Product, path: str) -> Endpoint[Any]:
    dialect = guardrail_dialect(product)

    def answer(asked: ApiRequest[Any]) -> object:
        state = asked.site.kept(GuardrailState)
        is_admin = asked.person.may(Role.ADMIN)
        question = GuardrailQuestion(product, path, asked.body, asked.person.name, asked.headers, is_admin)
        found: object
        try:
            found = answer_to(question, state.memory, state.judge(asked.site.settings))
        except MissingMemberError as error:
            name = f"{error}"
            raise ApiError(422, missing_required_error(name, message=f"{dialect.product} sends {name}")) from error
        except Exception as error:  # noqa: BLE001 - a bug of ours must not stop the product's users
            note_fault(error)
            found = {} if dialect.hook else filled(dialect.answers["pass"], {}) or None
        return Response(status_code=204) if found is None else found

    def refused(error: ApiError) -> Response:
        """The envelope, with what makes the product see a refusal as well."""
        said = filled(dialect.refused, {"$text": f"toolvet: {error.envelope.error}"})
        document: dict[str, object] = {**error.envelope.to_dict(), **members(said)}
        return json_response(document, error.status, error.headers)

    return Endpoint(
        "POST",
        path,
        f"Answer {dialect.product} in its own words.",
        body_type(product, path),
        answer,
        reply=Any,
        keys=dialect.keys,
        is_untyped=dialect.untyped,
        may_be_empty=dialect.answers.get("pass") == "",
        refused=refused if dialect.refused else None,
        is_long=lambda _: True,
    )


ENDPOINTS = (
    Endpoint(
        "GET",
        "/v1/guardrails/tools",
        "List the tools that were declared.",
        Nothing,
        lambda asked: {"servers": asked.site.kept(GuardrailState).memory.declared()},
    ),
    Endpoint(
        "PUT",
        "/v1/guardrails/tools",
        "Declare the tools of a server, for hooks and interceptors.",
        DeclareTools,
        _declare,
        role=Role.REVIEWER,
        waits=True,
    ),
    *(_endpoint(product, path) for product in PRODUCTS for path in moments_by_path(guardrail_dialect(product))),
)
