import { latencyGroupOf } from "../histogram.ts";
import type { LoadEvidence } from "../../evidence/load-evidence.ts";
import { interrupted } from "../stall-timeout.ts";

/** What the evidence is good for; each text says why it is not, `null` that it is. */
export interface Validity {
  /** Why latency and rate tell nothing of the target. */
  readonly pace: string | null;
  /** Why exact counts do not prove that it keeps its limits. */
  readonly counts: string | null;
  /** Why nothing tells anything of it. */
  readonly invalid: string | null;
}

/** Of one core: from here on the generator may be what is slow. */
const busyShare = 0.9;
/** Of the requests sent. */
const mostLateShare = 0.01;
const mostUnansweredShare = 0.01;

/** A run in which the generator was the bottleneck is no verdict on the target. */
export function validityOf(evidence: LoadEvidence): Validity {
  const invalid = loadProblem(evidence);
  const counts = invalid ?? countsProblem(evidence);
  return { invalid, counts, pace: paceProblem(evidence) ?? counts };
}

function paceProblem({ generator: { busiest, late, sent } }: LoadEvidence): string | null {
  if (busiest !== null && busiest >= busyShare)
    return `the load generator used ${Math.round(busiest * 100)} % of a core in its most busy second: it may have been the bottleneck`;
  return late > sent * mostLateShare ? `the load generator sent ${late} of ${sent} requests late` : null;
}

function loadProblem(evidence: LoadEvidence): string | null {
  const { sent, dropped } = evidence.generator;
  if (sent === 0) return "nothing was sent";
  if (dropped > 0)
    return `the load generator could not start ${dropped} of its requests: run it again on a machine with less to do`;
  return targetProblem(evidence);
}

/** What came of the requests that should have met a limit. */
interface Met {
  answered: number;
  refused: number;
  failed: number;
  lost: number;
}

/** A target that is down, or somewhere else, keeps every limit: where most requests came to nothing, that nothing is broken says nothing. */
function targetProblem(evidence: LoadEvidence): string | null {
  const { stopped, limits } = evidence;
  const { answered, refused, failed, lost } = metBy(evidence);
  const isGivenUp = stopped !== null && stopped !== interrupted;
  if (isGivenUp && refused === 0 && answered <= limits.perMinute)
    return `the target answered nothing any more: ${stopped}`;
  const half = (answered + failed + lost) / 2;
  if (lost > half) return `the target gave no answer to ${lost} of ${answered + failed + lost} requests`;
  // Once it has refused, other answers are a matter of its limits, and are judged.
  if (refused > 0 || failed + lost <= half) return null;
  return `the target answered ${failed + lost} of ${answered + failed + lost} requests with neither 200 nor 429`;
}

function metBy({ flows, requests, summary }: LoadEvidence): Met {
  const limited = new Set(
    flows
      .filter(({ operation: { kind, agent } }) => (kind === "invoke" || kind === "stream") && agent !== "failing")
      .map(({ name }) => name),
  );
  const met: Met = { answered: 0, refused: 0, failed: 0, lost: 0 };
  for (const { flow, status, left } of requests) {
    if (!limited.has(flow) || (status === null && left)) continue;
    if (status === null) met.lost += 1;
    else if (latencyGroupOf(status) === "other") met.failed += 1;
    else met.answered += 1;
    if (status === 429) met.refused += 1;
  }
  for (const slot of summary) {
    if (!limited.has(slot.flow)) continue;
    met.answered += slot.admitted + slot.refused;
    met.refused += slot.refused;
    met.failed += slot.failed;
    met.lost += slot.unanswered;
  }
  return met;
}

function countsProblem({
  generator: { planned, sent },
  requests,
  summary,
  segments,
  stopped,
}: LoadEvidence): string | null {
  if (!hasAllSegments(segments)) return `only segments ${segments.join(", ")} of the load are there: merge all of them`;
  if (stopped !== null) return `the run was stopped early: ${stopped}`;
  if (sent < planned) return `only ${sent} of ${planned} planned requests were sent`;
  const unanswered = requests.filter(({ status, left }) => status === null && !left).length;
  const lost = summary.reduce((sum, slot) => sum + slot.unanswered, unanswered);
  return lost > sent * mostUnansweredShare ? `${lost} of ${sent} requests got no answer` : null;
}

/** Whether segments such as `0:1/2` make up the whole load. */
export function hasAllSegments(segments: readonly string[]): boolean {
  const spans = segments.map((text) => text.split(":").map(fraction)).toSorted((a, b) => (a[0] ?? 0) - (b[0] ?? 0));
  let reached = 0;
  for (const [from = Number.NaN, to = Number.NaN] of spans) {
    if (!(from <= reached + 1e-9)) return false;
    reached = Math.max(reached, to);
  }
  return reached > 1 - 1e-9;
}

function fraction(text: string): number {
  const [over = "", under = "1"] = text.split("/");
  return text.endsWith("%") ? Number(text.slice(0, -1)) / 100 : Number(over) / Number(under);
}
