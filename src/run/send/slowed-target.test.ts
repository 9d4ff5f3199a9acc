import { describe, expect, it } from "vitest";

import { statusOf } from "../../evidence/exchange.ts";
import { startAnsweringServer } from "../../wire/testing/hostile.ts";
import { check, suite } from "../judge/check.ts";
import { holds, unproven } from "../judge/finding.ts";
import { probe } from "../probe.ts";
import { runSuites } from "../run.ts";
import { aKey, aTarget } from "../testing/values.ts";

/**
 * Makes the harness give up a request, which counts as a timeout, without using real time: it refuses more than some
 * interim responses.
 */
const tooManyInterimResponses = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(200);

/**
 * Starts a server. The responses to usage take the simulated milliseconds that `delay` sets; with `null`, there is no
 * response.
 */
async function startSlowingServer() {
  const delays: (number | null)[] = [];
  let nowMs = 0;
  const server = await startAnsweringServer((request, response) => {
    const isUsage = request.url?.startsWith("/v1/usage") === true;
    const ms = isUsage && delays.length > 0 ? delays.shift() : 0;
    const body = isUsage ? { period: "2026-01-01T00:00:00Z" } : { data: [{ id: "echo" }] };
    if (typeof ms !== "number") return void request.socket.write(tooManyInterimResponses);
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
  return { ...server, timers, delay: (...times: (number | null)[]) => void delays.push(...times) };
}

/** Reads usage three times without a delay, three times slowly, and then with the delays in `last`. */
async function runWhileSlowing(...last: (number | null)[]) {
  const { baseUrl, timers, delay, close } = await startSlowingServer();
  const slowUsage = probe("usage is read, later and later", { requests: 20 }, async ({ client }) => {
    for (let sent = 0; sent < 3; sent++) await client.send("GET", "/usage");
    delay(1100, 1100, 1100, ...last);
    for (let sent = 0; sent < 3; sent++) await client.send("GET", "/usage", { unpaced: true });
    return client.send("GET", "/usage");
  });
  const judged = check("USE-1", slowUsage, (exchange) =>
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
  it("gets a timed-out request again after a pause", async () => {
    const result = await runWhileSlowing(null, 0);
    expect(result).toMatchObject({ kind: "judged", judgements: [{ finding: { kind: "holds" } }] });
  });

  it("makes the run incomplete if the retry times out too, with figures in the report", async () => {
    expect(await runWhileSlowing(null, null)).toMatchObject({
      kind: "judged",
      stopped: expect.stringMatching(
        /^the target slowed down: responses took [\d.]+ s at first and [\d.]+ s after \d+ requests; .* without a response in time, even when sent again$/,
      ) as string,
      judgements: [{ finding: { kind: "unproven" } }],
    });
  });
});
