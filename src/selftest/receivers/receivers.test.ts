import { describe, expect, it } from "vitest";

import { breachOutcomeByLevel } from "../../spec/clause.ts";
import { clauseOf, clausesOfParty } from "../../spec/clauses.ts";
import type { RunResult } from "../../run/run-result.ts";
import { suitesOfParty } from "../../suites/all.ts";
import { type ReceiverBehaviour, receiverFaults, receiverVariants } from "./faults.ts";
import { clausesWith, judgeReceiverAt, quickSuites, serveReceiver } from "./testing/receiver.ts";

const secret = "s3cret-of-the-webhook";

async function judged(
  behaviour: Partial<ReceiverBehaviour>,
  { secrets = [secret] as readonly [string, ...string[]], suites = quickSuites } = {},
): Promise<RunResult> {
  const { url, close } = await serveReceiver(behaviour, secrets);
  try {
    return await judgeReceiverAt(url, secrets, suites);
  } finally {
    close();
  }
}

describe.concurrent("a receiver", () => {
  it("that is right passes every check, and each open question is observed", async () => {
    const result = await judged({}, { suites: suitesOfParty("receiver") });
    expect(clausesWith(result, "breach", "unproven", "error", "inapplicable")).toEqual([]);
    expect(result.judgements.length).toBe(clausesOfParty("receiver").length - 1);
  });

  it.each(receiverVariants)("$name is legal. $summary", async ({ behaviour }) => {
    expect(clausesWith(await judged(behaviour), "breach", "unproven", "error")).toEqual([]);
  });

  it("passes nothing if it refuses everything", async () => {
    const result = await judged({ acceptsSignature: () => false });
    expect(clausesWith(result, "holds", "follows", "observed")).toEqual([]);
  });

  it.each(receiverFaults)("$name breaks $breaks. $summary", async ({ behaviour, breaks }) => {
    expect(clausesWith(await judged(behaviour), "breach", "error")).toEqual(breaks);
  });

  it("of two webhooks is judged with the secret of each", async () => {
    const secrets = [secret, "another-secret-of-mine"] as const;
    const result = await judged({}, { secrets });
    expect(clausesWith(result, "breach", "unproven", "error")).toEqual([]);
    const onlyFirst = await judged({ keyOf: () => Buffer.from(secret) }, { secrets });
    expect(clausesWith(onlyFirst, "breach")).toEqual(["RCV-1"]);
  });
});

describe("the faults of receivers", () => {
  it("break every clause of receivers that a check judges", () => {
    const judgedIds = clausesOfParty("receiver").filter(
      (id) => breachOutcomeByLevel[clauseOf(id).level] !== "observed",
    );
    const broken = new Set(receiverFaults.flatMap(({ breaks }) => breaks));
    expect(judgedIds.filter((id) => clauseOf(id).untestable === undefined && !broken.has(id))).toEqual([]);
  });
});
