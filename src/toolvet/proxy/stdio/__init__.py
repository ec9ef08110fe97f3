"""`toolvet proxy -- COMMAND`: a server on pipes, offered on our stdin and stdout."""
