import { afterAll, beforeAll, expect, it } from "vitest";

import { targetOf } from "../reference/embedded/embedded-server.ts";
import { type Reference, startReference, virtualClock } from "../reference/reference.ts";
import { suites } from "../suites/all.ts";
import { runSuites } from "./run.ts";

let reference: Reference;
beforeAll(async () => {
  reference = await startReference({ auth: "none", clock: virtualClock(), receivers: "in-process" });
});
afterAll(() => reference.close());

it("judges a server without keys by all but keys, and sends none", { timeout: 120_000 }, async () => {
  const { judgements, exchanges } = await runSuites({
    target: targetOf(reference),
    suites,
    maxRequests: Number.POSITIVE_INFINITY,
    maxWaitMs: 0,
    signal: new AbortController().signal,
  });
  const broken = judgements.filter(({ finding }) => finding.kind === "breach" || finding.kind === "error");
  expect(broken).toEqual([]);
  const isExempt = (clause: string): boolean =>
    judgements.every(({ check, finding }) => check.clause !== clause || ("exempt" in finding && finding.exempt));
  expect(["AUTH-1", "AUTH-4", "KEY-3", "REQ-2", "INV-1", "SSE-1"].filter(isExempt)).toEqual([
    "AUTH-1",
    "AUTH-4",
    "KEY-3",
    "REQ-2",
  ]);
  const names = exchanges.flatMap(({ request }) => request.headers.map(([name]) => name.toLowerCase()));
  expect(new Set(names).has("authorization")).toBe(false);
});
