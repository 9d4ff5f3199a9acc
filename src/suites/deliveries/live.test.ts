import { describe, expect, it } from "vitest";

import { runSuites } from "../../run/run.ts";
import { deliveries } from "./checks.ts";
import { type Habits, startHosting } from "../testing/hosting.ts";
import { webhooks } from "../webhooks/checks.ts";

type Words = Readonly<Record<string, string>>;

/** What the checks say of a service, by their ids: a reading, or the kind of finding. Without a clock, waits are real, up to so many. */
async function judge(habits: Partial<Habits>, maxWaitMs: number | null = null): Promise<Words> {
  const hosting = await startHosting(habits, maxWaitMs === null);
  try {
    const result = await runSuites({
      target: hosting.target,
      suites: [webhooks, deliveries],
      maxRequests: 500,
      maxWaitMs: maxWaitMs ?? 0,
      signal: new AbortController().signal,
      ...((maxWaitMs !== null || habits.worksInRealTime) && { timers: hosting.timers }),
    });
    if (result.kind !== "judged") throw new Error(JSON.stringify(result.sentence));
    return Object.fromEntries(
      result.judgements.map(({ check, finding }) => {
        if (finding.kind === "error") throw new Error(finding.reason);
        return [check.id, finding.kind === "follows" ? finding.reading : finding.kind];
      }),
    );
  } finally {
    hosting.close();
  }
}

const broken = (words: Words): string[] => Object.keys(words).filter((id) => words[id] === "breach");

describe.concurrent("a hosting service of another author", () => {
  it.each<readonly [string, Partial<Habits>, Words]>([
    ["as the document has it", {}, { "HOOK-27": "from-previous", "HOOK-28": "five-attempts", "HOOK-29": "delivery" }],
    ["pauses from the first attempt", { pauses: [60, 300, 1800, 7200], fromFirst: true }, { "HOOK-27": "from-first" }],
    ["an immediate retry", { pauses: [0, 60, 300, 1800, 7200] }, { "HOOK-28": "six-attempts" }],
    ["five attempts with an immediate one", { pauses: [0, 60, 300, 1800] }, { "HOOK-28": "four-retries" }],
    ["a queue that is polled", { pollSeconds: 5 }, { "HOOK-28": "five-attempts" }],
    ["a queue that is looked at in real time", { looksEveryMs: 60 }, { "HOOK-27": "from-previous" }],
    ["duplicates", { duplicates: 1 }, { "HOOK-25": "holds" }],
    ["a late duplicate now and then", { lateDuplicateEvery: 3 }, { "HOOK-25": "holds" }],
    ["timers that lag behind its clock", { timerLagMs: 60 }, { "HOOK-38": "holds" }],
    ["patience for ten seconds", { answerWithinMs: 10_000 }, { "HOOK-24": "observed" }],
    [
      "an id for each webhook in an envelope",
      { creates: ({ id }) => [200, { status: "success", data: { result: { id } } }] },
      { "WHK-1": "answers-200", "WHK-7": "holds" },
    ],
    ["no id at all", { creates: () => [201, {}] }, { "WHK-7": "unproven" }],
  ])("passes with %s", async (_, habits, expected) => {
    const words = await judge(habits);
    expect(broken(words)).toEqual([]);
    expect(words).toMatchObject({ "HOOK-26": "holds", "HOOK-21": "holds", "HOOK-13": "holds", ...expected });
  });

  it.each<readonly [string, Partial<Habits>, readonly string[]]>([
    [
      "does not try again",
      { pauses: [] },
      ["HOOK-22", "HOOK-26", "HOOK-26/302", "HOOK-26/404", "HOOK-26/reset", "HOOK-26/silence"],
    ],
    ["tries again after an hour", { pauses: [3600, 300, 1800, 7200] }, ["HOOK-27"]],
    [
      "looks at its queue in real time, and tries again too early",
      { looksEveryMs: 60, pauses: [60, 300, 600, 7200] },
      ["HOOK-27"],
    ],
    ["goes on for a sixth time", { pauses: [60, 300, 1800, 7200, 7200] }, ["HOOK-28"]],
    ["takes only 200 for success", { isSuccess: (status) => status === 200 }, ["HOOK-25", "HOOK-25/after a retry"]],
    ["sends again what was taken", { lateDuplicateEvery: 1 }, ["HOOK-25", "HOOK-25/after a retry", "HOOK-38"]],
    ["waits for one second", { answerWithinMs: 1000 }, ["HOOK-38"]],
    ["follows no 3xx but takes it", { isSuccess: (status) => status < 400 }, ["HOOK-26/302"]],
    ["signs in upper case", { sign: () => "ABCDEF" }, ["HOOK-21"]],
    ["sends to the webhooks of all agents", { isTied: false }, ["WHK-3", "WHK-3/throughout"]],
    ["keeps silent of the start", { events: (outcome) => [`agent.${outcome}`] }, ["HOOK-7"]],
    ["never marks a delivery failed", { stateOf: () => "pending" }, ["HOOK-29"]],
    [
      "sends everything to `agent.*`",
      { selects: (wanted, type) => wanted === type || wanted === "agent.*" },
      ["HOOK-16/no deployment event"],
    ],
    ["does not know `agent.*`", { selects: (wanted, type) => wanted === type }, ["HOOK-16", "HOOK-16/agent.failed"]],
    ["sends no agent_id", { shape: (event) => ({ ...event, agent_id: undefined }) }, ["HOOK-5"]],
    ["numbers its events", { shape: (event) => ({ ...event, id: 7 }) }, ["HOOK-1"]],
  ])("fails where it %s", async (_, habits, expected) => {
    expect(broken(await judge(habits)).toSorted()).toEqual(expected.toSorted());
  });
});

describe.concurrent("a hosting service whose worker sleeps in real time, whatever clock is moved", () => {
  const works = { worksInRealTime: true } as const;
  it.each<readonly [string, Partial<Habits>]>([
    ["as the document has it", works],
    ["with an immediate retry", { ...works, pauses: [0, 60, 300, 1800, 7200] }],
  ])("passes %s, by what its first retries show", async (_, habits) => {
    const words = await judge(habits);
    expect(broken(words)).toEqual([]);
    expect(words).toMatchObject({
      "HOOK-22": "holds",
      "HOOK-26": "holds",
      "HOOK-26/404": "holds",
      "HOOK-27": "unproven",
    });
  });

  it("fails where it does not try again, in one time or the other", async () => {
    const words = await judge({ ...works, pauses: [] });
    expect(broken(words)).toEqual(expect.arrayContaining(["HOOK-22", "HOOK-26", "HOOK-26/404"]));
  });
});

const minute = 60_000;

describe.concurrent("a hosting service whose clock cannot be moved", () => {
  it.each<readonly [string, number, Words]>([
    ["no wait at all", 0, { "HOOK-8": "holds", "HOOK-26": "unproven", "HOOK-28": "unproven", "HOOK-29": "unproven" }],
    ["90 seconds", 1.5 * minute, { "HOOK-22": "holds", "HOOK-25": "holds", "HOOK-26": "holds", "HOOK-27": "unproven" }],
    [
      "a quarter of an hour",
      15 * minute,
      { "HOOK-24": "observed", "HOOK-25/after a retry": "unproven", "HOOK-28": "unproven" },
    ],
    ["six hours", 360 * minute, { "HOOK-27": "from-previous", "HOOK-28": "five-attempts" }],
  ])("is judged by what fits %s", async (_, maxWaitMs, expected) => {
    const words = await judge({}, maxWaitMs);
    expect(broken(words)).toEqual([]);
    expect(words).toMatchObject(expected);
  });

  it.each<readonly [string, Partial<Habits>, readonly string[]]>([
    ["retries too early", { pauses: [20, 300, 1800, 7200] }, ["HOOK-27"]],
    ["takes a 302 for success", { isSuccess: (status) => status < 400 }, ["HOOK-26/302"]],
  ])("fails already where it %s", async (_, habits, expected) => {
    expect(broken(await judge(habits, 1.5 * minute))).toEqual(expected);
  });
});
