"""The Python client of the Model Context Protocol with its own OAuth, for a test in another language.

    mcp_sign_in.py ADDRESS REDIRECT_URI

Connects, prints {}, then prints a line for each line of its input, {"name": …, "arguments": {…}}: the result, or {"failed": …}.
Before each of these lines, it may print {"open": URL}. It then reads the parameters of the redirect that follows: {"code": …,
"state": …, "iss": …}, or {"refused": …}.
"""

import asyncio
import json
import sys

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata


class Storage:
    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client_info):
        self.client = client_info


def write(line):
    print(line, flush=True)


async def read():
    return await asyncio.to_thread(sys.stdin.readline)


async def open_url(url):
    write(json.dumps({"open": url}))


async def read_callback():
    parameters = json.loads(await read())
    if "refused" in parameters:
        raise RuntimeError(parameters["refused"])
    return AuthorizationCodeResult(**parameters)


async def main(address, redirect_uri):
    metadata = OAuthClientMetadata(
        client_name="Python Agent", redirect_uris=[redirect_uri], token_endpoint_auth_method="none"
    )
    provider = OAuthClientProvider(address, metadata, Storage(), open_url, read_callback)
    async with httpx2.AsyncClient(auth=provider) as http:
        async with Client(streamable_http_client(address, http_client=http), mode="auto") as client:
            write("{}")
            while line := await read():
                try:
                    result = await client.call_tool(**json.loads(line))
                    write(result.model_dump_json(by_alias=True, exclude_none=True))
                except Exception as error:
                    write(json.dumps({"failed": f"{type(error).__name__}: {error}"}))


asyncio.run(main(*sys.argv[1:]))
