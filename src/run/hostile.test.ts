import { describe, expect, it } from "vitest";

import { sampleOf } from "../base/testing/test-scope.ts";
import { suites } from "../suites/all.ts";
import { type Deadlines, defaultDeadlines } from "../wire/deadlines.ts";
import { check, type Suite, suite } from "./judge/check.ts";
import { holds } from "./judge/finding.ts";
import { probe } from "./probe.ts";
import { runSuites } from "./run.ts";
import type { RunResult } from "./run-result.ts";
import {
  hostilities,
  type Hostility,
  type HostileServer,
  startAnsweringServer,
  startHostile,
  startHostileAfterDiscovery,
} from "../wire/testing/hostile.ts";
import type { ClockControl } from "../target/target.ts";
import { aKey, aTarget } from "./testing/values.ts";
import type { SkipCause } from "./skip-reason.ts";

/** Deadlines for targets that only a deadline stops. */
const deadlines: Deadlines = { connectMs: 6000, headMs: 6000, silenceMs: 1000, exchangeMs: 6000 };
const stoppedByDeadline = new Set<string>([
  "never answers",
  "drips its head",
  "drips its body",
  "sends comments without end",
  "stops in the middle of the body",
] satisfies (keyof typeof hostilities)[]);

/** Returns long deadlines for targets that stop by themselves or at a bound, because a busy machine delays them. */
const deadlinesFor = (name: string): Deadlines => (stoppedByDeadline.has(name) ? deadlines : defaultDeadlines);

/** The suites that judge invokes and streams. The two-faced target is hostile only in these responses. */
const attacked = suites.filter(({ checks }) => checks.some(({ clause }) => /^(INV|SSE)-/.test(clause)));

/** A suite that sends a single request. The discovery before it invokes an agent. */
const usage = suite("Usage", [
  check(
    "USE-1",
    probe("usage is read", { requests: 1 }, ({ client }) => client.send("GET", "/usage")),
    () => holds(),
  ),
]);

async function runAgainst(
  server: HostileServer,
  selected: readonly Suite[],
  timeouts: Partial<Deadlines>,
  clock: ClockControl | null = null,
): Promise<RunResult> {
  try {
    return await runSuites({
      target: aTarget(server.baseUrl, { keys: { key: aKey({ tier: "pro" }) }, clock }),
      suites: selected,
      maxRequests: 1000,
      maxWaitMs: 0,
      signal: new AbortController().signal,
      deadlines: timeouts,
    });
  } finally {
    server.close();
  }
}

const sentenceFor = async (server: HostileServer, timeouts: Partial<Deadlines>): Promise<SkipCause> => {
  const result = await runAgainst(server, suites, timeouts);
  return result.kind === "judged" ? "judged" : result.sentence;
};

const noInterface = /^http:\S+ is not an Agent Hosting Service Interface: GET \/agents returns 200 with .*\.$/;
const noAnswer = /^No answer from http:\S+: .+\. It accepts connections, but does not respond to HTTP requests here\.$/;

describe.concurrent("a target that is hostile from the first request on", () => {
  const strange = new Set<string>();
  for (const name of Object.keys(hostilities))
    if (/body|events|comments|data|MB$|gzip|JSON|UTF-8|announces|100 kB|header twice|numbers/.test(name))
      strange.add(name);
  it.each(Object.entries(hostilities))("%s: ends with one sentence, and judges nothing", async (name, hostility) => {
    const sentence = await sentenceFor(await startHostile(hostility), deadlinesFor(name));
    expect(sentence).toMatch(strange.has(name) ? noInterface : noAnswer);
  });

  it("sends large events without end: a bound on their characters ends each response", async () => {
    const server = await startHostile(hostilities["sends large events without end"]);
    const { exchanges } = await runAgainst(server, suites, defaultDeadlines);
    const endings = exchanges.map(({ answer }) => (answer.kind === "answered" ? answer.ending : answer));
    const detail: unknown = expect.stringMatching(/^more than \d+ characters of events$/);
    expect(endings).toEqual(endings.map(() => ({ kind: "deadline", detail })));
    expect(endings).not.toEqual([]);
  });
});

describe.concurrent("a server of another API", () => {
  const send =
    (status: number, type: string, body: string, headers: Record<string, string> = {}) =>
    (): Promise<HostileServer> =>
      startAnsweringServer(
        (_, response) => void response.writeHead(status, { "content-type": type, ...headers }).end(body),
      );
  it.each([
    ["HTML everywhere", send(200, "text/html", "<h1>Welcome</h1>"), noInterface],
    [
      "JSON 404 of another API",
      send(404, "application/json", '{"message":"no route"}'),
      /returns 404 with application\/json/,
    ],
    [
      "another API's 401",
      send(401, "application/json", '{"error":"unauthorized"}'),
      /refuses GET \/agents \(401\).*Check the base URL and the API key/,
    ],
    [
      "a redirect",
      send(302, "text/plain", "", { location: "https://elsewhere.example/" }),
      /redirects to https:\/\/elsewhere\.example\/\. The harness follows no redirect/,
    ],
    ["JSON that is no object", send(200, "application/json", "null"), noInterface],
    ["an empty 200", send(200, "application/json", ""), noInterface],
    [
      "a wrong key",
      send(401, "application/json", '{"error":{"code":"INVALID_API_KEY","message":"no"}}'),
      /refuses the API key \(401 INVALID_API_KEY\)/,
    ],
  ])("%s: one sentence", async (_, start, expected) => {
    const sentence = await sentenceFor(await start(), {});
    expect(sentence).toMatch(expected);
    expect(sentence).not.toContain("\n");
  });

  it("names the address if nothing listens there", async () => {
    const server = await startHostile(() => {});
    server.close();
    expect(await sentenceFor(server, {})).toMatch(/ECONNREFUSED.* Is the server running, and the address right\?$/);
  });
});

describe.concurrent("a target that turns hostile after the first requests", () => {
  const harmless = new Set(["sends 100 kB of headers", "announces less than it sends"]);
  it.each(sampleOf(Object.entries<Hostility>(hostilities), { of: 12 }))(
    "%s: the run ends, and the harness is not at fault",
    async (name, hostility) => {
      const result = await runAgainst(await startHostileAfterDiscovery(hostility), attacked, deadlinesFor(name));
      if (result.kind !== "judged") throw new Error(JSON.stringify(result.sentence));
      const failed = result.judgements.filter(({ finding }) => finding.kind === "error");
      expect(failed.map(({ finding }) => finding)).toEqual([]);
      expect(result.stopped ?? "").toMatch(
        /^$|^\d+ of \d+ requests timed out, which took [\d.]+ s in total; the last one was POST /,
      );
      const broken = result.judgements.filter(
        ({ finding, check: { clause } }) => finding.kind === "breach" && /^(INV|SSE)-/.test(clause),
      );
      expect(broken.length > 0 || harmless.has(name)).toBe(true);
      // Several of the generated requests get an event of 11 MB, so the evidence may be large, but not unlimited.
      expect(JSON.stringify(result.exchanges).length).toBeLessThan(150_000_000);
    },
  );

  it("never answers: the reason names a test clock whose time is unknown", async () => {
    const advance = (): Promise<void> => Promise.reject(new Error("the call failed"));
    const clock: ClockControl = { advance, settleMs: 0, agentsFollow: true };
    const server = await startHostileAfterDiscovery(hostilities["never answers"]);
    expect(await runAgainst(server, attacked, deadlines, clock)).toMatchObject({
      stopped: expect.stringMatching(
        /^the target's time is unknown, so the run advanced its clock no more: the call failed; \d+ of \d+ requests timed out/,
      ) as string,
    });
  });

  it.each<[harm: keyof typeof hostilities, isLost: boolean]>([
    ["sends 1 MB of headers", false],
    ["closes at once", true],
  ])("%s: is retried as a broken connection: %s", async (name, isLost) => {
    const result = await runAgainst(await startHostileAfterDiscovery(hostilities[name]), [usage], deadlinesFor(name));
    expect(result.lost > 0).toBe(isLost);
  });

  it.each([
    "closes at once",
    "nests JSON 100,000 deep",
    "sends text that is not UTF-8",
    "sends numbers that are none",
  ] as const)("%s: no suite at all is at fault", async (name) => {
    const result = await runAgainst(await startHostileAfterDiscovery(hostilities[name]), suites, deadlinesFor(name));
    const failed = result.kind === "judged" && result.judgements.filter(({ finding }) => finding.kind === "error");
    expect(failed).toEqual([]);
  });
});
