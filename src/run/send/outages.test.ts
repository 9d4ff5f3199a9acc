import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Answered, Exchange, Header, Unanswered } from "../../evidence/exchange.ts";
import { exchange } from "../../suites/testing/evidence.ts";
import { type OutageMonitor, watchOutages } from "./outages.ts";

const deadAfterMs = 8000;
let isUp = true;
let isAnswered = true;
let isInvokeAnswered = true;
let connections = 0;
let returns = 0;
let startedMs = 0;
let monitor: OutageMonitor;

beforeEach(async () => {
  vi.useFakeTimers();
  [isUp, isAnswered, isInvokeAnswered, connections, returns] = [true, true, true, 0, 0];
  startedMs = Date.now();
  monitor = watchOutages({
    now: () => Date.now() - startedMs,
    connect: async () => {
      connections += 1;
      return isUp;
    },
    repeat: async (each) => {
      if (each.request.method === "GET") return isAnswered ? exchange() : gatewayError();
      return isAnswered && isInvokeAnswered ? exchange() : gatewayError();
    },
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    onReturn: () => void (returns += 1),
    deadAfterMs,
    idlePollMs: 2000,
  });
  const read = exchange();
  await monitor.examine({ ...read, key: "key", request: { ...read.request, method: "GET" } });
});

afterEach(() => {
  monitor.close();
  vi.useRealTimers();
});

const failed = (reason: Unanswered["reason"], text = "{}"): Exchange => ({
  ...exchange({ text }),
  request: {
    method: "POST",
    url: "http://127.0.0.1:1/v1/agents/echo/invoke",
    headers: [],
    body: { kind: "text", text, bytes: text.length },
  },
  answer: { kind: "unanswered", reason, detail: "read ECONNRESET", endMs: Date.now() },
});

const gatewayError = (status = 502, text = "<html>Bad Gateway</html>", headers: readonly Header[] = []): Exchange => ({
  ...failed("broken"),
  answer: { ...answeredWith(text), status, headers },
});

/** Returns the exchange with the current time. */
function answeredNow(given: Exchange): Exchange {
  const ms = Date.now() - startedMs;
  const { answer } = given;
  return { ...given, sentMs: ms, answer: answer.kind === "answered" ? { ...answer, headMs: ms, endMs: ms } : answer };
}

/** Simulates an outage in which the connection of a request breaks. */
async function loseDuring(text: string): Promise<void> {
  isUp = false;
  await monitor.examine(failed("broken", text));
  isUp = true;
  await vi.advanceTimersByTimeAsync(500);
}

describe("a 502, 503 or 504", () => {
  const limited: Header = ["X-RateLimit-Limit", "10"];
  it.each([
    ["is a gateway's while nothing else is answered", false, true, gatewayError(), "gateway"],
    ["is a gateway's if the same request is answered a moment later", true, true, gatewayError(503, ""), "gateway"],
    ["is the target's own if it stays while another request is answered", true, false, gatewayError(504), undefined],
    ["is the target's own with rate-limit headers", false, false, gatewayError(502, "", [limited]), undefined],
    ["is the target's own with an error object", false, false, gatewayError(503, '{"error":{}}'), undefined],
  ] as const)("%s", async (_, sound, soundForInvoke, given, reconnect) => {
    [isAnswered, isInvokeAnswered] = [sound, soundForInvoke];
    expect((await monitor.examine(given)).reconnect).toBe(reconnect);
  });

  it("is the target's own if it comes among answers again and again", async () => {
    const reconnects: unknown[] = [];
    for (let spell = 0; spell < 6; spell += 1) {
      for (let sound = 0; sound < 30; sound += 1) {
        await vi.advanceTimersByTimeAsync(10);
        await monitor.examine(answeredNow(exchange()));
      }
      reconnects.push((await monitor.examine(answeredNow(gatewayError(503, "")))).reconnect);
      await vi.advanceTimersByTimeAsync(300);
    }
    expect(reconnects).toEqual(["gateway", "gateway", "gateway", undefined, undefined, undefined]);
  });

  it("ends the outage when the target answers again", async () => {
    isAnswered = false;
    await monitor.examine(gatewayError());
    await vi.advanceTimersByTimeAsync(3000);
    isAnswered = true;
    await vi.advanceTimersByTimeAsync(300);
    expect(await monitor.awaitReturn()).toBe(true);
    expect(monitor.describe()).toMatch(/away from .* \(a gateway answered in its place\)$/);
  });
});

describe("an outage of the target", () => {
  it.each([
    ["counts against the target if it accepts a new connection", "broken", true, "accepted", 0],
    ["does not count if the target refuses a new connection", "broken", false, "refused", 1],
    ["does not count if no connection was made, nor is now", "unreachable", false, "refused", 1],
  ] as const)("a broken exchange %s", async (_, reason, accepts, reconnect, outages) => {
    isUp = accepts;
    expect(await monitor.examine(failed(reason))).toMatchObject({ reconnect });
    expect(monitor.count()).toBe(outages);
  });

  it("is not looked for after a complete response, or a connection that the harness closed", async () => {
    const closed: Exchange = {
      ...failed("broken"),
      answer: { kind: "unanswered", reason: "broken", detail: "closed by the harness", endMs: 1 },
    };
    for (const each of [exchange(), closed]) expect(await monitor.examine(each)).toBe(each);
    expect(connections).toBe(0);
  });

  it("ends when a connection is accepted", async () => {
    await loseDuring("{}");
    expect(await monitor.awaitReturn()).toBe(true);
    expect(returns).toBe(1);
    expect(monitor.all()).toMatchObject([{ broken: ["POST /v1/agents/echo/invoke"], toMs: expect.any(Number) }]);
    expect(monitor.describe()).toMatch(/^the target was away from /);
  });

  it("is its end if connections are refused for eight seconds", async () => {
    isUp = false;
    await monitor.examine(failed("broken"));
    await vi.advanceTimersByTimeAsync(deadAfterMs + 200);
    expect(await monitor.awaitReturn()).toBe(false);
    expect(monitor.isDead()).toBe(true);
    expect(monitor.describe()).toMatch(/^the target was lost after .* refused connections from then on$/);
  });

  it("is noticed while nothing is sent", async () => {
    isUp = false;
    await vi.advanceTimersByTimeAsync(4100);
    expect(monitor.count()).toBe(1);
  });

  it("makes a request that was in flight at two of them a suspect, which is not sent a third time", async () => {
    const suspicionOf = (body: string) =>
      monitor.suspicion({ method: "POST", url: failed("broken").request.url, body });
    await loseDuring('{"query":"boom"}');
    expect(suspicionOf('{"query":"boom"}')).toBeNull();
    await loseDuring('{"query":"boom"}');
    expect(suspicionOf('{"query":"boom"}')).toContain("while it served POST /v1/agents/echo/invoke");
    expect(suspicionOf('{"query":"hello"}')).toBeNull();
    expect(monitor.describe()).toContain("POST /v1/agents/echo/invoke preceded two losses, and may crash it");
  });
});

function answeredWith(text: string): Answered {
  const { answer } = exchange({ text });
  if (answer.kind !== "answered") throw new Error("the exchange of tests is answered");
  return answer;
}
