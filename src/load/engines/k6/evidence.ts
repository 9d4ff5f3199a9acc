import type { Scenario } from "../../scenarios.ts";
import { EngineProblem } from "../../engine.ts";
import { type LoadEvidence, loadEvidenceFormat } from "../../load-evidence.ts";
import { type CollectedLines, openCollector } from "./collector.ts";

/** What the lines of a process do not tell. */
export interface ProcessFacts {
  readonly engineVersion: string;
  readonly tier: LoadEvidence["tier"];
  readonly limits: LoadEvidence["limits"];
  readonly speed: number;
  readonly isFresh: boolean;
  readonly segment: string;
  /** When the process was started, epoch ms: stands in where nothing was sent. */
  readonly startedMs: number;
  readonly busiest: number | null;
  readonly stopped: string | null;
}

/** The load evidence of one process of k6. */
export function evidenceOf(scenario: Scenario, collected: CollectedLines, facts: ProcessFacts): LoadEvidence {
  const { span, sent } = collected;
  const dropped = collected.end?.droppedIterations ?? 0;
  return {
    format: loadEvidenceFormat,
    scenario: scenario.name,
    engine: "k6",
    engineVersion: facts.engineVersion,
    tier: facts.tier,
    limits: facts.limits,
    flows: [...scenario.flows(facts.limits)],
    isFresh: facts.isFresh,
    startedAt: new Date(Math.floor(span?.fromMs ?? facts.startedMs)).toISOString(),
    durationMs: span === null ? 0 : span.toMs - span.fromMs,
    speed: facts.speed,
    segments: [facts.segment],
    notes: notesOn(collected),
    requests: [...collected.requests],
    summary: collected.summary,
    // How a segment shares a flow is k6's own matter: what it started, and what it could not, is what it was to send.
    generator: { planned: sent + dropped, sent, dropped, late: collected.late, busiest: facts.busiest },
    latency: collected.latency,
    streams: [...collected.streams],
    ledger: null,
    deliveries: null,
    server: null,
    stopped: facts.stopped,
  };
}

function notesOn({ streams, requests, failures }: CollectedLines): string[] {
  return [
    "The clock of a k6 script counts whole milliseconds: sending and arrival are widened to what is sure.",
    "k6 uses all cores of its machine: its busiest share of one core may be above 1.",
    ...(streams.length === 0 ? [] : ["k6 reads a stream as a whole: gaps between events are not known."]),
    ...(requests.some(({ left }) => left)
      ? ["k6 tells no headers of an answer that it left; a stream that had begun was a 200."]
      : []),
    ...[...failures].map(([reason, count]) => `${count} requests had no answer: ${reason}.`),
  ];
}

/**
 * The evidence of one process, from what it wrote: the log of a pod, say, with words of k6 itself and of others between the lines.
 *
 * @throws {EngineProblem} where the log has no last line, or is of a scenario that this version does not know
 */
export function evidenceOfLog(log: string, scenarios: readonly Scenario[], engineVersion: string): LoadEvidence {
  const collector = openCollector();
  for (const line of linesIn(log)) collector.take(line);
  const collected = collector.collected();
  const { end } = collected;
  if (end === null)
    throw new EngineProblem(
      'This is no log of a k6 script of ours that came to its end: its last line, {"load":"end",…}, is missing.',
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
    busiest: null,
    stopped: null,
  });
}

/** One after another: those of a long run are not all held at once. */
function* linesIn(text: string): Generator<string> {
  let from = 0;
  while (from < text.length) {
    const end = text.indexOf("\n", from);
    const to = end === -1 ? text.length : end;
    yield text.slice(from, text.charAt(to - 1) === "\r" ? to - 1 : to);
    from = to + 1;
  }
}
