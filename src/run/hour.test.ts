import { describe, expect, it } from "vitest";

import { startEmbedded } from "../reference/embedded/embedded-server.ts";
import { fault, faults, type Patch } from "../reference/patch.ts";
import { runSuites } from "./run.ts";
import { suite } from "./judge/check.ts";
import { limits } from "../suites/limits/checks.ts";

/** The fault affects only the hour: if the minute is used up, `retry_after` is correct. */
const tooEarly = faults("Limits / Scope of limits", {
  "hour-told-as-a-minute": fault("LIM-13", "`retry_after` is a minute where the hour is used up.").by((base) => ({
    retryAfterSeconds: (refusal, nowMs) => Math.min(60, base.retryAfterSeconds(refusal, nowMs)),
  })),
});

async function judge(patches: readonly Patch[]): Promise<Readonly<Record<string, string>>> {
  const { target, close } = await startEmbedded(patches);
  const { free } = target.keys;
  if (free === undefined) throw new Error("the reference has a free key");
  try {
    const judged = await runSuites({
      target: { ...target, keys: { free } },
      suites: [
        suite(
          "The hour",
          limits.checks.filter(({ id }) => id.startsWith("LIM-13")),
        ),
      ],
      maxRequests: null,
      maxWaitMs: 0,
      signal: new AbortController().signal,
    });
    if (judged.kind !== "judged") throw new Error(JSON.stringify(judged.sentence));
    return Object.fromEntries(judged.judgements.map(({ check, finding }) => [check.id, finding.kind]));
  } finally {
    await close();
  }
}

describe("requests after the `retry_after` of an hour", () => {
  it.each([
    ["is let in", [], { "LIM-13/hour": "holds", "LIM-13": "holds" }],
    ["is refused where a minute was told for it", tooEarly, { "LIM-13/hour": "breach", "LIM-13": "holds" }],
  ])("%s", async (_, patches, expected) => {
    expect(await judge(patches)).toMatchObject(expected);
  });
});
