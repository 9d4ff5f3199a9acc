import { is2xx } from "../../base/http-status.ts";
import { tryParseJson, getPath } from "../../base/json.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { isLostWithTarget } from "./retry.ts";
import { isAgentCall, type Sample } from "../../rules/limits/sample.ts";

export type Recorder = ReturnType<typeof startRecorder>;

/** Records everything that a run sends and receives. */
export function startRecorder() {
  const exchanges: Exchange[] = [];
  const samples = new Map<string, Sample[]>();
  /** Samples by key, for each period that ended with an outage. */
  const earlier: ReadonlyMap<string, Sample[]>[] = [];
  /** When the target came back after each outage. */
  const outagesMs: number[] = [];
  let isAway = false;
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
      if (isLostWithTarget(exchange)) {
        isAway = true;
        sent += 1;
        return;
      }
      if (!isAgentCall(sample) && hasRun(sample)) executions += queriesIn(exchange);
      recordSample(exchange.key, sample);
    },
    /** All exchanges, also those that say nothing about the target because it was away. */
    recorded: (): readonly Exchange[] => exchanges,
    /** All exchanges with the target. */
    allExchanges: (): readonly Exchange[] => exchanges.filter(isWithTarget),
    /**
     * The exchanges with the target since it was last away. A server that was restarted may have forgotten what earlier
     * requests created.
     */
    exchanges: (): readonly Exchange[] => {
      const sinceMs = outagesMs.at(-1);
      return sinceMs === undefined && !isAway
        ? exchanges
        : exchanges.filter((each) => isWithTarget(each) && each.sentMs >= (sinceMs ?? 0));
    },
    /**
     * Rate-limit samples of a key in the order of the responses, since the start of the run or the last return of the
     * target: a restarted server may have forgotten earlier requests.
     */
    samplesOf: (key: string): readonly Sample[] => [...(samples.get(key) ?? [])],
    /** Rate-limit samples of a key, apart for each time between two outages. */
    sampleSeriesOf: (key: string): (readonly Sample[])[] =>
      [...earlier, samples].map((each) => [...(each.get(key) ?? [])]),
    /** Begins a new series of samples after an outage. */
    countOutage: (returnedMs: number): void => {
      outagesMs.push(returnedMs);
      earlier.push(new Map(samples));
      samples.clear();
    },
    /** Number of requests sent so far. */
    sent: (): number => sent,
    /**
     * Number of agent executions so far: admitted invokes, streams, operations and queries of batches, failed or not.
     */
    executions: (): number => executions,
    /** Counts a request that is repeated because its connection broke. */
    countLost: (): void => void (lost += 1),
    lost: (): number => lost,
  };
}

const isWithTarget = (exchange: Exchange): boolean => !isLostWithTarget(exchange);

/** Whether an agent ran. A 5xx counts, because an agent that fails has run. */
const hasRun = ({ status }: Sample): boolean => status !== null && (is2xx(status) || status >= 500);

/** Number of queries in a batch or in the start of an operation. */
function queriesIn({ request: { body } }: Exchange): number {
  if (body.kind !== "text") return 0;
  if (body.text.startsWith('{"query":')) return 1;
  if (!body.text.startsWith('{"batch":')) return 0;
  const batch = getPath(tryParseJson(body.text), "batch");
  return Array.isArray(batch) ? batch.length : 0;
}
