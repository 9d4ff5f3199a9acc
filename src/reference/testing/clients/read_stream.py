"""Reads a stream with httpx-sse, as a user's program would, and prints what came as one JSON array of events.

Usage: read_stream.py URL KEY BODY [COUNT]. With COUNT it leaves after so many events.
"""

import json
import sys

import httpx
import httpx_sse

url, key, body = sys.argv[1:4]
count = int(sys.argv[4]) if len(sys.argv) > 4 else None
events = []
with httpx.Client(trust_env=False, timeout=20) as client:
    with httpx_sse.connect_sse(
        client, "POST", url, json=json.loads(body), headers={"Authorization": f"Bearer {key}"}
    ) as source:
        source.response.raise_for_status()
        for event in source.iter_sse():
            events.append({"name": event.event, "data": event.json()})
            if len(events) == count:
                break
print(json.dumps(events))
