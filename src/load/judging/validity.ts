import type { LoadEvidence } from "../load-evidence.ts";

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

function loadProblem({ generator: { sent, dropped } }: LoadEvidence): string | null {
  if (sent === 0) return "nothing was sent";
  return dropped > 0 ? `the load generator could not start ${dropped} of its requests` : null;
}

function countsProblem({
  generator: { planned, sent },
  requests,
  summary,
  segments,
  stopped,
}: LoadEvidence): string | null {
  if (!isWhole(segments)) return `only segments ${segments.join(", ")} of the load are there: merge all of them`;
  if (stopped !== null) return `the run was stopped early: ${stopped}`;
  if (sent < planned) return `only ${sent} of ${planned} planned requests were sent`;
  const unanswered = requests.filter(({ status, left }) => status === null && !left).length;
  const lost = summary.reduce((sum, slot) => sum + slot.unanswered, unanswered);
  return lost > sent * mostUnansweredShare ? `${lost} of ${sent} requests got no answer` : null;
}

/** Whether segments such as `0:1/2` make up the whole load. */
export function isWhole(segments: readonly string[]): boolean {
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
