"""Calls the small vendor of examples/control/fastapi, and prints its responses as JSON."""

import json
import os
import sys
from typing import Any

sys.path.insert(0, sys.argv[1])
token = sys.argv[2]
if token:
    os.environ["TEST_CONTROL_TOKEN"] = token

from fastapi.testclient import TestClient
from vendor import app

client = TestClient(app, base_url="http://127.0.0.1")


def call(method: str, path: str, body: Any = None, **headers: str) -> list[Any]:
    sent = {"X-Control-Token": token, **headers}
    response = client.request(method, f"/test-control{path}", json=body, headers=sent)
    return [response.status_code, response.json()]


def issue(seconds: int) -> str:
    issued = call("POST", "/keys", {"tier": "free", "expires_in_seconds": seconds})[1]
    return str(issued.get("key", ""))


def response_of(key: str) -> Any:
    return client.post("/v1/agents/echo/invoke", json={"query": "hi"}, headers={"Authorization": f"Bearer {key}"})


def invoke(key: str) -> list[Any]:
    response = response_of(key)
    return [response.status_code, response.json().get("error", {}).get("code")]


key = issue(60)
print(
    json.dumps(
        {
            "get ": call("GET", ""),
            "get /agents": call("GET", "/agents"),
            "post /keys": call("POST", "/keys", {"tier": "pro"}),
            "post /trouble": call("POST", "/trouble", {"requests": 1}),
            "invokes": [invoke(key), invoke(key)],
            "limit": call("POST", "/trouble", {"requests": 1, "kind": "limit", "seconds": 7}),
            "refused": response_of(key).json(),
            "delay": call("POST", "/trouble", {"requests": 1, "kind": "delay", "seconds": 0}),
            "delayed": invoke(key),
            "drop": call("POST", "/trouble", {"requests": 1, "kind": "drop"})[0],
            "post /clock/advance": call("POST", "/clock/advance", {"seconds": 60}),
            "expired": invoke(key),
            "absent call": call("GET", "/keys")[0],
            "unsupported": call("POST", "/keys", {"tier": "pro", "scope": "read-only"})[0],
            "wrong token": call("GET", "", **{"X-Control-Token": "wrong"})[0],
            "foreign host": call("GET", "", Host="evil.example")[0],
        }
    )
)
