import { is2xx } from "../../base/http-status.ts";
import { tryParseJson, getPath } from "../../base/json.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { isAgentCall, type Sample } from "../../rules/limits/sample.ts";

export type Recorder = ReturnType<typeof startRecorder>;

/** Records everything that a run sends and receives. */
export function startRecorder() {
  const exchanges: Exchange[] = [];
  const samples = new Map<string, Sample[]>();
  let [sent, executions, lost] = [0, 0, 0];

  /** Records a rate-limit sample without its exchange, for traffic by the thousand. */
  const recordSample = (key: string | null, sample: Sample): void => {
    sent += 1;
    if (isAgentCall(sample) && hasRun(sample)) executions += 1;
    if (key === null) return;
    const known = samples.get(key);
    if (known === undefined) samples.set(key, [sample]);
    else known.push(sample);
  };

  return {
    recordSample,
    record: (exchange: Exchange, sample: Sample): void => {
      exchanges.push(exchange);
      if (!isAgentCall(sample) && hasRun(sample)) executions += queriesIn(exchange);
      recordSample(exchange.key, sample);
    },
    exchanges: (): readonly Exchange[] => exchanges,
    /** Rate-limit samples of a key since the start of the run, in the order of the responses. */
    samplesOf: (key: string): readonly Sample[] => [...(samples.get(key) ?? [])],
    /** Number of requests sent so far. */
    sent: (): number => sent,
    /** Number of agent executions so far: admitted invokes, streams, operations and queries of batches, failed or not. */
    executions: (): number => executions,
    /** Counts a request that is sent again because its connection broke. */
    countLost: (): void => void (lost += 1),
    lost: (): number => lost,
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
