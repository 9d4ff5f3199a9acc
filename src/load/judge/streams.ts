import { is2xx } from "../../base/http.ts";
import type { StreamRule } from "../../rules/streams/streams.ts";
import type { StreamSummary } from "../../evidence/load-evidence.ts";
import type { LoadFacts } from "./facts.ts";
import { judgeEach } from "./responses.ts";
import { breach, holds, observed, type JudgeResult, unproven } from "./finding.ts";
import { matrixRow } from "./sampled-requests.ts";
import { quantile } from "../../base/statistics/samples.ts";

const describeStreamLine = ({ flow, sentMs, sequence, chunks, indexes, ending }: StreamSummary): string =>
  `${flow} sent at ${new Date(sentMs).toISOString()}: ${sequence.length > 8 ? `${sequence.slice(0, 8).join(", ")}, …` : sequence.join(", ") || "no event"}; ${chunks} chunks, index ${indexes}, ${ending}`;

const cellsOf = ({ tier }: LoadFacts["evidence"]) => {
  const of = matrixRow("stream", tier, "main");
  return { whole: { of, kind: "events, whole" }, left: { of, kind: "events, left" }, cut: { of, kind: "events, cut" } };
};

const judgeEachStream =
  (expected: string, check: (stream: StreamSummary) => string | null | undefined) =>
  ({ evidence }: LoadFacts): JudgeResult => {
    const { streams } = evidence;
    const cells = cellsOf(evidence);
    const result = judgeEach(
      streams.filter(({ status }) => is2xx(status)),
      {
        check: (stream) => {
          const actual = check(stream);
          return typeof actual === "string" ? { expected, actual } : actual;
        },
        cellOf: ({ ending }) => cells[ending],
        describe: describeStreamLine,
        noun: "stream",
      },
    );
    if (result?.kind === "breach") return result;
    const cut = streams.filter(({ ending }) => ending === "cut").length;
    if (cut > 0) return unproven(`${cut} of ${streams.length} streams broke off`);
    return result ?? unproven("no stream was opened");
  };

/** Judges SSE-1: the response that starts a stream has status 200. Ignores refusals (429). */
export function judgeStreamStatus({ evidence: { streams } }: LoadFacts): JudgeResult {
  const answered = streams.filter(({ status }) => status !== null && status !== 429);
  const others = answered.filter(({ status }) => status !== 200);
  if (others.length > 0)
    return breach(
      "200 with an event stream",
      `${others[0]?.status}, and ${others.length - 1} others of ${answered.length}`,
      others.slice(0, 5).map(describeStreamLine),
    );
  const unanswered = streams.filter(({ status }) => status === null).length;
  if (unanswered > 0) return unproven(`${unanswered} of ${streams.length} streams got no response`);
  return answered.length > 0 ? holds(`${answered.length} streams`) : unproven("no stream was opened");
}

/** Creates the judge of a rule about the names and order of events. An incomplete stream may lack its last event. */
export const createStreamRuleJudge = ({ expected, judge }: StreamRule) =>
  judgeEachStream(expected, ({ sequence, ending }) => judge({ sequence, isOver: ending === "whole" }));

/** Judges SSE-11: the indexes of a stream's chunks rise, or are absent. */
export const judgeIndexes = judgeEachStream(
  "`index` rises on every chunk of a stream, or is on none",
  ({ chunks, indexes }) => {
    if (chunks === 0) return undefined;
    return indexes === "broken" ? "`index` is on some only, or does not rise" : null;
  },
);

/** Judges SSE-13: the event `done` of a stream has the number of used tokens. */
export const judgeDoneTokens = judgeEachStream("`done` carries `usage.total_tokens`", ({ sequence, totalTokens }) => {
  if (!sequence.includes("done")) return undefined;
  return totalTokens === null ? "no `usage.total_tokens`" : null;
});

export function observeStreamTimes({ evidence: { streams } }: LoadFacts): JudgeResult {
  const first = streams.flatMap(({ firstEventMs, sentMs }) => (firstEventMs === null ? [] : [firstEventMs - sentMs]));
  if (first.length === 0) return unproven("no stream sent an event");
  const gaps = streams.flatMap(({ longestGapMs }) => longestGapMs ?? []);
  const formatTimes = (values: readonly number[]): string =>
    [0.5, 0.99, 1].map((share) => `${Math.round(quantile(values, share))} ms`).join(", ");
  const between =
    gaps.length === 0
      ? "this engine does not know the gaps between events"
      : `longest gap between events: ${formatTimes(gaps)}`;
  return observed(`first event (median, 99 %, longest): ${formatTimes(first)}; ${between}; ${first.length} streams`);
}
