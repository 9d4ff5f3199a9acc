"""The test control of schemas/test-control.openapi.json, for a FastAPI application. Copy this file.

Give add_test_control an object with the methods that your staging supports; a missing method is a missing call.
"""

import os
import secrets
from ipaddress import ip_address
from typing import Any, Literal

from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request
from pydantic import BaseModel, Field

CALLS = {
    "clock": "advance_clock",
    "deployments": "change_deployment",
    "trouble": "plan_trouble",
    "keys": "issue_key",
    "key-use": "key_use",
    "agents": "agents",
}
LOOPBACK_NAMES = {"127.0.0.1", "localhost", "::1"}


class Advance(BaseModel):
    seconds: float = Field(ge=0)


class Deployment(BaseModel):
    agent_id: str
    event: Literal["created", "updated", "deleted", "health_changed"]
    status: Literal["healthy", "degraded", "unhealthy"] | None = None


class Trouble(BaseModel):
    requests: int = Field(ge=0, le=1000)
    kind: Literal["error", "drop", "limit", "delay"] = "error"
    seconds: float = Field(default=1, ge=0, le=300)
    agent_id: str | None = None


class Key(BaseModel):
    tier: str
    scope: Literal["read-only"] | None = None
    agents: list[str] | None = None
    allowed_ips: list[str] | None = None
    expires_in_seconds: int | None = Field(default=None, ge=0)
    tokens_used: int = Field(default=0, ge=0)


def is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def add_test_control(app: FastAPI, staging: Any, hosts: frozenset[str] = frozenset()) -> None:
    """Adds the calls. Without $TEST_CONTROL_TOKEN it adds none, so production answers 404 to all of them."""
    token = os.environ.get("TEST_CONTROL_TOKEN", "")
    if not token:
        return

    def guard(request: Request) -> None:
        host = request.url.hostname or ""
        is_local = host in LOOPBACK_NAMES and is_loopback((request.scope.get("server") or ("",))[0])
        if not is_local and host not in hosts:
            raise HTTPException(404)
        given = request.headers.get("x-control-token", "")
        if not secrets.compare_digest(given.encode(), token.encode()):
            raise HTTPException(401)

    control = APIRouter(prefix="/test-control", dependencies=[Depends(guard)], include_in_schema=False)
    calls = [call for call, method in CALLS.items() if hasattr(staging, method)]

    def run(call: str, *values: Any) -> Any:
        if call not in calls:
            raise HTTPException(404)
        try:
            return getattr(staging, CALLS[call])(*values)
        except ValueError as error:  # A value that this staging does not support.
            raise HTTPException(400, str(error)) from error

    @control.get("")
    def discover() -> Any:
        return {"contract": "agent-hosting-test-control", "version": 1, "calls": calls}

    @control.post("/clock/advance")
    def advance(body: Advance) -> Any:
        return {"now": run("clock", body.seconds)}

    @control.post("/deployments")
    def change(body: Deployment) -> Any:
        return run("deployments", body.agent_id, body.event, body.status)

    @control.post("/trouble")
    def trouble(body: Trouble) -> Any:
        run("trouble", body.kind, body.requests, body.agent_id, body.seconds)
        return body

    @control.post("/keys")
    def issue(body: Key) -> Any:
        return run("keys", body.tier, body.model_dump(exclude={"tier"}, exclude_defaults=True))

    @control.get("/keys")
    def key_use() -> Any:
        return run("key-use")

    @control.get("/agents")
    def agents() -> Any:
        return {"agents": run("agents")}

    app.include_router(control)
