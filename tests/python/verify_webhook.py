"""Verifies a webhook with PyPI's standardwebhooks: reads {"secret": …, "headers": {…}, "body": …}, prints the event."""

import json
import sys

from standardwebhooks.webhooks import Webhook

given = json.load(sys.stdin)
print(json.dumps(Webhook(given["secret"]).verify(given["body"], given["headers"])))
