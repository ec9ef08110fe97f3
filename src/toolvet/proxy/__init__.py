"""Checks every call between a client and any MCP server, and keeps a record: no code changes on either side.

    client's side        server's side     folder
    stdin and stdout     a command         stdio
    stdin and stdout     a URL             remote
    HTTP                 a URL             http
    HTTP                 a command         bridge

All four feed `record`. `install` puts the servers of a client's configuration file behind the proxy.
"""
