import { rateLimitInfoOf } from "../../../rules/limits/rate-limit-info.ts";
import { EngineProblem } from "../../engine.ts";
import {
  type LoadEvidence,
  loadEvidenceFormat,
  type LoadSample,
  type StreamSummary,
} from "../../../evidence/load-evidence.ts";
import { roundToMicroseconds } from "../../load-sample.ts";
import { type CollectedSamples, createSampleCollector } from "../../second-counts.ts";
import type { Scenario } from "../../scenarios.ts";
import { type EndLine, readLine, type SampleLine } from "./lines.ts";

interface CollectedLines extends CollectedSamples {
  readonly sent: number;
  readonly late: number;
  /** Time of the first request and of the last response's end, in Unix ms; `null` if nothing was sent. */
  readonly span: { readonly fromMs: number; readonly toMs: number } | null;
  readonly failures: ReadonlyMap<string, number>;
  /** The line with which a k6 script ends its output; `null` if the process ended before it wrote the line. */
  readonly end: EndLine | null;
}

/** A request of a constant-rate flow counts as late if k6 sends it more than this many ms after its planned time. */
const LATE_MS = 100;

export type LineCollector = ReturnType<typeof createLineCollector>;

export function createLineCollector() {
  const samples = createSampleCollector();
  const failures = new Map<string, number>();
  let end: EndLine | null = null;
  let late = 0;
  let fromMs = Infinity;
  let toMs = -Infinity;

  const takeSample = (line: SampleLine): void => {
    samples.sample(sampleOf(line), line.latencyMs);
    if (line.stream !== null) samples.stream(streamOf(line, line.stream));
    if (line.dueMs !== null && line.sentMs - line.dueMs > LATE_MS) late += 1;
    if (line.error !== null) failures.set(line.error, (failures.get(line.error) ?? 0) + 1);
    fromMs = Math.min(fromMs, line.sentMs);
    toMs = Math.max(toMs, line.endMs);
  };
  return {
    counts: samples.counts,
    /** Reads a line of k6's output. Returns false if no script of this package wrote the line. */
    take: (text: string): boolean => {
      const line = readLine(text);
      if (line?.load === "sample") takeSample(line);
      if (line?.load === "end") end = line;
      return line !== null;
    },
    collected: (): CollectedLines => {
      const { sent } = samples.counts;
      return { ...samples.collected(), sent, late, span: sent === 0 ? null : { fromMs, toMs }, failures, end };
    },
  };
}

const sampleOf = (line: SampleLine): LoadSample => ({
  flow: line.flow,
  key: line.key,
  sentMs: roundToMicroseconds(line.sentMs),
  headMs: roundToMicroseconds(line.headMs),
  endMs: line.endMs,
  status: line.status,
  ...rateLimitInfoOf(line),
  ...(line.malformed === undefined ? {} : { malformed: line.malformed }),
  left: line.left,
  tokens: line.tokens,
  flaws: line.flaws,
});

const streamOf = (line: SampleLine, stream: NonNullable<SampleLine["stream"]>): StreamSummary => ({
  flow: line.flow,
  sentMs: roundToMicroseconds(line.sentMs),
  status: line.status,
  firstEventMs: stream.sequence.length === 0 ? null : roundToMicroseconds(line.sentMs + line.latencyMs),
  endMs: line.endMs,
  longestGapMs: null,
  sequence: stream.sequence,
  chunks: stream.chunks,
  indexes: stream.indexes,
  ending: stream.ending,
  totalTokens: line.tokens,
});

interface ProcessFacts extends Pick<
  LoadEvidence,
  "engineVersion" | "tier" | "limits" | "speed" | "isFresh" | "stopped"
> {
  readonly segment: string;
  readonly startedMs: number;
  readonly peakCpu: number | null;
}

export function evidenceOf(scenario: Scenario, collected: CollectedLines, facts: ProcessFacts): LoadEvidence {
  const { span, sent, late, requests, summary, latency, streams } = collected;
  const { segment, startedMs, peakCpu, ...known } = facts;
  const dropped = collected.end?.droppedIterations ?? 0;
  return {
    format: loadEvidenceFormat,
    scenario: scenario.name,
    engine: "k6",
    ...known,
    flows: [...scenario.flows(facts.limits)],
    startedAt: new Date(Math.floor(span?.fromMs ?? startedMs)).toISOString(),
    durationMs: span === null ? 0 : span.toMs - span.fromMs,
    segments: [segment],
    notes: notesOn(collected),
    requests,
    summary,
    // k6 reports no planned number. Estimates it: the requests sent, plus one for each iteration that k6 dropped.
    generator: { planned: sent + dropped, sent, dropped, late, busiest: peakCpu },
    latency,
    streams,
    ledger: null,
    deliveries: null,
    server: null,
  };
}

function notesOn({ streams, requests, failures }: CollectedLines): string[] {
  return [
    "The clock of a k6 script counts whole milliseconds: times of sending and arrival are widened accordingly.",
    "k6 uses all cores of its machine: its busiest share of one core may be above 1.",
    ...(streams.length === 0 ? [] : ["k6 reads a stream as a whole: gaps between events are not known."]),
    ...(requests.some(({ left }) => left)
      ? ["k6 reports no headers of a response from which it disconnected; a stream that had begun was a 200."]
      : []),
    ...[...failures].map(([reason, count]) => `${count} requests had no answer: ${reason}.`),
  ];
}

/** Reads the evidence of one k6 process from its log, e.g. the log of a Kubernetes pod. Skips k6's own messages. */
export function evidenceOfLog(log: string, scenarios: readonly Scenario[], engineVersion: string): LoadEvidence {
  const collector = createLineCollector();
  for (const line of linesIn(log)) collector.take(line);
  const collected = collector.collected();
  const { end } = collected;
  if (end === null)
    throw new EngineProblem(
      'This is not the complete log of one of our k6 scripts: its last line, {"load":"end",…}, is missing.',
    );
  const scenario = scenarios.find(({ name }) => name === end.scenario);
  if (scenario === undefined)
    throw new EngineProblem(`The log is of the scenario "${end.scenario}", which this version does not know.`);
  return evidenceOf(scenario, collected, {
    engineVersion,
    tier: end.tier,
    limits: end.limits,
    speed: end.speed,
    isFresh: false,
    segment: end.segment,
    startedMs: 0,
    peakCpu: null,
    stopped: null,
  });
}

/** Yields a text line by line, without an array of all lines: the log of a long run is large. */
function* linesIn(text: string): Generator<string> {
  let from = 0;
  while (from < text.length) {
    const end = text.indexOf("\n", from);
    const to = end === -1 ? text.length : end;
    yield text.slice(from, text.charAt(to - 1) === "\r" ? to - 1 : to);
    from = to + 1;
  }
}
