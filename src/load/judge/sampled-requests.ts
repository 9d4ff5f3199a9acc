import { isRefused, type RequestSample } from "../../rules/limits/sample.ts";
import type { Flow } from "../scenarios.ts";
import { type Cell } from "../../run/judge/finding.ts";
import type { LoadEvidence, LoadSample } from "../../evidence/load-evidence.ts";
import { isMinuteLimit } from "../../rules/limits/header-rules.ts";
import { getOrAdd } from "../../base/memoize.ts";

/**
 * A request of a load. Its times include the clock error: `sentMs` is the earliest possible time, and `headMs` and
 * `endMs` are the latest.
 */
export interface SampledRequest extends LoadSample, RequestSample {
  readonly plannedFlow: Flow;
  readonly cell: Cell;
}

const kindOf = ({ operation: { kind } }: Flow): RequestSample["kind"] =>
  kind === "usage" || kind === "list" ? "other" : kind;

export function sampledRequests(evidence: LoadEvidence): SampledRequest[] {
  const flows = new Map(evidence.flows.map((flow) => [flow.name, flow]));
  const cellOf = createCellIndex(evidence);
  const sent = evidence.requests
    .flatMap((sample, index): SampledRequest[] => {
      const plannedFlow = flows.get(sample.flow);
      return plannedFlow === undefined
        ? []
        : [
            {
              ...sample,
              plannedFlow,
              id: `${sample.flow}#${index}`,
              kind: kindOf(plannedFlow),
              cell: cellOf(plannedFlow, sample),
            },
          ];
    })
    .toSorted((a, b) => a.sentMs - b.sentMs);
  const [before, after] = adjacentOf(sent);
  return sent.map((each) => widenTimes(each, before.get(each.id), after.get(each.id), clockErrorMs(evidence)));
}

function adjacentOf(
  sent: readonly SampledRequest[],
): readonly [ReadonlyMap<string, SampledRequest>, ReadonlyMap<string, SampledRequest>] {
  const before = new Map<string, SampledRequest>();
  const after = new Map<string, SampledRequest>();
  const last = new Map<string, SampledRequest>();
  for (const each of sent) {
    if (!isSequential(each.plannedFlow)) continue;
    const previous = last.get(each.flow);
    last.set(each.flow, each);
    if (previous === undefined || previous.endMs > each.sentMs) continue;
    before.set(each.id, previous);
    after.set(previous.id, each);
  }
  return [before, after];
}

export const isSequential = ({ shape }: Flow): boolean =>
  shape.kind === "in turn" || shape.kind === "after refusal" || ("atOnce" in shape && shape.atOnce === 1);

/** Widens a request's times by the clock error, but keeps sequential requests from overlapping. */
function widenTimes(
  each: SampledRequest,
  before: SampledRequest | undefined,
  after: SampledRequest | undefined,
  maxErrorMs: number,
): SampledRequest {
  const earliestMs = before === undefined ? -Infinity : (before.endMs + each.sentMs) / 2;
  const latestMs = after === undefined ? Infinity : (each.endMs + after.sentMs) / 2;
  return {
    ...each,
    sentMs: Math.max(each.sentMs - maxErrorMs, earliestMs),
    headMs: Math.min(each.headMs + maxErrorMs, latestMs),
    endMs: Math.min(each.endMs + maxErrorMs, latestMs),
  };
}

/** Returns the maximum error of recorded times, in ms, across all machines that sent the load. */
export const clockErrorMs = ({ clocksApartMs = 0 }: LoadEvidence): number => resolutionMs + clocksApartMs;

const resolutionMs = 1;

/**
 * Creates a function that returns a response's cell in the coverage report, e.g. `of: "invoke pro", kind: "429 hour"`.
 * Equal cells are the same object, because responses are counted per object.
 */
function createCellIndex({ tier, limits }: LoadEvidence) {
  const known = new Map<string, Map<string, Cell>>();
  return ({ operation, key }: Flow, answer: LoadSample): Cell => {
    const of = matrixRow(operation.kind, tier, key);
    const kind = stateOf(answer, limits);
    const kinds = getOrAdd(known, of, () => new Map<string, Cell>());
    return getOrAdd(kinds, kind, () => ({ of, kind }));
  };
}

export const matrixRow = (endpoint: string, tier: string | null, key: string): string =>
  `${endpoint} ${tier ?? "?"}${key === "second" ? ", second key" : ""}`;

function stateOf(
  { status, limit, remaining }: Pick<LoadSample, "status" | "limit" | "remaining">,
  limits: LoadEvidence["limits"],
): string {
  if (status === null) return "no answer";
  if (!isRefused({ status })) return String(status);
  if (remaining === null || limit === null) return "429 bare";
  if (remaining > 0) return "429 room";
  if (isMinuteLimit(limit, limits)) return "429 minute";
  return limit === limits.perHour ? "429 hour" : "429 other";
}
