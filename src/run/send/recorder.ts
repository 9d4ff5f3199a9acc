import { is2xx } from "../../base/http-status.ts";
import { tryParseJson, getPath } from "../../base/json.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { isAgentCall, type Sample } from "../../rules/limits/sample.ts";

/** Everything that a run has sent and seen. */
export interface Recorder {
  readonly record: (exchange: Exchange, sample: Sample) => void;
  /** Keeps what a limiter showed, and not the exchange itself: for traffic by the thousand. */
  readonly recordSample: (key: string | null, sample: Sample) => void;
  readonly exchanges: () => readonly Exchange[];
  /** What the limiter of a key showed since the start of the run, in the order of the answers. */
  readonly samplesOf: (key: string) => readonly Sample[];
  /** Requests sent so far. */
  readonly sent: () => number;
  /** How often an agent was really run so far: invokes, streams and operations that were let in, failures among them, and what a batch holds. */
  readonly executions: () => number;
  /** To be told of a request that the network lost and that is sent again. */
  readonly countLost: () => void;
  /** How many those were so far. */
  readonly lost: () => number;
}

export function startRecorder(): Recorder {
  const exchanges: Exchange[] = [];
  const samples = new Map<string, Sample[]>();
  let sent = 0;
  let executions = 0;
  let lost = 0;
  const recordSample = (key: string | null, sample: Sample): void => {
    sent += 1;
    if (isAgentCall(sample) && hasRun(sample)) executions += 1;
    if (key === null) return;
    const known = samples.get(key);
    if (known === undefined) samples.set(key, [sample]);
    else known.push(sample);
  };
  return {
    record: (exchange, sample) => {
      exchanges.push(exchange);
      if (!isAgentCall(sample) && hasRun(sample)) executions += queriesIn(exchange);
      recordSample(exchange.key, sample);
    },
    recordSample,
    exchanges: () => exchanges,
    samplesOf: (key) => [...(samples.get(key) ?? [])],
    sent: () => sent,
    executions: () => executions,
    countLost: () => void (lost += 1),
    lost: () => lost,
  };
}

/** An agent that fails has run, too. */
const hasRun = ({ status }: Sample): boolean => status !== null && (is2xx(status) || status >= 500);

/** How many queries a request holds that goes to no endpoint of an agent: a batch's, or the one of an operation's start. */
function queriesIn({ request: { body } }: Exchange): number {
  if (body.kind !== "text") return 0;
  if (body.text.startsWith('{"query":')) return 1;
  if (!body.text.startsWith('{"batch":')) return 0;
  const batch = getPath(tryParseJson(body.text), "batch");
  return Array.isArray(batch) ? batch.length : 0;
}
