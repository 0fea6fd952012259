"""An agent that uses its user's account: it finds an action, reads how to call it, and runs it."""

import asyncio
import os
import sys

from pydantic_ai import Agent

from connector_vault import AsyncConnectorVault, ConnectorVault
from connector_vault.models import PendingAttempt
from connector_vault.pydantic_ai import toolset
from scripted import scripted_model

VAULT_URL = os.environ.get("VAULT_URL", "http://localhost:8787")
USER = "bob@example.com"
PLATFORM = "demo-notes"
# A paid model if there is a key for it, otherwise a scripted one.
MODEL = "openai:gpt-5" if os.environ.get("OPENAI_API_KEY") else scripted_model()


def connect_account(vault: ConnectorVault) -> None:
    """Lets the user connect an account, unless they have one."""
    if vault.connections.list(platform=PLATFORM, identity=USER, limit=1).page().rows:
        return
    attempt = vault.connect_attempts.start(
        platform=PLATFORM, auth_method="oauth2", identity=USER, identity_type="user"
    )
    if isinstance(attempt, PendingAttempt):
        print(f"Connect an account first: {attempt.authorization_url}", flush=True)
        vault.connect_attempts.wait(attempt)


async def run_agent(token: str, prompt: str) -> str:
    """Runs the agent with the access of the token."""
    async with AsyncConnectorVault(VAULT_URL, token) as vault:
        agent = Agent(MODEL, instructions="Help with the user's notes.", toolsets=[toolset(vault)])
        result = await agent.run(prompt)
        return result.output


def main() -> None:
    key = os.environ.get("VAULT_KEY")
    if not key:
        sys.exit("VAULT_KEY is not set. The vault's `npm start` prints a key.")
    with ConnectorVault(VAULT_URL, key) as vault:
        connect_account(vault)
        # The agent gets a short-lived token instead of the API key. The token only grants access to this user's
        # connections on this platform.
        session = vault.sessions.create(
            identity=USER,
            platforms=[PLATFORM],
            scopes=["catalog:read", "connections:read", "connections:call"],
        )
    prompt = " ".join(sys.argv[1:]) or "Create a note with the title “Hello from an agent”."
    print(asyncio.run(run_agent(session.token, prompt)))


if __name__ == "__main__":
    main()
