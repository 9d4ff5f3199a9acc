import { describe, expect, it } from "vitest";

import { startEmbedded } from "../embedded/embedded.ts";
import { findPatch } from "../reference/patches.ts";
import { evidenceText, readEvidence } from "../report/json.ts";
import { withSmallTiers } from "../selftest/trial.ts";
import { suites } from "../suites/all.ts";
import { judgeAgain } from "../app/rejudge/judge-again.ts";
import { conduct, type Session } from "../app/judge/session.ts";
import { cliWording } from "./wording.ts";

async function judgedWith(fault: string): Promise<Extract<Session, { kind: "judged" }>> {
  const patch = findPatch("fault", fault);
  const embedded = await startEmbedded(patch === undefined ? [] : [patch]);
  try {
    const session = await conduct({
      // Every tier once; with faults two of them, which ask for a fifth of the requests.
      target: patch === undefined ? embedded.target : withSmallTiers(embedded.target),
      suites,
      maxRequests: Number.POSITIVE_INFINITY,
      maxWaitMs: 0,
      wording: cliWording,
      signal: new AbortController().signal,
    });
    if (session.kind !== "judged") throw new Error(session.sentence);
    return session;
  } finally {
    await embedded.close();
  }
}

describe("judging kept evidence again", () => {
  it.each(["none", "done-twice", "crash-answers-200"])(
    "gives the same findings as the run itself (fault: %s)",
    { timeout: 120_000 },
    async (fault) => {
      const { report, evidence } = await judgedWith(fault);
      const kept = readEvidence(evidenceText(evidence), "evidence.json");
      expect(judgeAgain(report, kept, cliWording).findings).toEqual(report.findings);
    },
  );
});
