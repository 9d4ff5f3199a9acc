"""Receives webhook deliveries as a WSGI application. Start it with WEBHOOK_SECRET and PORT in the environment."""
import hashlib
import hmac
import json
import os
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIServer, make_server

SECRET = os.environ["WEBHOOK_SECRET"].encode()


def is_signed(body, signature):
    expected = hmac.new(SECRET, body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode("latin-1"))


def handle(event):
    print(event["type"], flush=True)  # Put the event into a queue here, and handle it later.
    return "204 No Content"


def application(environ, start_response):
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    signature = environ.get("HTTP_X_SERVICE_SIGNATURE", "")
    status = handle(json.loads(body)) if is_signed(body, signature) else "401 Unauthorized"
    start_response(status, [])
    return []


class Server(ThreadingMixIn, WSGIServer):
    pass


make_server("127.0.0.1", int(os.environ["PORT"]), application, server_class=Server).serve_forever()
