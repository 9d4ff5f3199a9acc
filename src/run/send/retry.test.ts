import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { mayRetry, withoutNetworkLosses } from "./retry.ts";
import { anExchange } from "../testing/evidence.ts";

const whole = (id: string, sentMs: number): Exchange => anExchange(id, { sentMs });
const lost = (id: string, sentMs: number, url = "http://127.0.0.1/v1/usage"): Exchange =>
  anExchange(id, {
    sentMs,
    request: { method: "GET", url, headers: [], body: { kind: "none" } },
    answer: { kind: "unanswered", reason: "broken", detail: "read ECONNRESET", endMs: sentMs + 1 },
  });

describe("a request that the network lost", () => {
  it.each<[name: string, exchanges: readonly Exchange[], left: readonly string[]]>([
    ["came through when sent again", [lost("x1", 0), whole("x2", 5)], ["x2"]],
    ["was lost at every try", [whole("x0", 0), lost("x1", 1), lost("x2", 5)], ["x0", "x1", "x2"]],
    ["was the last of several alike", [whole("x0", 0), whole("x1", 1), lost("x2", 5)], ["x0", "x1"]],
    [
      "was lost at the last tries",
      [whole("x0", 0), lost("x1", 1), whole("x2", 2), lost("x3", 3), lost("x4", 4)],
      ["x0", "x2", "x3", "x4"],
    ],
    ["was sent once, as others were", [whole("x0", 0), lost("x1", 1, "http://127.0.0.1/v1/agents")], ["x0"]],
    ["was the only one", [lost("x1", 0)], ["x1"]],
  ])("%s", (_, exchanges, left) => {
    expect(withoutNetworkLosses(exchanges).map(({ id }) => id)).toEqual(left);
  });
});

describe("a request may be sent again", () => {
  it.each([
    ["that reads", "GET", "/usage", {}, true],
    ["that runs an agent", "POST", "/agents/echo/invoke", {}, true],
    ["that creates a webhook", "POST", "/webhooks", {}, false],
    ["that is counted", "POST", "/agents/echo/invoke", { noRetry: true }, false],
    ["that tests a limit", "GET", "/usage", { unpaced: true }, false],
    ["that tests a deadline", "GET", "/usage", { deadlines: { headMs: 1 } }, false],
  ] as const)("%s: %s %s", (_, method, path, options, expected) => {
    expect(mayRetry(method, path, options)).toBe(expected);
  });
});
