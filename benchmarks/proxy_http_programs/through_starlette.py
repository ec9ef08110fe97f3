"""The usual way: Starlette in front, httpx2 behind, nothing read. `through_starlette.py PORT UPSTREAM_PORT`."""

import sys

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

client = httpx2.AsyncClient(timeout=None, trust_env=False)


async def forward(request: Request) -> Response:
    answer = await client.post(
        f"http://127.0.0.1:{sys.argv[2]}/mcp",
        content=await request.body(),
        headers={"content-type": "application/json", "accept": request.headers["accept"]},
    )
    return Response(answer.content, answer.status_code, media_type=answer.headers["content-type"])


app = Starlette(routes=[Route("/mcp", forward, methods=["POST"])])
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", access_log=False)
