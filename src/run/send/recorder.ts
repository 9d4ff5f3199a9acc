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
  /** Samples by key, for each period before an outage. */
  const earlier: ReadonlyMap<string, Sample[]>[] = [];
  /** When the target came back after each outage. */
  const outagesMs: number[] = [];
  let isAway = false;
  let [sent, executions, lost] = [0, 0, 0];

  /**
   * Records only the rate-limit sample of an exchange. Some probes send thousands of requests, whose whole exchanges
   * would need too much memory.
   */
  const recordSample = (key: string | null, sample: Sample): void => {
    sent += 1;
    if (isAgentCall(sample) && agentHasRun(sample)) executions += 1;
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
      if (!isAgentCall(sample) && agentHasRun(sample)) executions += queriesOf(exchange);
      recordSample(exchange.key, sample);
    },
    /** All exchanges, including those during an outage, which say nothing about the target. */
    recorded: (): readonly Exchange[] => exchanges,
    /** All exchanges that were not part of an outage. */
    allExchanges: (): readonly Exchange[] => exchanges.filter(isWithTarget),
    /**
     * The exchanges since the last outage. A server that was restarted may have forgotten what earlier requests
     * created.
     */
    exchanges: (): readonly Exchange[] => {
      const sinceMs = outagesMs.at(-1);
      return sinceMs === undefined && !isAway
        ? exchanges
        : exchanges.filter((each) => isWithTarget(each) && each.sentMs >= (sinceMs ?? 0));
    },
    /**
     * Rate-limit samples of a key since the last outage, in the order of the responses. A server that was restarted may
     * have forgotten earlier requests.
     */
    samplesOf: (key: string): readonly Sample[] => [...(samples.get(key) ?? [])],
    /** Rate-limit samples of a key, as one list for each period between outages. */
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
     * Number of agent executions so far: admitted invokes and streams, and the queries of batches and operations.
     * Executions that failed count as well.
     */
    executions: (): number => executions,
    /** Counts a request that is sent again because its connection broke. */
    countLost: (): void => void (lost += 1),
    lost: (): number => lost,
  };
}

const isWithTarget = (exchange: Exchange): boolean => !isLostWithTarget(exchange);

/** Whether an agent ran. A 5xx counts, because an agent that fails has run. */
const agentHasRun = ({ status }: Sample): boolean => status !== null && (is2xx(status) || status >= 500);

const queriesOf = ({ request: { body } }: Exchange): number => (body.kind === "text" ? queriesIn(body.text) : 0);

/** Number of queries in the body of a batch, or of a request that starts an operation. */
export function queriesIn(text: string): number {
  const body = tryParseJson(text);
  if (getPath(body, "query") !== undefined) return 1;
  const batch = getPath(body, "batch");
  return Array.isArray(batch) ? batch.length : 0;
}
