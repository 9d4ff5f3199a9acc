import { is2xx } from "../../base/http.ts";
import { tryParseJson, getPath } from "../../base/json.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { isLostWithTarget } from "./retry.ts";
import { isAgentCall, type Sample } from "../../rules/limits/sample.ts";
import { getOrAdd } from "../../base/memoize.ts";

export type Recorder = ReturnType<typeof startRecorder>;

export function startRecorder() {
  const exchanges: Exchange[] = [];
  const samples = new Map<string, Sample[]>();
  /** Samples before the last outage, by key name: one map for each period between two outages. */
  const earlier: ReadonlyMap<string, Sample[]>[] = [];
  const outagesMs: number[] = [];
  let isAway = false;
  let [sent, executions, lost] = [0, 0, 0];

  const countSent = (sample: Sample): void => {
    sent += 1;
    if (isAgentCall(sample) && mayHaveRunAgent(sample)) executions += 1;
  };
  const recordSample = (key: string | null, sample: Sample): void => {
    countSent(sample);
    if (key !== null) getOrAdd(samples, key, () => []).push(sample);
  };

  return {
    recordSample,
    record: (exchange: Exchange, sample: Sample): void => {
      exchanges.push(exchange);
      if (!isAgentCall(sample) && mayHaveRunAgent(sample)) executions += queriesOf(exchange);
      if (!isLostWithTarget(exchange)) return recordSample(exchange.key, sample);
      isAway = true;
      countSent(sample);
    },
    /** Returns all exchanges, including those during an outage of the target. */
    everyExchange: (): readonly Exchange[] => exchanges,
    /** Returns all exchanges that were not part of an outage. */
    exchangesOutsideOutages: (): readonly Exchange[] => exchanges.filter(isWithTarget),
    /** Returns the exchanges since the last outage: a restarted server may have forgotten earlier requests. */
    exchangesSinceOutage: (): readonly Exchange[] => {
      const sinceMs = outagesMs.at(-1);
      return sinceMs === undefined && !isAway
        ? exchanges
        : exchanges.filter((each) => isWithTarget(each) && each.sentMs >= (sinceMs ?? 0));
    },
    /** Returns a key's samples since the last outage: a restarted server may count from zero again. */
    samplesOf: (key: string): readonly Sample[] => [...(samples.get(key) ?? [])],
    sampleSeriesOf: (key: string): (readonly Sample[])[] =>
      [...earlier, samples].map((each) => [...(each.get(key) ?? [])]),
    /** Call this when the target is back after an outage. The recorder then starts a new series of samples. */
    countOutage: (returnedMs: number): void => {
      outagesMs.push(returnedMs);
      earlier.push(new Map(samples));
      samples.clear();
    },
    sent: (): number => sent,
    /**
     * Returns the largest possible number of agent executions so far. Each query of a batch counts, and each request
     * that may have run an agent, also during an outage. The report and `maxExecutions` use this count.
     */
    executions: (): number => executions,
    countLost: (): void => void (lost += 1),
    lost: (): number => lost,
  };
}

const isWithTarget = (exchange: Exchange): boolean => !isLostWithTarget(exchange);

/**
 * Whether an agent may have run. A request without a response and a 5xx count as executions, because the agent may have
 * run before the failure.
 */
const mayHaveRunAgent = ({ status }: Sample): boolean => status === null || is2xx(status) || status >= 500;

const queriesOf = ({ request: { body } }: Exchange): number => (body.kind === "text" ? queriesIn(body.text) : 0);

/** Counts the queries in a request body: 1 for a `query`, the length of a `batch`, otherwise 0. */
export function queriesIn(text: string): number {
  const body = tryParseJson(text);
  if (getPath(body, "query") !== undefined) return 1;
  const batch = getPath(body, "batch");
  return Array.isArray(batch) ? batch.length : 0;
}
