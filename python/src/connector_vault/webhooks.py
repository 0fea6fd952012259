"""What the service sends to webhooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic import ValidationError
from standardwebhooks.webhooks import EmptyWebhookSecretError, Webhook, WebhookVerificationError

from .errors import VaultError
from .models import Event


def verify(body: bytes | str, headers: Mapping[str, str], secret: str | Iterable[str]) -> Event:
    """Returns the event of a request to a webhook, if the service has really sent it.

    `body` is the body as it came: what has been parsed and written again is no longer what was signed. While you replace a
    secret, pass both. An event can come twice: remember its id.
    """
    secrets = [secret] if isinstance(secret, str) else [*secret]
    if not secrets:
        raise VaultError("invalid_argument", "`secret` must not be empty")
    for one in secrets:
        try:
            webhook = Webhook(one)
        except (ValueError, EmptyWebhookSecretError) as cause:
            raise VaultError("invalid_argument", "`secret` is not the secret of a webhook") from cause
        try:
            webhook.verify(body, dict(headers), json_parse=False)
        except (WebhookVerificationError, ValueError, OverflowError):
            continue
        try:
            return Event.model_validate_json(body)
        except ValidationError as cause:
            raise VaultError("unexpected_response", "The request is signed, and its body is no event.") from cause
    raise VaultError("invalid_signature", "The request does not come from the service, or is too old.")
