import { describe, expect, it } from "vitest";

import { startEmbedded } from "../reference/embedded/embedded-server.ts";
import { suites } from "../suites/all.ts";
import { readOnlySkip } from "./skip-reason.ts";
import { runSuites } from "./run.ts";

describe("a read-only run", () => {
  it("sends only GET, and runs every probe that only reads", async () => {
    const embedded = await startEmbedded();
    const result = await runSuites({
      target: embedded.target,
      suites,
      maxRequests: Infinity,
      maxWaitMs: 0,
      readOnly: true,
      signal: new AbortController().signal,
    });
    await embedded.close();
    if (result.kind !== "judged") throw new Error(JSON.stringify(result.sentence));
    expect(new Set(result.exchanges.map(({ request }) => request.method))).toEqual(new Set(["GET"]));
    const claimed = result.runs.filter(({ planned }) => planned.probe.isReadOnly);
    expect(claimed.length).toBeGreaterThan(15);
    for (const { planned, result: outcome } of claimed)
      expect([planned.probe.name, outcome.kind === "skipped" ? outcome.reason : ""]).not.toContainEqual(
        readOnlySkip.reason,
      );
  });
});
