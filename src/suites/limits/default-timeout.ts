import { getPath } from "../../base/json.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, exempt, type Finding, holds, unproven } from "../../run/judge/finding.ts";
import { probe } from "../../run/probe.ts";
import { need, WaitRefused } from "../../run/skip-reason.ts";
import { defaultQuery } from "../../run/discovery/discover-target.ts";
import { roleAssignmentOf, type Target } from "../../target/target.ts";
import { codeOf, describeStatus, fieldsOf, hasStatus, isSuccess } from "../shared/response.ts";

/**
 * An invoke of an agent that takes longer than the default timeout. The duration has two bounds, in milliseconds: they
 * differ if the test clock advanced, or if it is unknown whether agents use the test clock.
 */
interface OverdueInvoke {
  readonly exchange: Exchange;
  readonly minMs: number;
  readonly maxMs: number;
}

const defaultTimeoutSeconds = 30;
/** Minimum time until a timeout that is not too short. The tolerance is 10 %, as for retries. */
const minTimeoutMs = 0.9 * defaultTimeoutSeconds * 1000;
/** Time from which a timeout is too long. Up to this time, a cold start or a queue may explain the duration. */
const maxTimeoutMs = 2 * defaultTimeoutSeconds * 1000;
/** Maximum duration that an execution may report if the default timeout ended it. */
const maxExecutionSeconds = 1.2 * defaultTimeoutSeconds;

/** How long to wait for a response. */
const responseTimeoutMs = maxTimeoutMs + 5000;
const clockStepMs = 5000;
/** Real pause between two advances of the test clock. On a busy machine, a response needs this long to arrive. */
const clockRestMs = 50;

const requestCount = (target: Target): number => Number(roleAssignmentOf(target, "timingOutByDefault") !== null);

const overdueInvoked = probe(
  "an agent that takes longer than the default timeout is invoked",
  {
    requests: requestCount,
    executions: requestCount,
    waits: { mode: "reserved", seconds: (target) => (requestCount(target) * responseTimeoutMs) / 1000 },
    stage: "exclusive",
    since: "1.2",
  },
  async ({ client, target, time }): Promise<OverdueInvoke | null> => {
    const assignment = roleAssignmentOf(target, "timingOutByDefault");
    if (assignment === null) return null;
    if (!time.canWait(responseTimeoutMs))
      throw new WaitRefused({ why: "no time left", takes: "the default timeout takes up to 65 s" }, need("maxWaitMs"));
    const options = { noRetry: true, ...(time.agentsFollow ? {} : { minHeadMs: responseTimeoutMs }) } as const;
    const invoked = client.since("1.2").invoke(assignment, { query: defaultQuery }, options);
    const ended = invoked.then((exchange) => ({
      exchange,
      movedMs: time.clockOffsetMs() - exchange.clockMs,
      maxMovedMs: time.maxClockOffsetMs() - exchange.clockMs,
    }));
    const { exchange, movedMs, maxMovedMs } = await time.awaitAgent(
      ended,
      2 * responseTimeoutMs,
      clockStepMs,
      clockRestMs,
    );
    const realMs = exchange.answer.endMs - exchange.sentMs;
    return { exchange, minMs: realMs + (time.agentsFollow ? movedMs : 0), maxMs: realMs + maxMovedMs };
  },
);

const expected = `a timeout after ${defaultTimeoutSeconds} s`;
const secondsOf = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** Whether an error response names a timeout. Other failures may have another reason. */
const namesTimeout = (exchange: Exchange): boolean =>
  hasStatus(exchange, 408, 504) || /time.?(d.?)?out|deadline/i.test(codeOf(exchange) ?? "");

/** Whether a gateway before the target may have ended the request: the response has no error code of the document. */
const mayBeGateway = (exchange: Exchange): boolean =>
  hasStatus(exchange, 408, 502, 503, 504) && codeOf(exchange) === null;

function judgeSuccess({ exchange, minMs }: OverdueInvoke): Finding<never> {
  const reported = getPath(fieldsOf(exchange, ["result", "metadata"]), "metadata", "execution_time");
  const isTooLong = typeof reported === "number" ? reported > maxExecutionSeconds : minMs >= maxTimeoutMs;
  return isTooLong && minMs >= minTimeoutMs
    ? breach(expected, `${describeStatus(exchange)} after ${secondsOf(minMs)}`, exchange)
    : unproven(`the agent answered after ${secondsOf(minMs)}, so it does not take longer than the timeout`);
}

/**
 * Judges LIM-27: the default timeout is 30 seconds. A cold start, a queue or a gateway does not count as a wrong
 * timeout.
 */
export function judgeDefaultTimeout(overdue: OverdueInvoke | null): Finding<never> {
  if (overdue === null)
    return exempt("the target file names no agent for `agents.timingOutByDefault`, without a timeout of its own");
  const { exchange, minMs, maxMs } = overdue;
  if (isSuccess(exchange)) return judgeSuccess(overdue);
  if (exchange.answer.kind === "unanswered")
    return exchange.answer.reason === "silent" && minMs >= maxTimeoutMs
      ? breach(expected, `no response within ${secondsOf(minMs)}`, exchange)
      : unproven(`the invoke got no response: ${exchange.answer.detail}`);
  if (mayBeGateway(exchange)) return unproven(`the response may be a gateway's (${describeStatus(exchange)})`);
  if (!hasStatus(exchange, 408, 500, 502, 503, 504))
    return unproven(`the execution did not fail as expected (${describeStatus(exchange)})`);
  if (minMs >= maxTimeoutMs) return breach(expected, `one after ${secondsOf(minMs)}`, exchange);
  if (maxMs >= minTimeoutMs) return holds();
  return namesTimeout(exchange)
    ? breach(expected, `one after ${secondsOf(maxMs)} (${describeStatus(exchange)})`, exchange)
    : unproven(`the agent failed after ${secondsOf(maxMs)} (${describeStatus(exchange)}), perhaps for another reason`);
}

export const defaultTimeoutCheck: Check = check("LIM-27", overdueInvoked, judgeDefaultTimeout);
