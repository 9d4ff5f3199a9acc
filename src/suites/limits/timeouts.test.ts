import { describe, expect, it } from "vitest";

import { exchange, unanswered } from "../testing/evidence.ts";
import { judgeDefaultTimeout } from "./timeouts.ts";

const failed = (status: number, code?: string) =>
  exchange({ status, json: code === undefined ? {} : { error: { code, message: "Timed out.", status } } });

const answeredAfter = (seconds: number) => exchange({ json: { result: {}, metadata: { execution_time: seconds } } });

describe("an agent that takes longer than the default timeout", () => {
  it.each([
    ["times out after 30 s", failed(500, "AGENT_TIMEOUT"), 30, "holds"],
    ["fails after 30 s with a code of its own", failed(500, "EXECUTION_ERROR"), 31, "holds"],
    ["times out after a cold start", failed(504, "TIMED_OUT"), 48, "holds"],
    ["times out after 10 s", failed(500, "AGENT_TIMEOUT"), 10, "breach"],
    ["fails after 10 s, perhaps for another reason", failed(500, "EXECUTION_ERROR"), 10, "unproven"],
    ["times out after a minute", failed(500, "AGENT_TIMEOUT"), 61, "breach"],
    ["is cut by a gateway", failed(504), 29, "unproven"],
    ["is cut early by a gateway", failed(504), 10, "unproven"],
    ["is refused", failed(429, "RATE_LIMITED"), 0, "unproven"],
    ["answers at once", exchange({ json: { result: {} } }), 2, "unproven"],
    ["answers after a time that a queue may explain", exchange({ json: { result: {} } }), 45, "unproven"],
    ["answers after a minute", exchange({ json: { result: {} } }), 65, "breach"],
    ["answers, and reports 45 s", answeredAfter(45), 46, "breach"],
    ["answers late, and reports 20 s", answeredAfter(20), 70, "unproven"],
    ["never answers", unanswered(), 65, "breach"],
    ["is not waited for long enough", unanswered(), 35, "unproven"],
    ["loses its connection", unanswered({}, "broken"), 65, "unproven"],
  ])("%s", (_, invoked, seconds, kind) => {
    const ms = seconds * 1000;
    expect(judgeDefaultTimeout({ exchange: invoked, minMs: ms, maxMs: ms })).toMatchObject({ kind });
  });

  it.each([
    ["in real time", 30, 150],
    ["by the test clock", 0.2, 31],
  ])("may take its time %s where nobody says which", (_, minSeconds, maxSeconds) => {
    const minMs = minSeconds * 1000;
    const judged = judgeDefaultTimeout({ exchange: failed(500, "AGENT_TIMEOUT"), minMs, maxMs: maxSeconds * 1000 });
    expect(judged.kind).toBe("holds");
  });

  it("concerns no target whose file names none", () => {
    expect(judgeDefaultTimeout(null)).toMatchObject({ kind: "inapplicable", exempt: true });
  });
});
