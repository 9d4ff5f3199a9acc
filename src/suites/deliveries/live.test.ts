import { describe, expect, it } from "vitest";

import { is2xx } from "../../base/http.ts";
import { runSuites } from "../../run/run.ts";
import { deliveries } from "./checks.ts";
import { type Habits, startHosting } from "../testing/hosting.ts";
import { webhooks } from "../webhooks/checks.ts";

type Verdicts = Readonly<Record<string, string>>;

/**
 * Judges a service. Returns the reading or the kind of finding of each check, by its id.
 *
 * @param maxWaitMs gives the service a real clock, and limits the waits of the run
 */
const judge = async (habits: Partial<Habits>, maxWaitMs: number | null = null): Promise<Verdicts> =>
  (await judgeWithDeliveries(habits, maxWaitMs)).verdicts;

/** Like `judge`, but also returns how many deliveries the service gave up because it got no reply. */
async function judgeWithDeliveries(
  habits: Partial<Habits>,
  maxWaitMs: number | null = null,
): Promise<{ readonly verdicts: Verdicts; readonly silences: number }> {
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
    const verdicts = Object.fromEntries(
      result.judgements.map(({ check, finding }) => {
        if (finding.kind === "error") throw new Error(finding.reason);
        return [check.id, finding.kind === "follows" ? finding.reading : finding.kind];
      }),
    );
    return { verdicts, silences: result.deliveries.filter(({ reply }) => reply.kind === "silent").length };
  } finally {
    hosting.close();
  }
}

const broken = (verdicts: Verdicts): string[] => Object.keys(verdicts).filter((id) => verdicts[id] === "breach");

describe.concurrent("a third-party hosting service", () => {
  it.each<readonly [string, Partial<Habits>, Verdicts]>([
    ["the documented behavior", {}, { "HOOK-27": "from-previous", "HOOK-28": "five-attempts", "HOOK-29": "delivery" }],
    ["pauses from the first attempt", { pauses: [60, 300, 1800, 7200], fromFirst: true }, { "HOOK-27": "from-first" }],
    ["an immediate retry", { pauses: [0, 60, 300, 1800, 7200] }, { "HOOK-28": "six-attempts" }],
    ["five attempts with an immediate one", { pauses: [0, 60, 300, 1800] }, { "HOOK-28": "four-retries" }],
    ["a queue that is polled", { pollSeconds: 5 }, { "HOOK-28": "five-attempts" }],
    ["a queue that is polled in real time", { pollEveryRealMs: 60 }, { "HOOK-27": "from-previous" }],
    ["redirects that count as failed", {}, { "HOOK-26/302": "retried" }],
    ["redirects that it follows", { followsRedirects: true }, { "HOOK-26/302": "followed" }],
    ["duplicates", { duplicates: 1 }, { "HOOK-25": "holds" }],
    ["an occasional late duplicate", { lateDuplicateEvery: 3 }, { "HOOK-25": "holds" }],
    ["a reply that it loses", { attemptWithoutReply: 3 }, { "HOOK-25/after a retry": "holds" }],
    ["timers that lag behind its clock", { timerLagMs: 60 }, { "HOOK-38": "holds" }],
    ["a timeout of ten seconds", { answerWithinMs: 10_000 }, { "HOOK-24": "observed" }],
    [
      "an id for each webhook in an envelope",
      { creates: ({ id }) => [200, { status: "success", data: { result: { id } } }] },
      { "WHK-1": "answers-200", "WHK-7": "holds" },
    ],
    [
      "a ping to each new webhook",
      { pings: true },
      { "HOOK-26/404": "unproven", "HOOK-28": "five-attempts", "HOOK-32": "holds", "HOOK-38": "unproven" },
    ],
    ["no id at all", { creates: () => [201, {}] }, { "WHK-7": "unproven" }],
  ])("passes with %s", async (_, habits, expected) => {
    const verdicts = await judge(habits);
    expect(broken(verdicts)).toEqual([]);
    expect(verdicts).toMatchObject({ "HOOK-26": "holds", "HOOK-21": "holds", "HOOK-13": "holds", ...expected });
  });

  it.each<readonly [string, Partial<Habits>, readonly string[]]>([
    [
      "does not retry",
      { pauses: [] },
      ["HOOK-22", "HOOK-26", "HOOK-26/302", "HOOK-26/404", "HOOK-26/410", "HOOK-26/reset", "HOOK-26/silence"],
    ],
    ["retries after an hour", { pauses: [3600, 300, 1800, 7200] }, ["HOOK-27"]],
    ["makes a sixth attempt", { pauses: [60, 300, 1800, 7200, 7200] }, ["HOOK-28"]],
    [
      "accepts only 200 as a success",
      { isSuccess: (status) => status === 200 },
      ["HOOK-25", "HOOK-25/299", "HOOK-25/after a retry"],
    ],
    ["accepts only the 2xx that it knows", { isSuccess: (status) => status >= 200 && status <= 204 }, ["HOOK-25/299"]],
    ["takes a 410 for an end", { isSuccess: (status) => status === 410 || is2xx(status) }, ["HOOK-26/410"]],
    ["repeats events that were accepted", { lateDuplicateEvery: 1 }, ["HOOK-25", "HOOK-25/after a retry", "HOOK-38"]],
    ["has a timeout of one second", { answerWithinMs: 1000 }, ["HOOK-38"]],
    ["accepts a 3xx without following it", { isSuccess: (status) => status < 400 }, ["HOOK-26/302"]],
    ["signs in upper case", { sign: () => "ABCDEF" }, ["HOOK-21"]],
    ["sends to the webhooks of all agents", { isTied: false }, ["WHK-3", "WHK-3/throughout"]],
    ["sends no event at the start", { events: (outcome) => [`agent.${outcome}`] }, ["HOOK-7"]],
    ["never marks a delivery as failed", { stateOf: () => "pending" }, ["HOOK-29"]],
    [
      "sends everything to `agent.*`",
      { selects: (wanted, type) => wanted === type || wanted === "agent.*" },
      ["HOOK-16/no deployment event"],
    ],
    ["does not know `agent.*`", { selects: (wanted, type) => wanted === type }, ["HOOK-16", "HOOK-16/agent.failed"]],
    ["sends no agent_id", { shape: (event) => ({ ...event, agent_id: undefined }) }, ["HOOK-5"]],
    ["numbers its events", { shape: (event) => ({ ...event, id: 7 }) }, ["HOOK-1"]],
  ])("fails if it %s", async (_, habits, expected) => {
    expect(broken(await judge(habits)).toSorted()).toEqual(expected.toSorted());
  });

  it("fails if it repeats accepted events, but not its pings", async () => {
    expect(broken(await judge({ pings: true, lateDuplicateEvery: 1 }))).toContain("HOOK-25");
  });

  // A busy machine delays the queue, which may leave the times of retries unproven.
  it("fails if it polls its queue in real time and retries too early", { retry: 4 }, async () => {
    expect(broken(await judge({ pollEveryRealMs: 60, pauses: [60, 300, 600, 7200] }))).toEqual(["HOOK-27"]);
  });
});

describe.concurrent("a hosting service whose worker sleeps in real time, with a test clock", () => {
  const works = { worksInRealTime: true } as const;
  it.each<readonly [string, Partial<Habits>]>([
    ["as documented", works],
    ["with an immediate retry", { ...works, pauses: [0, 60, 300, 1800, 7200] }],
  ])("passes %s, judged by its first retries", async (_, habits) => {
    const verdicts = await judge(habits);
    expect(broken(verdicts)).toEqual([]);
    expect(verdicts).toMatchObject({
      "HOOK-22": "holds",
      "HOOK-26": "holds",
      "HOOK-26/404": "holds",
      "HOOK-27": "unproven",
    });
  });

  it("fails if it does not retry by either clock", async () => {
    const verdicts = await judge({ ...works, pauses: [] });
    expect(broken(verdicts)).toEqual(expect.arrayContaining(["HOOK-22", "HOOK-26", "HOOK-26/404"]));
  });
});

describe.concurrent("a hosting service that waits for a reply in real time, with a test clock", () => {
  const waits = { answerWithinRealMs: 3500 } as const;
  it.each<readonly [string, Partial<Habits>, Verdicts]>([
    ["at once to all", waits, { "HOOK-28": "five-attempts" }],
    ["to one receiver at a time", { ...waits, oneAtATime: true }, { "HOOK-28": "five-attempts" }],
    [
      "to one receiver at a time, with an immediate retry",
      { ...waits, oneAtATime: true, pauses: [0, 60, 300, 1800] },
      { "HOOK-28": "four-retries" },
    ],
  ])("passes if it sends %s, and gives up two deliveries at most", async (_, habits, expected) => {
    const { verdicts, silences } = await judgeWithDeliveries(habits);
    expect(broken(verdicts)).toEqual([]);
    expect(verdicts).toMatchObject({
      "HOOK-22": "holds",
      "HOOK-26": "holds",
      "HOOK-26/404": "holds",
      "HOOK-26/silence": "holds",
      "HOOK-38": "holds",
      ...expected,
    });
    expect(silences).toBeLessThanOrEqual(2);
  });

  it("fails if it sends to one receiver at a time and does not retry", async () => {
    const verdicts = await judge({ ...waits, oneAtATime: true, pauses: [] });
    expect(broken(verdicts)).toEqual(expect.arrayContaining(["HOOK-22", "HOOK-26", "HOOK-26/404"]));
  });
});

const minute = 60_000;

describe.concurrent("a hosting service without a test clock", () => {
  it.each<readonly [string, number, Verdicts]>([
    ["no wait", 0, { "HOOK-8": "holds", "HOOK-26": "unproven", "HOOK-28": "unproven", "HOOK-29": "unproven" }],
    ["90 seconds", 1.5 * minute, { "HOOK-22": "holds", "HOOK-25": "holds", "HOOK-26": "holds", "HOOK-27": "unproven" }],
    [
      "a quarter of an hour",
      15 * minute,
      { "HOOK-24": "observed", "HOOK-25/after a retry": "unproven", "HOOK-28": "unproven" },
    ],
    ["six hours", 360 * minute, { "HOOK-27": "from-previous", "HOOK-28": "five-attempts" }],
  ])("is judged as far as possible within %s", async (_, maxWaitMs, expected) => {
    const verdicts = await judge({}, maxWaitMs);
    expect(broken(verdicts)).toEqual([]);
    expect(verdicts).toMatchObject(expected);
  });

  it.each<readonly [string, Partial<Habits>, readonly string[]]>([
    ["retries too early", { pauses: [20, 300, 1800, 7200] }, ["HOOK-27"]],
    ["accepts a 302 as a success", { isSuccess: (status) => status < 400 }, ["HOOK-26/302"]],
  ])("fails within 90 seconds if it %s", async (_, habits, expected) => {
    expect(broken(await judge(habits, 1.5 * minute))).toEqual(expected);
  });
});
