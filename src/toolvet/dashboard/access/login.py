"""The login page: a token in, a session's cookie out; and the way out again."""

from typing import Final
from urllib.parse import parse_qsl

from jinja2 import Environment
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from toolvet.dashboard.access.gate import FORM_FIELD, Gate
from toolvet.dashboard.failures import ApiError, refusal

_MOST_FORM: Final = 256 * 1024
_MOST_FIELDS: Final = 200


def login_routes(templates: Environment, gate: Gate) -> list[Route]:
    """Return the routes `/login` and `/logout`."""
    page = templates.get_template("login.html.jinja")

    async def login(request: Request) -> Response:
        next_path = _inside(request.query_params.get("next", "/"))
        if request.method == "GET":
            return HTMLResponse(page.render(error=None, next=next_path), headers={"cache-control": "no-store"})
        try:
            form = await read_form(request)
            person = gate.by_token(request, form.get("token", "").strip())
        except ApiError as error:
            words = page.render(error=error.envelope.error, next=next_path)
            return HTMLResponse(words, error.status, headers=error.headers)
        _, cookie = gate.sessions.begin(person.name)
        response = RedirectResponse(_inside(form.get("next", "/")), 303)
        gate.keep(response, cookie)
        return response

    async def logout(request: Request) -> Response:
        try:
            form = await read_form(request)
            gate.check_form(gate.caller(request), form.get(FORM_FIELD, ""))
        except ApiError as error:
            return HTMLResponse(error.envelope.error or "", error.status)
        response = RedirectResponse("/login", 303)
        gate.forget(response)
        return response

    return [Route("/login", login, methods=["GET", "POST"]), Route("/logout", logout, methods=["POST"])]


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form. Raises ApiError for another type, and for a form that is too long."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise refusal(415, "this takes a form: application/x-www-form-urlencoded")
    raw = b""
    try:
        async for part in request.stream():
            raw += part
            if len(raw) > _MOST_FORM:
                raise refusal(413, "the form is too long")
        return dict(parse_qsl(raw.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except (ValueError, ClientDisconnect):
        raise refusal(400, "the form cannot be read") from None


def _inside(path: str) -> str:
    """Return a path of this server; anything that would lead elsewhere becomes the overview."""
    is_path = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
    return path if is_path else "/"
