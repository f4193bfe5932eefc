"""Reads a list of messages, and prints which of them the package accepts."""
import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError


def accepts(message):
    try:
        Webhook(message["secret"]).verify(message["body"], message["headers"])
        return True
    except WebhookVerificationError:
        return False


print(json.dumps([accepts(message) for message in json.loads(sys.stdin.buffer.read())]))
