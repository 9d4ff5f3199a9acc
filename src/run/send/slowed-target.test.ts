import { describe, expect, it } from "vitest";

import { statusOf } from "../../evidence/exchange.ts";
import { startAnswering } from "../../wire/testing/hostile.ts";
import { check, suite } from "../judge/check.ts";
import { holds, unproven } from "../judge/finding.ts";
import { probe } from "../probe.ts";
import { runSuites } from "../run.ts";
import { aKey, aTarget } from "../testing/targets.ts";

/** More of them are given up as an answer that does not come in time is, and that without the time. */
const interim = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(200);

/** Answers at once, but usage after so many milliseconds each of a time of its own, as it is told; after `null` never. */
async function startSlowing() {
  const late: (number | null)[] = [];
  let nowMs = 0;
  const server = await startAnswering((request, response) => {
    const isUsage = request.url?.startsWith("/v1/usage") === true;
    const ms = isUsage && late.length > 0 ? late.shift() : 0;
    const body = isUsage ? { period: "2026-01-01T00:00:00Z" } : { data: [{ id: "echo" }] };
    if (typeof ms !== "number") return void request.socket.write(interim);
    nowMs += ms;
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  const timers = {
    now: () => nowMs,
    sleep: (ms: number) => {
      nowMs += ms;
      return Promise.resolve();
    },
  };
  return { ...server, timers, tell: (...times: (number | null)[]) => void late.push(...times) };
}

/** Reads usage a few times at once, then slowly, then once more, of which the answers come as told. */
async function runWhileItSlows(...last: (number | null)[]) {
  const { baseUrl, timers, tell, close } = await startSlowing();
  const slowing = probe("usage is read, later and later", { requests: 20 }, async ({ client }) => {
    for (let sent = 0; sent < 3; sent++) await client.send("GET", "/usage");
    tell(1100, 1100, 1100, ...last);
    for (let sent = 0; sent < 3; sent++) await client.send("GET", "/usage", { unpaced: true });
    return client.send("GET", "/usage");
  });
  const judged = check("USE-1", slowing, (exchange) =>
    statusOf(exchange) === 200 ? holds() : unproven("usage was not answered"),
  );
  try {
    return await runSuites({
      target: aTarget(baseUrl, { keys: { key: aKey({ tier: "team" }) }, agents: { answering: "echo" } }),
      suites: [suite("Usage", [judged])],
      maxRequests: 100,
      maxWaitMs: 0,
      timers,
      signal: new AbortController().signal,
    });
  } finally {
    close();
  }
}

describe("a target that slows down in the middle of a run", () => {
  it("is asked once more, when it has come to rest, for what did not come in time", async () => {
    const result = await runWhileItSlows(null, 0);
    expect(result).toMatchObject({ kind: "judged", judgements: [{ finding: { kind: "holds" } }] });
  });

  it("makes the run incomplete where that does not come either, and is told so with figures", async () => {
    expect(await runWhileItSlows(null, null)).toMatchObject({
      kind: "judged",
      stopped: expect.stringMatching(
        /^the target slowed down: answers took [\d.]+ s at first and [\d.]+ s after \d+ requests; .* not answered in time, and not when sent again$/,
      ) as string,
      judgements: [{ finding: { kind: "unproven" } }],
    });
  });
});
