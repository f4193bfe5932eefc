"""Calls an agent with the official Python SDK, in both eras of the protocol.

Usage: client.py ERA SCENE http URL, or client.py ERA SCENE stdio COMMAND...
"""

import asyncio
import json
import sys

import httpx2
from mcp import Client, StdioServerParameters, stdio_client, types
from mcp.client.streamable_http import streamable_http_client


async def main(era, scene, kind, *target):
    asked = []

    async def fill_in(context, params):
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"decision": "approve"})

    if kind == "http":
        server = streamable_http_client(target[0], http_client=httpx2.AsyncClient(timeout=60))
    else:
        server = stdio_client(StdioServerParameters(command=target[0], args=list(target[1:])))
    options = {"elicitation_callback": fill_in} if era == "modern" else {}
    async with Client(server, mode="legacy" if era == "legacy" else "2026-07-28", **options) as client:
        tools = await client.list_tools()
        agent, message = ("assistant", "Hi") if scene == "talk" else ("billing", "Charge")
        result = await client.call_tool(agent, {"message": message})
        print(json.dumps({
            "tools": [tool.name for tool in tools.tools],
            "result": result.model_dump(mode="json", by_alias=True, exclude_none=True),
            "asked": asked,
        }))


asyncio.run(main(*sys.argv[1:]))
