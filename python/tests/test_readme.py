"""The examples of the README run unchanged, and print the documented output."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

import pytest

from connector_vault import AsyncConnectorVault, ConnectorVault

from .conftest import Visit

README = (Path(__file__).parent.parent / "README.md").read_text()
# Leaves out the examples for agents, which need a model: test_agents.py tests the adapters with a scripted one.
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
AGENT_EXAMPLES = re.findall(r"^```python [\w-]+\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def test_agents_have_the_access_of_their_user() -> None:
    assert len(AGENT_EXAMPLES) == 3
    for code in AGENT_EXAMPLES:
        assert re.findall(r"\b(?:tools|toolset)\((\w+)\)", code) == ["for_ann"], code


def matches(line: str, expected_text: str) -> bool:
    return re.fullmatch(re.escape(expected_text).replace(r"\ …", ".*"), line) is not None or line == expected_text


def test_examples_print_the_documented_output(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_KEY", os.environ["README_KEY"])
    monkeypatch.setenv("WEBHOOK_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    assert len(EXAMPLES) >= 8
    names: dict[str, object] = {"__name__": "readme"}
    for code in EXAMPLES:
        printed: list[str] = []

        def say(*values: object, printed: list[str] = printed) -> None:
            text = " ".join(map(str, values))
            link = re.search(r"http\S+/connect/go/\S+", text)
            if link is None:
                printed.append(text)
            else:
                visit(link[0], "allow")

        names["print"] = say
        exec(compile(code, "README.md", "exec"), names)
        expected_text = re.findall(r"# → (.*)$", code, re.MULTILINE)
        assert len(printed) == len(expected_text), f"{printed} instead of {expected_text} in\n{code}"
        for line, expected in zip(printed, expected_text, strict=True):
            assert matches(line, expected), f"{line} instead of {expected} in\n{code}"
    vault, for_ann = names["vault"], names["for_ann"]
    assert isinstance(vault, ConnectorVault) and isinstance(for_ann, AsyncConnectorVault)
    vault.close()
    asyncio.run(for_ann.aclose())
