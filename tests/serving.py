"""A server over HTTP in a process of its own, on a loopback port."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def serving(*command: str, **env: str) -> Iterator[str]:
    """The URL of a server that this command starts; the word `PORT` in it is the port. It ends with the block."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    words = [word.replace("PORT", str(port)) for word in command]
    with subprocess.Popen(words, env={**os.environ, **env}, stderr=subprocess.DEVNULL) as process:
        try:
            while True:
                assert process.poll() is None
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    continue
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.kill()
