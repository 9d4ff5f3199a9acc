import type { Flow } from "../../../../scenarios/scenario.ts";
import type { Exchange, StreamEvent } from "../../../evidence/exchange.ts";
import type { StreamSummary } from "../../load-evidence.ts";
import { shapeOf, tokensOfDone } from "../../../streams/shape.ts";

/** The order, the end and the pauses of one stream. */
export function describeStream(flow: Flow, { answer, sentMs }: Exchange, left: boolean): StreamSummary {
  const events = answer.kind === "answered" ? answer.events : [];
  return {
    flow: flow.name,
    sentMs,
    status: answer.kind === "answered" ? answer.status : null,
    firstEventMs: events[0]?.atMs ?? null,
    endMs: answer.endMs,
    longestGapMs: longestGapOf(events),
    ...shapeOf(events),
    ending: left ? "left" : answer.kind === "answered" && answer.ending.kind === "complete" ? "whole" : "cut",
    totalTokens: tokensOfDone(events),
  };
}

function longestGapOf(events: readonly StreamEvent[]): number | null {
  if (events.length < 2) return null;
  return Math.max(...events.slice(1).map(({ atMs }, before) => atMs - (events[before]?.atMs ?? atMs)));
}
