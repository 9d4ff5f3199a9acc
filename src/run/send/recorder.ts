import { is2xx } from "../../base/http-status.ts";
import { tryParseJson, getPath } from "../../base/json.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { isAgentCall, type Sample } from "../../rules/limits/sample.ts";

/** Records everything that a run sends and receives. */
export interface Recorder {
  readonly record: (exchange: Exchange, sample: Sample) => void;
  /** Records a rate-limit sample without its exchange, for traffic by the thousand. */
  readonly recordSample: (key: string | null, sample: Sample) => void;
  readonly exchanges: () => readonly Exchange[];
  /** Rate-limit samples of a key since the start of the run, in the order of the responses. */
  readonly samplesOf: (key: string) => readonly Sample[];
  /** Number of requests sent so far. */
  readonly sent: () => number;
  /**
   * Number of agent executions so far: admitted invokes, streams and operations, failed ones too, and each query of a
   * batch.
   */
  readonly executions: () => number;
  /** Counts a request that is sent again because its connection broke. */
  readonly countLost: () => void;
  /** Number of those requests so far. */
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

/** Whether an agent ran. A 5xx counts, because a failing agent has run too. */
const hasRun = ({ status }: Sample): boolean => status !== null && (is2xx(status) || status >= 500);

/** Number of queries in a batch or in the start of an operation. */
function queriesIn({ request: { body } }: Exchange): number {
  if (body.kind !== "text") return 0;
  if (body.text.startsWith('{"query":')) return 1;
  if (!body.text.startsWith('{"batch":')) return 0;
  const batch = getPath(tryParseJson(body.text), "batch");
  return Array.isArray(batch) ? batch.length : 0;
}
