import { latencyGroupOf } from "../latency-histogram.ts";
import type { LoadEvidence } from "../../evidence/load-evidence.ts";
import { evidenceBefore, type TargetLoss, targetLossIn } from "./target-loss.ts";
import { interruptedByUser } from "../target-watch.ts";

export interface Validity {
  /** Reason not to judge latency and rate, e.g. a busy load generator. `null`: latency and rate are judged. */
  readonly pace: string | null;
  /** Reason why request counts cannot prove a pass, e.g. lost requests. `null`: request counts can prove a pass. */
  readonly counts: string | null;
  /** Reason why the whole load proves nothing about the target; `null` if the load is valid. */
  readonly invalid: string | null;
}

/** A load generator that uses at least this share of one CPU core may be the bottleneck. */
const busyShare = 0.9;
const maxLateShare = 0.01;
const maxUnansweredShare = 0.01;

export function validityOf(evidence: LoadEvidence): Validity {
  const loss = targetLossIn(evidence);
  if (loss !== null) return validityBefore(loss, evidenceBefore(loss, evidence));
  const invalid = loadProblem(evidence);
  const counts = invalid ?? countsProblem(evidence);
  return { invalid, counts, pace: paceProblem(evidence) ?? counts };
}

function validityBefore({ reason }: TargetLoss, evidence: LoadEvidence): Validity {
  const invalid = isAllLost(evidence) ? reason : loadProblem({ ...evidence, stopped: null });
  return { invalid, counts: invalid ?? reason, pace: reason };
}

const isAllLost = ({ requests, summary }: LoadEvidence): boolean =>
  requests.every(({ status }) => status === null) &&
  summary.every(({ admitted, refused, failed }) => admitted + refused + failed === 0);

function paceProblem({ generator: { busiest, late, sent } }: LoadEvidence): string | null {
  if (busiest !== null && busiest >= busyShare)
    return `the load generator used ${Math.round(busiest * 100)} % of a core in its busiest second: it may have been the bottleneck`;
  return late > sent * maxLateShare ? `the load generator sent ${late} of ${sent} requests late` : null;
}

function loadProblem(evidence: LoadEvidence): string | null {
  const { disturbance, generator } = evidence;
  const { sent, dropped } = generator;
  if (sent === 0) return "nothing was sent";
  if (disturbance !== undefined) return disturbance;
  if (dropped > 0)
    return `the load generator could not start ${dropped} of its requests: run it again on a machine with less to do`;
  return targetProblem(evidence);
}

interface LimitedCounts {
  answered: number;
  refused: number;
  failed: number;
  unanswered: number;
}

function targetProblem(evidence: LoadEvidence): string | null {
  const { stopped, limits } = evidence;
  const { answered, refused, failed, unanswered } = limitedCountsOf(evidence);
  const isGivenUp = stopped !== null && stopped !== interruptedByUser;
  if (isGivenUp && refused === 0 && answered <= limits.perMinute) return `the target stopped answering: ${stopped}`;
  const half = (answered + failed + unanswered) / 2;
  if (unanswered > half) return `the target did not answer ${unanswered} of ${answered + failed + unanswered} requests`;
  // A 429 shows that the target works. Therefore, the load is valid, and LIM-12 judges failed responses.
  if (refused > 0 || failed + unanswered <= half) return null;
  return `the target answered ${failed + unanswered} of ${answered + failed + unanswered} requests with neither 200 nor 429`;
}

/** Returns the names of the flows whose requests run agents. Leaves out flows whose requests fail on purpose. */
export const limitedFlows = ({ flows }: LoadEvidence): ReadonlySet<string> =>
  new Set(
    flows
      .filter(({ operation: { kind, agent } }) => (kind === "invoke" || kind === "stream") && agent !== "failing")
      .map(({ name }) => name),
  );

function limitedCountsOf(evidence: LoadEvidence): LimitedCounts {
  const { requests, summary } = evidence;
  const limited = limitedFlows(evidence);
  const counts: LimitedCounts = { answered: 0, refused: 0, failed: 0, unanswered: 0 };
  for (const { flow, status, left } of requests) {
    if (!limited.has(flow) || (status === null && left)) continue;
    if (status === null) counts.unanswered += 1;
    else if (latencyGroupOf(status) === "other") counts.failed += 1;
    else counts.answered += 1;
    if (status === 429) counts.refused += 1;
  }
  for (const second of summary) {
    if (!limited.has(second.flow)) continue;
    counts.answered += second.admitted + second.refused;
    counts.refused += second.refused;
    counts.failed += second.failed;
    counts.unanswered += second.unanswered;
  }
  return counts;
}

function countsProblem({
  generator: { planned, sent },
  requests,
  summary,
  segments,
  stopped,
}: LoadEvidence): string | null {
  if (!hasAllSegments(segments))
    return `the evidence has only the segments ${segments.join(", ")} of the load: merge all of them`;
  if (stopped !== null) return `the run was stopped early: ${stopped}`;
  if (sent < planned) return `only ${sent} of ${planned} planned requests were sent`;
  const unanswered = summary.reduce(
    (sum, counts) => sum + counts.unanswered,
    requests.filter(({ status, left }) => status === null && !left).length,
  );
  return unanswered > sent * maxUnansweredShare ? `${unanswered} of ${sent} requests got no response` : null;
}

export function hasAllSegments(segments: readonly string[]): boolean {
  const spans = segments
    .map((text) => text.split(":").map(parseFraction))
    .toSorted((a, b) => (a[0] ?? 0) - (b[0] ?? 0));
  let reached = 0;
  for (const [from = Number.NaN, to = Number.NaN] of spans) {
    if (!(from <= reached + 1e-9)) return false;
    reached = Math.max(reached, to);
  }
  return reached > 1 - 1e-9;
}

function parseFraction(text: string): number {
  const [over = "", under = "1"] = text.split("/");
  return text.endsWith("%") ? Number(text.slice(0, -1)) / 100 : Number(over) / Number(under);
}
