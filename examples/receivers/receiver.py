"""Receives webhook deliveries. Start it with WEBHOOK_SECRET and PORT in the environment."""
import hashlib
import hmac
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = os.environ["WEBHOOK_SECRET"].encode()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        expected = hmac.new(KEY, body, hashlib.sha256).hexdigest()
        given = self.headers.get("X-Service-Signature", "")
        is_signed = hmac.compare_digest(expected.encode(), given.encode())
        self.send_response(204 if is_signed else 401)
        self.end_headers()
        if is_signed:
            print(json.loads(body)["type"], flush=True)  # Put the event into a queue here, and handle it later.


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
