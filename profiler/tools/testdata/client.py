"""Lists the tools of a server on standard input and output, and calls some of them.

The command of the server is in the arguments, and the calls are on standard input: a JSON list of
[tool, arguments]. It prints a JSON object: the tools with their schemas, and the answers."""
import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main():
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:], env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        listed = await session.list_tools()
        answers = []
        for tool, arguments in json.load(sys.stdin):
            result = await session.call_tool(tool, arguments)  # validates against the output schema
            answers.append(result.content[0].text)
        json.dump({"tools": [t.model_dump(mode="json", by_alias=True) for t in listed.tools], "answers": answers}, sys.stdout)


asyncio.run(main())
