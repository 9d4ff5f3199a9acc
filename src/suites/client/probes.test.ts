import { describe, expect, it } from "vitest";

import type { Answered, Exchange } from "../../evidence/exchange.ts";
import type { Finding } from "../../run/judge/finding.ts";
import { clientCalls } from "./checks.ts";
import type { SignedCall, JudgedRun, ObservedRuns } from "./probes.ts";

/** A test request: its text, when it arrived, and the response that it got. */
interface Step {
  readonly query: string;
  readonly atMs: number;
  readonly status?: number;
  readonly retryAfter?: number;
  /** How long the response took. Default: 10 ms. */
  readonly tookMs?: number;
}

let count = 0;

function callOf({ query, atMs, status = 200, retryAfter, tookMs = 10 }: Step): SignedCall {
  count += 1;
  const text = JSON.stringify({ query });
  const body = JSON.stringify(retryAfter === undefined ? {} : { error: { retry_after: retryAfter } });
  const answer: Answered = {
    kind: "answered",
    status,
    headers: [["Content-Type", "application/json"]],
    headMs: atMs,
    endMs: atMs + tookMs,
    body: { kind: "text", text: body, bytes: body.length },
    ending: { kind: "complete" },
    events: [],
  };
  const exchange: Exchange = {
    id: `x${count}`,
    key: "client key",
    request: {
      method: "POST",
      url: "http://127.0.0.1:1/v1/agents/echo/invoke",
      headers: [["Authorization", "Bearer [redacted client key]"]],
      body: { kind: "text", text, bytes: text.length },
    },
    sentMs: atMs,
    clockMs: 0,
    answer,
  };
  return { exchange, trouble: null, leftMs: null, receivedUnixMs: 0, computedSignatures: [] };
}

const observedOf = (stage: JudgedRun["stage"], ...runs: readonly (readonly Step[])[]): ObservedRuns => ({
  isStrict: true,
  runs: runs.map((steps) => ({ stage, calls: steps.map(callOf), end: { kind: "exited", code: 0 } })),
});

function judged(clause: string, plain: readonly Step[], ...troubled: readonly (readonly Step[])[]): Finding["kind"] {
  const check = clientCalls.checks.find(({ id }) => id === clause);
  const evidence = { plain: observedOf("plain", plain), troubled: observedOf("failing", ...troubled) };
  if (check === undefined) throw new Error(`there is no check ${clause}`);
  return (check.judge(evidence as never) as Finding).kind;
}

const once: readonly Step[] = [{ query: "a", atMs: 0 }];
const limited = { query: "a", atMs: 0, status: 429, retryAfter: 2 } as const;
const failed = (atMs: number, query = "a"): Step => ({ query, atMs, status: 503 });

describe("a repeat after a 429", () => {
  it.each<[string, Finding["kind"], readonly Step[], readonly Step[]]>([
    ["after the wait is right", "holds", once, [limited, { query: "a", atMs: 2010 }]],
    ["a rounding earlier is right", "holds", once, [limited, { query: "a", atMs: 1920 }]],
    ["before the wait is over is early", "breach", once, [limited, { query: "a", atMs: 1500 }]],
    [
      "is counted from the end of a slow response",
      "breach",
      once,
      [
        { ...limited, tookMs: 900 },
        { query: "a", atMs: 2500 },
      ],
    ],
    ["that never comes is not judged", "unproven", once, [limited]],
    ["of another request is none", "unproven", once, [limited, { query: "b", atMs: 100 }]],
    [
      "is not guessed if the client sends the request as often anyway",
      "unproven",
      [...once, { query: "a", atMs: 50 }],
      [limited, { query: "a", atMs: 50 }],
    ],
    [
      "may follow requests that were sent at the same time",
      "holds",
      [...once, { query: "a", atMs: 1 }, { query: "a", atMs: 2 }],
      [limited, { query: "a", atMs: 1 }, { query: "a", atMs: 60 }, { query: "a", atMs: 2100 }],
    ],
  ])("%s", (_, kind, plain, troubled) => {
    expect(judged("CLI-12", plain, troubled)).toBe(kind);
  });
});

/** Test requests that fail, with these waits after each response. */
function failing(query: string, ...waitsMs: readonly number[]): Step[] {
  let atMs = 0;
  const retries = waitsMs.map((ms): Step => failed((atMs += ms + 10), query));
  return [failed(0, query), ...retries];
}

describe("waits between retries", () => {
  it.each<[string, Finding["kind"], readonly Step[]]>([
    ["that double grow", "holds", [...failing("a", 100, 200, 400), ...failing("b", 100, 200)]],
    ["that begin at once and double grow", "holds", [...failing("a", 1, 200, 400), ...failing("b", 1, 200)]],
    ["that are equal do not", "breach", [...failing("a", 300, 302, 299), ...failing("b", 310, 300)]],
    ["that are none do not", "breach", [...failing("a", 1, 2, 1), ...failing("b", 2, 1)]],
    [
      "one of which a slow machine made longer do not",
      "breach",
      [...failing("a", 1, 2, 1), ...failing("b", 2, 1, 1), ...failing("c", 1, 1, 2), ...failing("d", 1, 90)],
    ],
    ["that are too few are not judged", "unproven", failing("a", 300, 300)],
    ["that vary without an order are not judged", "unproven", [...failing("a", 700, 300), ...failing("b", 500, 100)]],
  ])("%s", (_, kind, troubled) => {
    expect(judged("CLI-14", once, troubled)).toBe(kind);
  });
});

describe("a retry of a 5xx", () => {
  it.each<[string, Finding["kind"], readonly Step[]]>([
    ["of one of several requests is enough", "holds", [failed(0), failed(0, "b"), { query: "b", atMs: 200 }]],
    ["of none is too few", "breach", [failed(0), failed(0, "b")]],
  ])("%s", (_, kind, troubled) => {
    expect(judged("CLI-13", once, troubled)).toBe(kind);
  });

  it.each([
    [19, "holds"],
    [20, "breach"],
  ] as const)("%i times in a row: %s", (attempts, kind) => {
    const steps = Array.from({ length: attempts }, (_, at) => failed(at * 100));
    expect(judged("CLI-15", once, [...steps, { query: "a", atMs: 5000 }])).toBe(kind);
  });

  it("is not counted where the client planned to send the request as often", () => {
    const planned = Array.from({ length: 19 }, (_, at): Step => ({ query: "a", atMs: at * 100 }));
    const troubled = Array.from({ length: 20 }, (_, at) => failed(at * 100));
    expect(judged("CLI-15", planned, troubled)).toBe("holds");
  });
});
