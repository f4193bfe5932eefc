"""A server with the official Python SDK, of both eras. Usage: server.py stdio, or server.py http PORT"""

import sys
from typing import Annotated

from mcp.server.mcpserver import Elicit, MCPServer, Resolve
from pydantic import BaseModel

server = MCPServer("python")


class Confirmation(BaseModel):
    confirm: bool


def ask(place: str) -> Elicit[Confirmation]:
    return Elicit(f"Deploy to {place}?", Confirmation)


@server.tool()
def sum(a: int, b: int) -> str:
    return str(a + b)


@server.tool()
def deploy(place: str, confirmation: Annotated[Confirmation, Resolve(ask)]) -> str:
    return f"deployed to {place}" if confirmation.confirm else "not deployed"


if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
