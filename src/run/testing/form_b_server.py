"""A server of the Agent Hosting Service Interface, written apart from the rest: Python's standard library, threads, form B
errors, RATE_LIMITED, rolling windows, rate-limit headers that speak of the minute alone, an envelope on list and usage, and
no optional field anywhere. The conformance suites must find nothing wrong with it, and must find each of its defects.

    python3 form_b_server.py --key TEXT=pro [--key TEXT=free] [--expired TEXT] [--broken NAME]

Prints {"port": N} on standard output once it listens on loopback, and ends when its standard input does.
"""

import argparse
import json
import math
import sys
import threading
import time
from collections import deque
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

# Limits / Request rate and Token quota: per hour, per minute, at once, tokens a month.
TIERS = {
    "free": (100, 10, 2, 100_000),
    "pro": (1_000, 100, 10, 2_000_000),
    "team": (5_000, 500, 25, 10_000_000),
}
MINUTE = 60.0
HOUR = 3600.0

# Agents: seconds that an invoke takes, seconds between two events of a stream.
AGENTS = {
    "parrot": (0.0, 0.0),
    "tortoise": (1.2, 0.2),
    "heron": (0.0, 0.0),
}

DEFECTS = {
    "done-without-execution-time": "the done event has no execution_time",
    "remaining-falls-by-two": "each admitted request takes two off the X-RateLimit-Remaining that is shown",
    "retry-after-in-milliseconds": "retry_after of a 429 is in milliseconds",
    "no-headers-on-404": "answers with 404 have no rate-limit headers",
    "unknown-parameters-refused": "an unknown key inside parameters of an invoke is refused with 400",
    "wrong-key-is-forbidden": "a wrong key is answered with 403",
}


class Account:
    """What one key has used. Instants are of the monotonic clock, in seconds."""

    def __init__(self, tier):
        self.per_hour, self.per_minute, self.concurrent, self.tokens_per_month = TIERS[tier]
        self.admitted = deque()
        self.running = 0
        self.tokens_used = 0
        self.lock = threading.Lock()

    def forget(self, now):
        while self.admitted and self.admitted[0] <= now - HOUR:
            self.admitted.popleft()

    def within(self, now, window):
        return [at for at in self.admitted if at > now - window]

    def shown(self, now):
        """Limit, remaining, and the instant when the oldest request leaves the minute."""
        recent = self.within(now, MINUTE)
        return self.per_minute, max(0, self.per_minute - len(recent)), (recent[0] if recent else now) + MINUTE

    def shown_now(self):
        with self.lock:
            return self.shown(time.monotonic())

    def admit(self, now):
        """None where there is room, which is then taken; else limit and seconds to wait."""
        self.forget(now)
        if self.running >= self.concurrent:
            return self.concurrent, 1.0
        waits = []
        for window, most in ((MINUTE, self.per_minute), (HOUR, self.per_hour)):
            recent = self.within(now, window)
            if len(recent) >= most:
                waits.append((recent[len(recent) - most] + window - now, most))
        if waits:
            after, most = max(waits)
            return most, after
        self.admitted.append(now)
        self.running += 1
        return None


class Refusal(Exception):
    def __init__(self, status, code, message, details=None):
        super().__init__(message)
        self.status, self.code, self.message, self.details = status, code, message, details


def iso(unix):
    return datetime.fromtimestamp(unix, timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "parrot-house/3"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.handle_request()

    do_POST = do_PUT = do_DELETE = do_PATCH = do_GET

    # One request, from its body to its answer.

    def handle_request(self):
        self.account = None
        self.shown = (10, 10, time.monotonic() + MINUTE)
        self.raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        address = urlsplit(self.path)
        self.query_string = parse_qs(address.query)
        parts = [unquote(part) for part in address.path.split("/")[1:]]
        self.holds_slot = False
        try:
            self.account = self.authenticate()
            if self.is_health(parts):
                self.shown = self.account.shown_now()
                self.health(parts[2])
                return
            self.take_turn()
            self.route(parts)
        except Refusal as refusal:
            self.refuse(refusal)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            self.give_back()

    def authenticate(self):
        scheme, _, key = (self.headers.get("Authorization") or "").strip().partition(" ")
        key = key.strip()
        if scheme.lower() == "bearer" and key in self.server.accounts:
            return self.server.accounts[key]
        if scheme.lower() == "bearer" and key in self.server.expired:
            raise Refusal(401, "EXPIRED_API_KEY", "This key has run out.")
        status = 403 if self.broken("wrong-key-is-forbidden") and key else 401
        raise Refusal(status, "INVALID_API_KEY", "No such key.")

    def take_turn(self):
        now = time.monotonic()
        with self.account.lock:
            refused = self.account.admit(now)
            # Of this instant, and not of the answer's: requests that run together each see their own number.
            self.shown = self.account.shown(now)
        if refused is None:
            self.holds_slot = True
            return
        limit, after = refused
        after = math.ceil(after * 10) / 10
        details = {
            "limit": limit,
            "remaining": 0,
            "reset_at": iso(math.ceil(time.time() + after)),
            "retry_after": after * 1000 if self.broken("retry-after-in-milliseconds") else after,
        }
        raise Refusal(429, "RATE_LIMITED", "Too many requests.", details)

    def give_back(self):
        if self.holds_slot:
            self.holds_slot = False
            with self.account.lock:
                self.account.running -= 1

    def route(self, parts):
        match (self.command, parts):
            case ("POST", ["v1", "agents", agent, "invoke"]):
                self.invoke(self.agent(agent))
            case ("POST", ["v1", "agents", agent, "stream"]):
                self.stream(self.agent(agent))
            case ("GET", ["v1", "agents"]):
                self.list_agents()
            case ("GET", ["v1", "usage"] | ["v1", "keys", "usage"]):
                self.usage()
            case _:
                raise Refusal(404, "NOT_FOUND", "Nothing here.")

    def is_health(self, parts):
        return self.command == "GET" and len(parts) == 4 and parts[:2] == ["v1", "agents"] and parts[3] == "health"

    def agent(self, agent):
        if agent not in AGENTS:
            raise Refusal(404, "AGENT_NOT_FOUND", "No such agent.")
        return AGENTS[agent]

    def ask(self):
        """The query and parameters of an invoke or stream."""
        try:
            body = json.loads(self.raw)
        except ValueError:
            raise Refusal(400, "INVALID_INPUT", "The body is not JSON.", {"field": "body", "reason": "malformed"}) from None
        if not isinstance(body, dict):
            raise Refusal(400, "INVALID_INPUT", "The body is no object.", {"field": "body", "reason": "type"})
        if "query" not in body:
            raise Refusal(400, "MISSING_REQUIRED_FIELD", "query is missing.", {"field": "query", "reason": "missing"})
        if not isinstance(body["query"], str):
            raise Refusal(400, "INVALID_INPUT", "query is no text.", {"field": "query", "reason": "type"})
        parameters = body.get("parameters", {})
        if not isinstance(parameters, dict):
            raise Refusal(400, "INVALID_INPUT", "parameters is no object.", {"field": "parameters", "reason": "type"})
        return body["query"], parameters

    # Endpoints.

    def invoke(self, agent):
        query, parameters = self.ask()
        known = {"temperature", "max_tokens", "context"}
        if self.broken("unknown-parameters-refused") and not known.issuperset(parameters):
            raise Refusal(400, "INVALID_INPUT", "Unknown parameter.", {"field": "parameters", "reason": "unknown"})
        time.sleep(agent[0])
        self.spend(query)
        self.answer(200, {"result": {"said": query}})

    def stream(self, agent):
        query, _ = self.ask()
        begun = time.monotonic()
        words = [word + " " for word in query.split(" ")] + ["squawk"] * (10 if agent[1] else 2)
        self.wfile.write(self.head(200, [("content-type", "text/event-stream"), ("transfer-encoding", "chunked")]))
        self.piece(": hello\r\n\r\n")
        self.event("start", {"message": "Listening."})
        for index, word in enumerate(words, 1):
            time.sleep(agent[1])
            self.piece(": still here\r\n\r\n")
            self.event("chunk", {"content": word, "index": index})
        done = {"message": "Done.", "usage": {"total_tokens": self.spend(query)}}
        if not self.broken("done-without-execution-time"):
            done["execution_time"] = round(time.monotonic() - begun, 6)
        self.event("done", done)
        self.wfile.write(b"0\r\n\r\n")

    def event(self, name, data):
        text = f"event:{name}\r\ndata:{json.dumps(data, ensure_ascii=False)}\r\n\r\n"
        middle = len(text) // 2
        self.piece(text[:middle])
        self.piece(text[middle:])

    def piece(self, text):
        data = text.encode("utf-8", "replace")
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def health(self, agent):
        self.agent(agent)
        self.answer(200, {"checks": {}, "status": "healthy"})

    def list_agents(self):
        page, limit = self.whole("page", 1), self.whole("limit", 10)
        names = list(AGENTS)
        self.envelope(
            {
                "data": [{"id": name} for name in names[(page - 1) * limit : page * limit]],
                "pagination": {"page": page, "limit": limit, "total": len(names), "pages": math.ceil(len(names) / limit)},
            }
        )

    def whole(self, name, default):
        text = self.query_string.get(name, [str(default)])[0]
        if not text.isdecimal() or int(text) < 1:
            raise Refusal(400, "INVALID_INPUT", f"{name} is no positive number.", {"field": name, "reason": "range"})
        return int(text)

    def usage(self):
        now = time.monotonic()
        with self.account.lock:
            used, tokens = len(self.account.within(now, HOUR)), self.account.tokens_used
        per_hour, per_month = self.account.per_hour, self.account.tokens_per_month
        self.envelope(
            {
                "period": iso(time.time()),
                "requests": {"used": used, "limit": per_hour, "remaining": per_hour - used},
                "tokens": {"used": tokens, "limit": per_month, "remaining": per_month - tokens},
            }
        )

    def spend(self, query):
        tokens = 2 * len(query.split())
        with self.account.lock:
            self.account.tokens_used += tokens
        return tokens

    # Answers.

    def envelope(self, result):
        self.answer(
            200,
            {"status": "success", "data": {"result": result, "metadata": {"execution_time": 0.001, "tokens_used": 0}}},
        )

    def refuse(self, refusal):
        error = {"code": refusal.code, "message": refusal.message}
        if refusal.details is not None:
            error["details"] = refusal.details
        self.answer(refusal.status, {"status": "error", "error": error})

    def answer(self, status, body):
        # The slot is free before the answer is there: who has the answer may send again.
        self.give_back()
        data = json.dumps(body, indent=1).encode()
        fields = [("content-type", "application/json; charset=utf-8"), ("content-length", str(len(data)))]
        self.wfile.write(self.head(status, fields) + data)

    def head(self, status, fields):
        fields = [("date", self.date_time_string()), ("server", self.version_string()), *fields]
        if not (status == 404 and self.broken("no-headers-on-404")):
            fields += self.rate_limit_fields()
        lines = [f"HTTP/1.1 {status} {self.responses[status][0]}", *(f"{name}: {value}" for name, value in fields)]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def rate_limit_fields(self):
        limit, remaining, resets = self.shown
        after = max(0.0, resets - time.monotonic())
        if self.broken("remaining-falls-by-two"):
            remaining = max(0, limit - 2 * (limit - remaining))
        return [
            ("x-ratelimit-limit", limit),
            ("x-ratelimit-remaining", remaining),
            ("x-ratelimit-reset", math.ceil(time.time() + after)),
            ("x-ratelimit-reset-after", math.ceil(after)),
        ]

    def broken(self, name):
        return self.server.defect == name


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--key", action="append", default=[], metavar="TEXT=TIER")
    parser.add_argument("--expired", action="append", default=[], metavar="TEXT")
    parser.add_argument("--broken", choices=sorted(DEFECTS))
    options = parser.parse_args()
    server = Server(("127.0.0.1", 0), Handler)
    server.accounts = {key: Account(tier) for key, _, tier in (each.rpartition("=") for each in options.key)}
    server.expired = set(options.expired)
    server.defect = options.broken
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    # Whoever started us holds the other end: no server outlives its test.
    sys.stdin.read()


if __name__ == "__main__":
    main()
