"""An identity provider in a thread: as much of OpenID Connect as a login needs, with faults on demand."""

import base64
import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "toolvet", "s3cret/of the:client"


@cache
def first_key() -> RSAKey:
    """A key for all providers: to make one takes a second on a busy machine."""
    return RSAKey.generate_key(2048, {"kid": "one"})


class Provider:
    """`claims` go into the ID token over the right ones (None takes one out); `key` signs it."""

    def __init__(self) -> None:
        self.issuer = ""
        self.claims: dict[str, Any] = {}
        self.metadata: dict[str, Any] = {}
        self.key = first_key()
        self.shown_key = self.key
        self.algorithm = "RS256"
        self.codes: dict[str, dict[str, str]] = {}
        # Wrong answers, by path: a body, or parts of one that never ends.
        self.bodies: dict[str, bytes | Iterator[bytes]] = {}
        self.token: Callable[[str], object] | None = None

    def document(self) -> dict[str, Any]:
        names = {"authorization_endpoint": "/auth", "token_endpoint": "/token", "jwks_uri": "/keys"}
        said = {"issuer": self.issuer, "authorization_response_iss_parameter_supported": True}
        return {**said, **{name: self.issuer + path for name, path in names.items()}, **self.metadata}

    def authorize(self, asked: dict[str, str]) -> str:
        assert (asked["response_type"], asked["client_id"]) == ("code", CLIENT)
        assert asked["code_challenge_method"] == "S256"
        code = f"code-{len(self.codes)}"
        self.codes[code] = asked
        reply = {"code": code, "state": asked["state"], "iss": self.issuer}
        return f"{asked['redirect_uri']}?{urlencode(reply)}"

    def redeem(self, form: dict[str, str], authorization: str) -> dict[str, Any] | None:
        name, _, secret = base64.b64decode(authorization.partition(" ")[2]).decode().partition(":")
        asked = self.codes.pop(form.get("code", ""), None)
        if asked is None or (name, unquote_plus(secret)) != (CLIENT, SECRET):
            return None
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=")
        if challenge.decode() != asked["code_challenge"] or form["redirect_uri"] != asked["redirect_uri"]:
            return None
        now = int(time.time())
        right = {"iss": self.issuer, "sub": "7", "aud": CLIENT, "exp": now + 300, "iat": now, "nonce": asked["nonce"]}
        claims = {name: value for name, value in {**right, **self.claims}.items() if value is not None}
        header = {"alg": self.algorithm, "kid": "one"}
        token = jwt.encode(header, claims, self.key)
        return {"access_token": "a", "token_type": "Bearer", "id_token": self.token(token) if self.token else token}


@contextmanager
def provider() -> Iterator[Provider]:
    made = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path)
            if path.path == "/auth":
                self.send_response(303)
                query = {name: values[0] for name, values in parse_qs(path.query).items()}
                self.send_header("location", made.authorize(query))
                self.end_headers()
            elif path.path == "/keys":
                self._json(200, {"keys": [made.shown_key.as_dict(private=False)]})
            else:
                self._json(200, made.document())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            found = made.redeem(form, self.headers.get("authorization", ""))
            self._json(200 if found else 400, found or {"error": "invalid_grant"})

        def _json(self, status: int, document: object) -> None:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.end_headers()
            odd = made.bodies.get(urlsplit(self.path).path, json.dumps(document).encode())
            with suppress(ConnectionError):
                for part in [odd] if isinstance(odd, bytes) else odd:
                    self.wfile.write(part)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made.issuer = f"http://127.0.0.1:{server.server_address[1]}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield made
        server.shutdown()
