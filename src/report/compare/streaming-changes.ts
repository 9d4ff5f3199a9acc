import { formatNumber } from "../../base/numbers.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import type { Report } from "../model/report.ts";
import { type AgentStreaming, formatRate } from "../model/streaming.ts";
import type { StreamingChange } from "./comparison.ts";
import type { LabelledText } from "./group-findings.ts";

type Streaming = Pick<Report, "streaming">;

/** Pairs the streaming quality of each agent in two reports. These are figures, and never a regression. */
export function compareStreaming(
  { streaming: older = [] }: Streaming,
  { streaming: newer = [] }: Streaming,
): StreamingChange[] {
  const agents = new Set([...newer, ...older].map(({ agent }) => agent));
  return [...agents].map((agent) => ({
    agent,
    was: older.find((each) => each.agent === agent) ?? null,
    is: newer.find((each) => each.agent === agent) ?? null,
  }));
}

/** Formats the figures of an agent in both reports, side by side. */
export const formatStreamingChange = ({ agent, was, is }: StreamingChange): LabelledText => ({
  label: sanitizeLine(agent, 40),
  text: figures
    .map(({ name, valueOf }) => [name, was === null ? "–" : valueOf(was), is === null ? "–" : valueOf(is)] as const)
    .filter(([, ...values]) => values.some((value) => value !== "–"))
    .map(([name, before, now]) => `${name} ${before} → ${now}`)
    .join("; "),
});

interface Figure {
  readonly name: string;
  readonly valueOf: (quality: AgentStreaming) => string;
}

const figures: readonly Figure[] = [
  { name: "median to first content", valueOf: ({ firstContentMs }) => formatMs(firstContentMs.p50) },
  { name: "median gap", valueOf: ({ gapMs }) => (gapMs === null ? "–" : formatMs(gapMs.p50)) },
  { name: "gap p99", valueOf: ({ gapMs }) => (gapMs === null ? "–" : formatMs(gapMs.p99)) },
  { name: "longest gap", valueOf: ({ gapMs }) => (gapMs === null ? "–" : formatMs(gapMs.max)) },
  { name: "a second", valueOf: (quality) => formatRate(quality) ?? "–" },
  { name: "at once", valueOf: ({ lumps, streams }) => `${lumps} of ${streams}` },
];

const formatMs = (ms: number): string => `${formatNumber(Math.round(ms))} ms`;
