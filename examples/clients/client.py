"""A client of the Agent Hosting Service Interface in Python, with httpx. Its main part calls every kind of endpoint."""

import hashlib
import hmac
import json
import os
import sys
import time

import httpx

BASE_URL = os.environ["AGENT_BASE_URL"].rstrip("/")
KEY = os.environ["AGENT_API_KEY"]
SECRET = os.environ.get("AGENT_SIGNING_SECRET", "")
AGENT = os.environ.get("AGENT_ID", "echo")
MAX_ATTEMPTS = 5
FIRST_WAIT = 0.1

http = httpx.Client(timeout=30)


class AgentError(Exception):
    pass


def headers(method, path, body, accept):
    found = {"Authorization": f"Bearer {KEY}", "Accept": accept}
    if body:
        found["Content-Type"] = "application/json"
    if SECRET:
        timestamp = str(int(time.time()))
        signed = f"{method}\n{path}\n{timestamp}\n".encode() + body
        found["X-Timestamp"] = timestamp
        found["X-Signature"] = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
    return found


def retry_after(response):
    error = response.json()["error"]
    return error.get("retry_after") or error["details"]["retry_after"]


def request(method, path, body=None, accept="application/json"):
    """Sends a request, and again after a 429 or a 5xx. Returns the response, whose body is not read yet."""
    content = b"" if body is None else json.dumps(body).encode()
    url = httpx.URL(f"{BASE_URL}{path}")
    for attempt in range(MAX_ATTEMPTS):
        sent = http.build_request(
            method, url, content=content, headers=headers(method, url.raw_path.decode(), content, accept)
        )
        try:
            response = http.send(sent, stream=True)
        except httpx.TransportError as error:
            raise AgentError(f"the connection broke: {error}") from error
        if response.status_code < 400:
            return response
        response.read()
        if response.status_code == 429:
            time.sleep(retry_after(response))
        elif response.status_code >= 500:
            time.sleep(FIRST_WAIT * 2**attempt)
        else:
            break
    raise AgentError(f"{method} {path} answered {response.status_code}")


def call(method, path, body=None):
    response = request(method, path, body)
    response.read()
    return response.json()


def events(response):
    """Reads a stream of events: the name and the data of each."""
    name, data = "message", []
    for line in response.iter_lines():
        if line == "":
            if data:
                yield name, "\n".join(data)
            name, data = "message", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)


def stream(query):
    """Streams a response, and again if the service says when. Returns the text."""
    for _ in range(MAX_ATTEMPTS):
        response = request("POST", f"/agents/{AGENT}/stream", {"query": query}, "text/event-stream")
        text, error = "", None
        for name, data in events(response):
            if name == "chunk":
                text += json.loads(data)["content"]
            elif name == "error":
                error = json.loads(data)
                break
            elif name == "done":
                response.close()
                return text
        response.close()
        if error is None or error.get("retry_after") is None:
            raise AgentError(f"the stream failed: {error}")
        time.sleep(error["retry_after"])
    raise AgentError("the stream failed")


def agents():
    """Reads the list of agents, page by page."""
    found, page, pages = [], 1, 1
    while page <= pages:
        answer = call("GET", f"/agents?page={page}&limit=50")
        found += answer["data"]
        pages = answer["pagination"]["pages"]
        page += 1
    return found


def invoke(query):
    parameters = {"temperature": 0.5, "max_tokens": 100, "context": {"language": "en"}}
    body = {"query": query, "parameters": parameters, "session_id": "s-1"}
    return call("POST", f"/agents/{AGENT}/invoke", body)["result"]


def webhook():
    body = {"url": "https://hooks.example.com/agents", "events": ["agent.*"], "agent_id": AGENT, "secret": "example"}
    return call("POST", "/webhooks", body)


def alert():
    return call("POST", "/alerts", {"type": "rate_limit", "threshold": 80, "webhook_url": "https://hooks.example.com/"})


def main():
    failures = 0
    steps = [lambda at=at: invoke(f"question {at}") for at in range(6)]
    steps += [lambda at=at: stream(f"story {at}") for at in range(4)]
    steps += [agents, webhook, alert, lambda: call("GET", "/usage"), lambda: call("GET", f"/agents/{AGENT}/health")]
    for step in steps:
        try:
            step()
        except AgentError as error:
            failures += 1
            print(error, file=sys.stderr)
    return 1 if failures else 0


sys.exit(main())
