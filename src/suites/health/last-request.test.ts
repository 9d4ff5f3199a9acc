import { expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { exchange } from "../testing/evidence.ts";
import { judgeBy } from "../testing/judged.ts";
import { lastRequestCheck } from "./last-request.ts";

const suite = { title: "Health", checks: [lastRequestCheck] };
const startSeconds = Date.parse("2026-03-04T05:00:00Z") / 1000;

/** A report some minutes after the start, with a `last_request`. */
const report = (minutes: number, lastRequest: string, fields: object = {}): Exchange =>
  exchange({
    method: "GET",
    path: "/agents/echo/health",
    sentMs: minutes * 60_000,
    headers: [
      ["Content-Type", "application/json"],
      ["X-RateLimit-Reset", String(startSeconds + minutes * 60 + 30)],
      ["X-RateLimit-Reset-After", "30"],
    ],
    json: { status: "healthy", checks: {}, last_request: lastRequest, ...fields },
  });

it.each<[string, Exchange[], string]>([
  ["is that of a request", [report(0, "2026-03-04T04:59:00Z"), report(60, "2026-03-04T05:59:59Z")], "holds"],
  ["stays the same", [report(0, "2026-03-04T01:00:00Z"), report(60, "2026-03-04T01:00:00Z")], "holds"],
  ["is noted some minutes late", [report(0, "2026-03-04T01:00:00Z"), report(60, "2026-03-04T04:55:00Z")], "holds"],
  ["is ahead of the report", [report(0, "2026-03-04T07:00:00Z")], "breach"],
  [
    "has changed, to a time hours before",
    [report(0, "2026-03-04T02:59:00Z"), report(60, "2026-03-04T03:59:00Z")],
    "breach",
  ],
  [
    "is that of another deployment",
    [
      report(0, "2026-03-04T02:59:00Z", { deployment_id: "dep_1" }),
      report(60, "2026-03-04T03:59:00Z", { deployment_id: "dep_2" }),
    ],
    "holds",
  ],
  [
    "has changed between reports of one deployment, to a time hours before",
    [
      report(0, "2026-03-04T02:59:00Z", { deployment_id: "dep_1" }),
      report(30, "2026-03-04T05:29:00Z", { deployment_id: "dep_2" }),
      report(60, "2026-03-04T03:59:00Z", { deployment_id: "dep_1" }),
    ],
    "breach",
  ],
  ["is ahead of the report, with a decimal comma", [report(0, "2026-03-04T07:00:00,5Z")], "breach"],
  ["is ahead of the report, in the basic form", [report(0, "20260304T070000Z")], "breach"],
  ["is a week date", [report(0, "2026-W10-3T04:59:00Z")], "holds"],
  ["is cut to the hour", [report(0, "2026-03-04T04Z"), report(50, "2026-03-04T05Z")], "inapplicable"],
  ["is no timestamp", [report(0, "yesterday")], "inapplicable"],
  ["has no zone", [report(0, "2026-03-04T07:00:00")], "inapplicable"],
])("a `last_request` that %s", (_, exchanges, expected) => {
  expect(judgeBy(suite, "HLT-9/time of a request", { exchanges, validKeys: [] }).kind).toBe(expected);
});
