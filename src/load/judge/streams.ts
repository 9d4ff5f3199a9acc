import { is2xx } from "../../base/http-status.ts";
import type { StreamRule } from "../../rules/streams/rules.ts";
import type { StreamSummary } from "../../evidence/load-evidence.ts";
import type { LoadFacts } from "./facts.ts";
import { formatShare } from "./responses.ts";
import { breach, holds, observed, type JudgeResult, unproven } from "./finding.ts";
import { matrixRow, createCoverageCounter } from "./coverage.ts";
import { formatCount } from "../../base/text.ts";
import { quantile } from "../../base/statistics/quantile.ts";

const lineOf = ({ flow, sentMs, sequence, chunks, indexes, ending }: StreamSummary): string =>
  `${flow} sent at ${new Date(sentMs).toISOString()}: ${sequence.length > 8 ? `${sequence.slice(0, 8).join(", ")}, …` : sequence.join(", ") || "no event"}; ${chunks} chunks, index ${indexes}, ${ending}`;

const cellsOf = ({ tier }: LoadFacts["evidence"]) => {
  const of = matrixRow("stream", tier, "main");
  return { whole: { of, kind: "events, whole" }, left: { of, kind: "events, left" }, cut: { of, kind: "events, cut" } };
};

/** Judges every stream that was opened; `say` tells what is wrong with one, `undefined` where it shows nothing. */
const everyStream =
  (expected: string, say: (stream: StreamSummary) => string | null | undefined) =>
  ({ evidence }: LoadFacts): JudgeResult => {
    const { streams } = evidence;
    const cells = cellsOf(evidence);
    const tally = createCoverageCounter();
    const wrong: { stream: StreamSummary; actual: string }[] = [];
    for (const stream of streams.filter(({ status }) => is2xx(status))) {
      const actual = say(stream);
      if (actual === undefined) continue;
      tally.add(cells[stream.ending], actual !== null);
      if (actual !== null) wrong.push({ stream, actual });
    }
    const seen = tally.coverage();
    const [first] = wrong;
    if (first !== undefined) {
      const said = `${formatShare(wrong.length, seen.looked, "streams")}${first.actual}`;
      const witness = wrong.slice(0, 5).map(({ stream }) => lineOf(stream));
      return { ...breach(expected, said, witness), seen };
    }
    const cut = streams.filter(({ ending }) => ending === "cut").length;
    if (cut > 0) return unproven(`${cut} of ${streams.length} streams broke off`);
    return seen.looked > 0 ? { ...holds(formatCount(seen.looked, "stream")), seen } : unproven("no stream was opened");
  };

/** SSE-1: a stream is answered with 200. */
export function judgeStreamStatus({ evidence: { streams } }: LoadFacts): JudgeResult {
  const answered = streams.filter(({ status }) => status !== null && status !== 429);
  const others = answered.filter(({ status }) => status !== 200);
  if (others.length > 0)
    return breach(
      "200 with an event stream",
      `${others[0]?.status}, and ${others.length - 1} others of ${answered.length}`,
      others.slice(0, 5).map(lineOf),
    );
  const lost = streams.filter(({ status }) => status === null).length;
  if (lost > 0) return unproven(`${lost} of ${streams.length} streams got no answer`);
  return answered.length > 0 ? holds(`${answered.length} streams`) : unproven("no stream was opened");
}

/** A rule of the order of a stream's events, on all of them. What broke off under load may have broken off on the way. */
export const judgeEventOrder = ({ expected, judge }: StreamRule) =>
  everyStream(expected, ({ sequence, ending }) => judge({ sequence, isOver: ending === "whole" }));

/** SSE-11: indexes rise, or are absent. */
export const judgeIndexes = everyStream(
  "`index` rises on every chunk of a stream, or is on none",
  ({ chunks, indexes }) => {
    if (chunks === 0) return undefined;
    return indexes === "broken" ? "`index` is on some only, or does not rise" : null;
  },
);

/** SSE-13: `done` says how many tokens were used. */
export const judgeDoneTokens = everyStream("`done` carries `usage.total_tokens`", ({ sequence, totalTokens }) => {
  if (!sequence.includes("done")) return undefined;
  return totalTokens === null ? "no `usage.total_tokens`" : null;
});

/** How soon streams begin and how long they pause: figures, and no promise. */
export function observeStreamTimes({ evidence: { streams } }: LoadFacts): JudgeResult {
  const first = streams.flatMap(({ firstEventMs, sentMs }) => (firstEventMs === null ? [] : [firstEventMs - sentMs]));
  if (first.length === 0) return unproven("no stream sent an event");
  const gaps = streams.flatMap(({ longestGapMs }) => longestGapMs ?? []);
  const tell = (values: readonly number[]): string =>
    [0.5, 0.99, 1].map((share) => `${Math.round(quantile(values, share))} ms`).join(", ");
  const between =
    gaps.length === 0
      ? "gaps between events cannot be told by this engine"
      : `longest gap between events: ${tell(gaps)}`;
  return observed(`first event (median, 99 %, longest): ${tell(first)}; ${between}; ${first.length} streams`);
}
