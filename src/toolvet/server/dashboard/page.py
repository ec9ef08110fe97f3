"""One page as data: its path, its title, its place in the menu, the role it needs, and what fills its template."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from starlette.datastructures import QueryParams

from toolvet.server.access.role import Person, Role
from toolvet.server.context import ServerContext


@dataclass(frozen=True)
class RequestContext:
    """One look at a page: the query and the variables of its path, who looks, and what the server knows.

    `form` has the fields of a form that was sent, empty for a look; `address` is where it came from.
    """

    query: QueryParams
    path: Mapping[str, str]
    person: Person
    server: ServerContext
    form: Mapping[str, str] = field(default_factory=dict[str, str])
    address: str = ""

    def note(self, action: str, target: str = "") -> None:
        """Write down who does what: call it before the action, which a StoreError prevents."""
        self.server.note(self.person.name, action, target, address=self.address)


@dataclass(frozen=True)
class Page:
    """A page, found in `pages/`.

    Attributes:
        path: As in Starlette: `/tool/{name}`.
        title: Shown in the browser's tab.
        template: The template that shows it; it gets what `fill` returns, and `context`, `page` and `menu`.
        fill: Reads what the template needs from the store; it runs in a thread. Raises ApiError.
        menu: Its place in the menu and its word there; None for a page that others link to.
        section: The path of the page in the menu that this one belongs to.
        role: The least role that may see it.
        post: For a page with a form: takes what was sent, returns the path to go to next.
    """

    path: str
    title: str
    template: str
    fill: Callable[[RequestContext], Mapping[str, object]]
    menu: tuple[int, str] | None = None
    section: str = ""
    role: Role = Role.VIEWER
    post: Callable[[RequestContext], str] | None = None
