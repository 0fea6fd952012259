"""Verifies requests that the service sends to webhooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic import ValidationError
from standardwebhooks.webhooks import EmptyWebhookSecretError, Webhook, WebhookVerificationError

from .errors import VaultError
from .models import Event


def verify(body: bytes | str, headers: Mapping[str, str], secret: str | Iterable[str]) -> Event:
    """Returns the event of a webhook request after verifying its signature and timestamp.

    `body` is the body exactly as received: parsing and serializing it again would change it. While you replace a
    secret, pass both. An event can arrive more than once: its id is the same each time.
    """
    secrets = [secret] if isinstance(secret, str) else [*secret]
    if not secrets:
        raise VaultError("invalid_argument", "`secret` must not be empty")
    for candidate in secrets:
        try:
            webhook = Webhook(candidate)
        except (ValueError, EmptyWebhookSecretError) as cause:
            raise VaultError("invalid_argument", "`secret` is not the secret of a webhook") from cause
        try:
            webhook.verify(body, dict(headers), json_parse=False)
        except (WebhookVerificationError, ValueError, OverflowError):
            continue
        try:
            return Event.model_validate_json(body)
        except ValidationError as cause:
            raise VaultError("unexpected_response", "The request is signed, but its body is not an event.") from cause
    raise VaultError("invalid_signature", "The request does not come from the service, or is too old.")
