"""Verifies a webhook with PyPI's standardwebhooks: {"secret": …, "headers": {…}, "body": …} on the input, its event on the output."""

import json
import sys

from standardwebhooks.webhooks import Webhook

given = json.load(sys.stdin)
print(json.dumps(Webhook(given["secret"]).verify(given["body"], given["headers"])))
