"""The login page: a token in, a session's cookie out; and the way out again."""

import asyncio
import sys
from contextlib import suppress
from html import escape
from typing import Final
from urllib.parse import parse_qsl

from jinja2 import Environment
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from toolvet.core.envelope import unavailable_error
from toolvet.errors import StoreError
from toolvet.server.access.gate import FORM_FIELD, Gate, address_of
from toolvet.server.access.guard import note_refusal
from toolvet.server.access.session import CALLBACK, FLOW_SECONDS
from toolvet.server.context import ServerContext
from toolvet.server.failures import ApiError, refusal

_MOST_FORM: Final = 256 * 1024
_MOST_FIELDS: Final = 200
FORM_SECONDS: Final = 20.0


class LoginPages:
    """The login page, its way out, and the way over an identity provider.

    Args:
        templates: The templates of pages.
        gate: Knows the people and their sessions.
        server: Where logins are written down.
    """

    def __init__(self, templates: Environment, gate: Gate, server: ServerContext) -> None:
        self._page = templates.get_template("login.html.jinja")
        self._continue = templates.get_template("continue.html.jinja")
        self._gate = gate
        self._server = server

    def routes(self) -> list[Route]:
        """Return the routes of these pages."""
        found = [
            Route("/login", self._login, methods=["GET", "POST"]),
            Route("/logout", self._logout, methods=["POST"]),
        ]
        if self._gate.oidc is not None:
            found += [Route("/login/oidc", self._begin_oidc), Route(CALLBACK, self._finish_oidc)]
        return found

    async def _login(self, request: Request) -> Response:
        next_path = _inside(request.query_params.get("next", "/"))
        if request.method != "POST":
            return self._show(next_path)
        try:
            form = await read_form(request)
            next_path = _inside(form.get("next", "/"))
            person = self._gate.by_token(request, form.get("token", "").strip())
            await self._note(request, person.name, "login")
        except ApiError as error:
            return await self._refuse(request, error, next_path)
        self._gate.end_session(request)
        _, cookie = self._gate.sessions.begin(person.name)
        response = RedirectResponse(next_path, 303)
        self._gate.keep(response, cookie)
        return response

    async def _logout(self, request: Request) -> Response:
        try:
            form = await read_form(request)
            caller = self._gate.caller(request)
            self._gate.check_form(caller, form.get(FORM_FIELD, ""))
        except ApiError as error:
            return HTMLResponse(escape(error.envelope.error or ""), error.status)
        if caller.session is not None:
            self._gate.sessions.end(caller.session)
            with suppress(ApiError):
                await self._note(request, caller.session.name, "logout")
        response = RedirectResponse("/login", 303)
        self._gate.forget(response)
        return response

    async def _begin_oidc(self, request: Request) -> Response:
        oidc, next_path = self._gate.oidc, _inside(request.query_params.get("next", "/"))
        if oidc is None:
            return self._show(next_path)
        try:
            address, flow = await oidc.begin(next_path)
        except ApiError as error:
            return self._show(next_path, error)
        response = RedirectResponse(address, 303)
        # Lax: the provider's page sends the browser back here.
        response.set_cookie(
            f"{self._gate.cookie}_oidc",
            self._gate.sessions.seal("oidc", flow),
            max_age=FLOW_SECONDS,
            httponly=True,
            samesite="lax",
            secure=self._gate.is_secure,
        )
        return response

    async def _finish_oidc(self, request: Request) -> Response:
        gate, oidc = self._gate, self._gate.oidc
        if oidc is None:
            return self._show("/")
        from toolvet.server.access.oidc import OidcFlow  # noqa: PLC0415 - an extra

        flow = gate.sessions.unseal("oidc", request.cookies.get(f"{gate.cookie}_oidc"), OidcFlow)
        try:
            person = await oidc.finish(dict(request.query_params), flow)
            await self._note(request, person.name, "login", "oidc")
        except ApiError as error:
            return await self._refuse(request, error, "/" if flow is None else flow.next)
        gate.end_session(request)
        is_listed = gate.people.by_name(person.name) == person
        _, cookie = gate.sessions.begin(person.name, "" if is_listed else person.role.word)
        # A redirect would still count as the provider's, and browsers would not send our strict cookie with it.
        shown = self._continue.render(next="/" if flow is None else _inside(flow.next))
        response = HTMLResponse(shown, headers={"cache-control": "no-store"})
        gate.keep(response, cookie)
        response.delete_cookie(f"{gate.cookie}_oidc", httponly=True, samesite="lax", secure=gate.is_secure)
        return response

    async def _refuse(self, request: Request, error: ApiError, next_path: str) -> Response:
        await note_refusal(self._server, request, error.envelope.error or "", action="login_failed")
        return self._show(next_path, error)

    def _show(self, next_path: str, error: ApiError | None = None) -> Response:
        words = None if error is None else error.envelope.error
        shown = self._page.render(error=words, next=next_path, oidc=self._gate.oidc is not None)
        headers = {"cache-control": "no-store", **((error.headers if error else None) or {})}
        return HTMLResponse(shown, 200 if error is None else error.status, headers=headers)

    async def _note(self, request: Request, who: str, action: str, target: str = "") -> None:
        """Write it down. Raises ApiError if the store cannot: what is not written down does not happen."""
        try:
            await run_in_threadpool(self._server.note, who, action, target, address=address_of(request))
        except StoreError as error:
            sys.stderr.write(f"toolvet: {error}\n")
            raise ApiError(503, unavailable_error("The store cannot be reached."), {"retry-after": "5"}) from error


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form. Raises ApiError for another type, and for a form that is too long."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise refusal(415, "this takes a form: application/x-www-form-urlencoded")
    if request.headers.get("content-encoding", "identity").strip().lower() not in {"identity", ""}:
        raise refusal(415, "the form must not be compressed", {"accept-encoding": "identity"})
    raw = b""
    try:
        async with asyncio.timeout(FORM_SECONDS):
            async for part in request.stream():
                raw += part
                if len(raw) > _MOST_FORM:
                    raise refusal(413, "the form is too long")
        return dict(parse_qsl(raw.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except (ValueError, ClientDisconnect):
        raise refusal(400, "the form cannot be read") from None
    except TimeoutError:
        slow = f"the form took longer than {FORM_SECONDS:.0f} seconds"
        raise refusal(408, slow, {"connection": "close"}) from None


def _inside(path: str) -> str:
    """Return a path of this server; anything that would lead elsewhere becomes the overview."""
    is_path = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
    return path if is_path else "/"
