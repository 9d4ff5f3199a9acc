import type { Flow } from "../../../../scenarios/scenario.ts";
import type { Exchange, StreamEvent } from "../../../evidence/exchange.ts";
import { member } from "../../../base/json.ts";
import type { StreamSummary } from "../../load-evidence.ts";
import { parsed, tokensOf } from "../../load-sample.ts";

/** The order, the end and the pauses of one stream. */
export function describeStream(flow: Flow, { answer, sentMs }: Exchange, left: boolean): StreamSummary {
  const events = answer.kind === "answered" ? answer.events : [];
  const names = events.map(({ name }) => name ?? "message");
  const chunks = events.filter(({ name }) => name === "chunk");
  const done = events.find(({ name }) => name === "done");
  return {
    flow: flow.name,
    sentMs,
    status: answer.kind === "answered" ? answer.status : null,
    firstEventMs: events[0]?.atMs ?? null,
    endMs: answer.endMs,
    longestGapMs: longestGapOf(events),
    sequence: names.filter((name, at) => name !== "chunk" || names[at - 1] !== "chunk"),
    chunks: chunks.length,
    indexes: indexesOf(chunks),
    ending: left ? "left" : answer.kind === "answered" && answer.ending.kind === "complete" ? "whole" : "cut",
    totalTokens: done === undefined ? null : tokensOf(parsed(done.data)),
  };
}

function longestGapOf(events: readonly StreamEvent[]): number | null {
  if (events.length < 2) return null;
  return Math.max(...events.slice(1).map(({ atMs }, before) => atMs - (events[before]?.atMs ?? atMs)));
}

function indexesOf(chunks: readonly StreamEvent[]): StreamSummary["indexes"] {
  const indexes = chunks.map(({ data }) => member(parsed(data), "index"));
  if (indexes.every((index) => index === undefined)) return "absent";
  const isRising = indexes.every(
    (index, at) => Number.isInteger(index) && (at === 0 || Number(index) > Number(indexes[at - 1])),
  );
  return isRising ? "rising" : "broken";
}
