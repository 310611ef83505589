"""Lists the tools of a server and calls some of them.

The command of the server is in the arguments, or its URL, with the bearer token in TOKEN. The calls
are on standard input: a JSON list of [tool, arguments]. It prints a JSON object: the tools with
their schemas, and the answers."""
import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


@asynccontextmanager
async def streams(target):
    if not target[0].startswith("http"):
        async with stdio_client(StdioServerParameters(command=target[0], args=target[1:], env=dict(os.environ))) as pair:
            yield pair
        return
    client = create_mcp_http_client(headers={"Authorization": "Bearer " + os.environ["TOKEN"]})
    async with client, streamable_http_client(target[0], http_client=client) as pair:
        yield pair


async def main():
    async with streams(sys.argv[1:]) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        listed = await session.list_tools()
        answers = []
        for tool, arguments in json.load(sys.stdin):
            result = await session.call_tool(tool, arguments)  # validates against the output schema
            answers.append(result.content[0].text)
        json.dump({"tools": [t.model_dump(mode="json", by_alias=True) for t in listed.tools], "answers": answers}, sys.stdout)


asyncio.run(main())
