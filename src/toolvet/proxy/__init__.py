"""Checks every call between a client and any MCP server, and keeps a record: no code changes on either side.

    client's side        server's side     folder
    stdin and stdout     a command         stdio
    stdin and stdout     a URL             remote
    HTTP                 a URL             http
    HTTP                 a command         bridge

All four ask one `session` what to do. It takes the bytes of each message and returns steps: bytes for the server, bytes
for the client, notes. It does no I/O. Notes go to `record`: the store, metrics and spans. `install` puts the servers of
a client's configuration file behind the proxy. `settings` has the section `[proxy]` of a settings file.

    toolvet proxy -- uvx mcp-server-git

Start reading at `session/session.py`, then `stdio/loop.py`.
"""
