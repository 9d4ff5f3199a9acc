import type { Answer } from "../../limits/sample.ts";
import type { EngineName, Flow } from "../../../scenarios/scenario.ts";
import type { Cell } from "../../run/universe.ts";
import type { LoadEvidence, LoadSample } from "../load-evidence.ts";
import { openCells } from "./seen.ts";

/** A request with what its flow says of it; its times are the earliest of sending and the latest of all others that the engine's clock leaves open. */
export interface Sent extends LoadSample, Answer {
  readonly of: Flow;
  /** What it is counted as among all that were looked at; those alike share one. */
  readonly cell: Cell;
}

const kindOf = ({ operation: { kind } }: Flow): Answer["kind"] =>
  kind === "usage" || kind === "list" ? "other" : kind;

/** All requests of known flows, in order of sending. */
export function sentOf(evidence: LoadEvidence): Sent[] {
  const flows = new Map(evidence.flows.map((flow) => [flow.name, flow]));
  const cellOf = openCells(evidence);
  const sent = evidence.requests
    .flatMap((sample, index): Sent[] => {
      const of = flows.get(sample.flow);
      return of === undefined
        ? []
        : [{ ...sample, of, id: `${sample.flow}#${index}`, kind: kindOf(of), cell: cellOf(of, sample) }];
    })
    .toSorted((a, b) => a.sentMs - b.sentMs);
  const [before, after] = neighboursOf(sent);
  return sent.map((each) => widened(each, before.get(each.id), after.get(each.id), blurMs(evidence)));
}

/** For requests that are sent one after another: the one before, and the one after. */
function neighboursOf(sent: readonly Sent[]): readonly [ReadonlyMap<string, Sent>, ReadonlyMap<string, Sent>] {
  const before = new Map<string, Sent>();
  const after = new Map<string, Sent>();
  const last = new Map<string, Sent>();
  for (const each of sent) {
    if (!isOneByOne(each.of)) continue;
    const previous = last.get(each.flow);
    last.set(each.flow, each);
    if (previous === undefined || previous.endMs > each.sentMs) continue;
    before.set(each.id, previous);
    after.set(previous.id, each);
  }
  return [before, after];
}

/** Whether each request of a flow waits for the answer to the one before. */
export const isOneByOne = ({ shape }: Flow): boolean =>
  shape.kind === "in turn" || shape.kind === "after refusal" || ("atOnce" in shape && shape.atOnce === 1);

/** Times as vague as the engine's clock, but that a request which waits for another never overlaps it. */
function widened(each: Sent, before: Sent | undefined, after: Sent | undefined, blurMs: number): Sent {
  const earliestMs = before === undefined ? -Infinity : (before.endMs + each.sentMs) / 2;
  const latestMs = after === undefined ? Infinity : (each.endMs + after.sentMs) / 2;
  return {
    ...each,
    sentMs: Math.max(each.sentMs - blurMs, earliestMs),
    headMs: Math.min(each.headMs + blurMs, latestMs),
    endMs: Math.min(each.endMs + blurMs, latestMs),
  };
}

/** How far a time may be off, in ms, whichever of the machines told it. */
export const blurMs = ({ engine, clocksApartMs = 0 }: LoadEvidence): number => resolutionMs[engine] + clocksApartMs;

/** Whole milliseconds are what autocannon tells; k6's clock is finer, but read a moment late. */
const resolutionMs: Readonly<Record<EngineName, number>> = { autocannon: 1, k6: 1 };
