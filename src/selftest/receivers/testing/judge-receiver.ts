import { plainNetwork } from "../../../base/network/network.ts";
import { webhookEvents } from "../../../spec/events.ts";
import type { Suite } from "../../../run/judge/check.ts";
import { runDeliveries } from "../../../run/run-deliveries.ts";
import type { RunResult } from "../../../run/run-result.ts";
import { receiverSuite } from "../../../suites/receiver/checks.ts";
import { receiverTarget } from "../../../target/target-from-options.ts";

/** The suite without RCV-14, whose slow body takes two seconds. */
export const quickSuites: readonly Suite[] = [
  { ...receiverSuite, checks: receiverSuite.checks.filter(({ clause }) => clause !== "RCV-14") },
];

/** Judges the receiver at a URL. */
export const judgeReceiverAt = (
  url: string,
  secrets: readonly [string, ...string[]],
  suites: readonly Suite[] = quickSuites,
): Promise<RunResult> =>
  runDeliveries({
    target: receiverTarget({ url, secrets, headerValues: [], network: plainNetwork }),
    suites,
    secrets,
    events: webhookEvents,
    agent: "weather",
    headers: [],
    signal: new AbortController().signal,
  });

/** Returns the clauses that have a finding of one of these kinds. */
export const clausesWith = ({ judgements }: RunResult, ...kinds: readonly string[]): string[] =>
  judgements.filter(({ finding }) => kinds.includes(finding.kind)).map(({ check }) => check.clause);
