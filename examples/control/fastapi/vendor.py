"""A small vendor with a test control: one agent, a clock that can be moved, and keys in memory."""

import secrets
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from control import add_test_control
from fastapi import Body, FastAPI, Header
from fastapi.responses import JSONResponse

app = FastAPI()


class Staging:
    """It changes no deployments, so it has no method change_deployment."""

    def __init__(self) -> None:
        self.moved = timedelta()
        self.keys: dict[str, Any] = {}
        self.trouble = ("error", 0, 1.0)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.moved

    def advance_clock(self, seconds: float) -> str:
        self.moved += timedelta(seconds=seconds)
        return self.now().isoformat()

    def plan_trouble(self, kind: str, requests: int, agent_id: str | None, seconds: float) -> None:
        if kind == "drop" or agent_id not in (None, "echo"):
            raise ValueError("only errors, limits and delays of the agent echo can be planned")
        self.trouble = (kind, requests, seconds)

    def next_trouble(self) -> tuple[str | None, float]:
        kind, requests, seconds = self.trouble
        self.trouble = (kind, max(0, requests - 1), seconds)
        return (kind if requests > 0 else None, seconds)

    def issue_key(self, tier: str, traits: dict[str, Any]) -> dict[str, str]:
        if set(traits) - {"expires_in_seconds"}:
            raise ValueError("a key can only have expires_in_seconds")
        key = f"sv_{secrets.token_urlsafe(18)}"
        lifetime = traits.get("expires_in_seconds")
        self.keys[key] = None if lifetime is None else self.now() + timedelta(seconds=lifetime)
        return {"name": f"issued-{len(self.keys)}", "key": key, "tier": tier}

    def agents(self) -> dict[str, str]:
        return {"answering": "echo"}


staging = Staging()
add_test_control(app, staging)


def error(status: int, code: str, message: str, **details: float) -> JSONResponse:
    return JSONResponse({"error": {"code": code, "message": message, "status": status, **details}}, status)


@app.post("/v1/agents/echo/invoke")
def invoke(body: Any = Body(), authorization: str = Header("")) -> Any:
    key = authorization.removeprefix("Bearer ")
    if key not in staging.keys:
        return error(401, "INVALID_API_KEY", "The API key is not valid.")
    expiry = staging.keys[key]
    if expiry is not None and expiry <= staging.now():
        return error(401, "EXPIRED_API_KEY", "The API key has expired.")
    trouble, seconds = staging.next_trouble()
    if trouble == "error":
        return error(500, "INTERNAL_ERROR", "This failure was planned.")
    if trouble == "limit":
        return error(429, "RATE_LIMIT_EXCEEDED", "This refusal was planned.", retry_after=seconds)
    if trouble == "delay":
        time.sleep(seconds)
    return {"result": {"text": f"You said: {body.get('query')}"}}
