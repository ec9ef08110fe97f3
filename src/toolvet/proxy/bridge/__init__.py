"""`toolvet proxy --listen ADDRESS -- COMMAND`: a server on pipes, offered over Streamable HTTP."""
