"""The Python client of the Model Context Protocol, for a test in another language.

    mcp_client.py ADDRESS SECRET MODE

Connects, then prints a line for each line of its input: {"name": …, "arguments": {…}} calls a tool, {} lists the tools. If
it can't connect, prints the reason to standard error, and exits with 1.
"""

import asyncio
import json
import sys

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client


async def main(address, secret, mode):
    async with httpx2.AsyncClient(headers={"authorization": f"Bearer {secret}"}) as http:
        async with Client(streamable_http_client(address, http_client=http), mode=mode) as client:
            print("{}", flush=True)
            while line := await asyncio.to_thread(sys.stdin.readline):
                request = json.loads(line)
                result = await (client.call_tool(**request) if request else client.list_tools())
                print(result.model_dump_json(by_alias=True, exclude_none=True), flush=True)


asyncio.run(main(*sys.argv[1:]))
