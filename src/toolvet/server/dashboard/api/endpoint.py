"""One endpoint as data: method, path, the types of what comes in and goes out, the role it needs, and what it does.

The router, the checks of bodies and the OpenAPI document are all made from this: an endpoint is described once.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import msgspec

from toolvet.server.access.gate import KeyForm
from toolvet.server.access.role import Person, Role

if TYPE_CHECKING:
    from starlette.responses import Response

    from toolvet.server.context import ServerContext
    from toolvet.server.failures import ApiError

B = TypeVar("B")


class ApiBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The base of bodies and queries: an unknown field is an error that names it."""


class Nothing(ApiBody, frozen=True):
    """A request without a body or query."""


@dataclass(frozen=True)
class ApiRequest(Generic[B]):
    """One request, read and checked: `body` (or the query of a GET), the variables of the path, who asks from where."""

    body: B
    path: Mapping[str, str]
    person: Person
    site: "ServerContext"
    address: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def note(self, action: str, target: str = "") -> None:
        """Write down who does what: call it before the deed, which a StoreError prevents."""
        self.site.note(self.person.name, action, target, address=self.address)


@dataclass(frozen=True)
class Endpoint(Generic[B]):
    """One thing that the API can do.

    Attributes:
        method: The HTTP method.
        path: As in Starlette: `/v1/verdicts/{id}`.
        summary: One line for the OpenAPI document.
        takes: The type of the body, or of the query where the method has no body.
        run: Takes the request, returns what becomes JSON. Raises ApiError.
        status: The HTTP status of success.
        reply: The type of what `run` returns, for the document; any object for `dict`.
        role: The least role that may ask.
        failures: The HTTP statuses of failures beside those that every endpoint has.
        waits: Whether `run` waits for a disk or a database, and so runs in a thread.
        is_long: Whether the work for this body is long, so that it runs in a thread, too.
        keys: Further forms in which a token may come, for products that cannot send `Authorization: Bearer`.
        is_untyped: Whether a body may come without a `Content-Type`.
        may_be_empty: Whether the reply may be 204 in place of `status`.
        example: A body for the document.
        refused: Makes the response for a failure, where a product would take the envelope for an answer.
    """

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    summary: str
    takes: type[B]
    run: Callable[[ApiRequest[B]], object]
    status: int = 200
    reply: Any = dict[str, Any]
    role: Role = Role.VIEWER
    failures: tuple[int, ...] = ()
    waits: bool = False
    is_long: Callable[[B], bool] | None = None
    keys: tuple[KeyForm, ...] = ()
    is_untyped: bool = False
    may_be_empty: bool = False
    example: Mapping[str, Any] | None = None
    refused: Callable[["ApiError"], "Response"] | None = None

    @property
    def has_body(self) -> bool:
        """Whether the request has a body; otherwise `takes` is its query."""
        return self.method in {"POST", "PUT", "PATCH"} and self.takes is not Nothing
