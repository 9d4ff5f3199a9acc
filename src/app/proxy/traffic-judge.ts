import { bodyJson, type Exchange, headerValues } from "../../evidence/exchange.ts";
import { type Sample, sampleOf } from "../../rules/limits/sample.ts";
import { judgeEvidence, type Judgement, resultsByProbe } from "../../run/judge/judge-evidence.ts";
import { type RecordedTraffic, reviewRecording } from "../../run/review-recording.ts";
import {
  clientTrafficResult,
  fullRecordingContents,
  recordedClientSuites,
  recordedSuites,
} from "../../suites/recorded/recorded-suites.ts";
import type { ForwardedExchange } from "../../wire/forward/forwarded-exchange.ts";
import {
  type JudgeRecordingOptions,
  judgeTraffic,
  leftOutRows,
  recordedTarget,
  type RecordingDescription,
  reportOnRecording,
} from "../recording/judge-recording.ts";
import { createKeyNamer, redactKnownSecretFields } from "../recording/key-names.ts";
import type { LeftOutReason } from "../recording/recording.ts";
import type { SavedRun } from "../report-folder/saved-report.ts";
import { toExchange, trackClockAdvances } from "./proxied-exchange.ts";
import { planProbes, type ProbeRun } from "../../run/plan/plan.ts";
import { newestRequirementsOfAnyParty } from "../../spec/clause.ts";
import { getPath, isObject } from "../../base/json.ts";
import { endpointsAtPath } from "../../spec/endpoints.ts";
import { rateLimitHeaders } from "../../spec/headers.ts";

const maxKeptPerKind = 3;
const maxKeptPerBreach = 5;
/** Once the store holds this many exchanges or `maxKeptBytes`, it adds only proofs of `breach` and `noted` findings. */
const maxKeptExchanges = 1500;
const maxKeptBytes = 64 * 1024 * 1024;

/** Creates a store of exchanges. It keeps a few of each kind, and a few that prove a `breach` or `noted` finding. */
function createExchangeStore() {
  const kept = new Map<string, Exchange>();
  const kinds = new Map<string, number>();
  const proofCounts = new Map<string, number>();
  let bytes = 0;

  const keep = (exchange: Exchange): void => {
    if (kept.has(exchange.id)) return;
    kept.set(exchange.id, exchange);
    bytes += approximateBytes(exchange);
  };
  return {
    offer: (exchange: Exchange): void => {
      const kind = kindOf(exchange);
      const count = kinds.get(kind) ?? 0;
      if (count >= maxKeptPerKind || kept.size >= maxKeptExchanges || bytes >= maxKeptBytes) return;
      kinds.set(kind, count + 1);
      keep(exchange);
    },
    keepProof: (check: string, proofs: readonly Exchange[]): void => {
      const count = proofCounts.get(check) ?? 0;
      if (count >= maxKeptPerBreach) return;
      proofCounts.set(check, count + proofs.length);
      proofs.forEach(keep);
    },
    has: (id: string): boolean => kept.has(id),
    all: (): Exchange[] => [...kept.values()],
  };
}

function approximateBytes({ request, answer }: Exchange): number {
  const received = answer.kind === "answered" && answer.body.kind !== "none" ? answer.body.bytes : 0;
  return 2048 + received * 2 + (request.body.kind === "none" ? 0 : request.body.bytes);
}

function kindOf(exchange: Exchange): string {
  const { request, answer, key } = exchange;
  if (answer.kind !== "answered") return "unanswered";
  const { endpoint } = endpointsAtPath(request.url)[0] ?? { endpoint: "other" };
  const body = bodyJson(exchange);
  const names = answer.events.map(({ name }) => name).filter((name, at, all) => name !== all[at - 1]);
  const headers = rateLimitHeaders.map((name) => headerValues(exchange, name).length);
  return JSON.stringify([
    request.method,
    endpoint,
    answer.status,
    key,
    answer.ending.kind,
    headerValues(exchange, "Content-Type"),
    isObject(body) ? Object.keys(body).toSorted() : typeof body,
    getPath(body, "error", "code") ?? null,
    getPath(body, "status") ?? null,
    names.slice(0, 20),
    headers,
  ]);
}

export interface ProxyReports {
  readonly server: SavedRun;
  readonly client: SavedRun;
}

export interface TrafficJudgeOptions extends Omit<JudgeRecordingOptions, "file" | "baseUrl" | "tierName"> {
  /** Base URL of the server. Requests to other paths of its host are forwarded, but not judged. */
  readonly baseUrl: string;
  /** Start of the proxy, in Unix milliseconds. The times of exchanges are relative to this start. */
  readonly startedUnixMs: number;
  readonly onBreach: (check: string, actual: string) => void;
}

/** Maximum number of keys that get a name. All further keys share the name `hidden key`. */
const maxNamedKeys = 5000;
const minBatchSize = 2000;
/** Maximum number of rate-limit samples that are kept for a key. When a key exceeds it, the older half is dropped. */
const maxSamplesPerKey = 20_000;

/**
 * Judges traffic in batches, and keeps some exchanges as evidence. The final reports judge only the kept exchanges. The
 * server's report adds the breaches that were found in earlier batches.
 */
export function startTrafficJudge(options: TrafficJudgeOptions) {
  const { baseUrl, startedUnixMs, onBreach } = options;
  const [namer, kept, clock] = [createKeyNamer(null, maxNamedKeys), createExchangeStore(), trackClockAdvances()];
  // After an advance of the server's test clock, checks cannot compare times with rate-limit windows.
  const facts = () => ({ ...fullRecordingContents, times: clock.count() === 0, clock: clock.count() === 0 });
  const leftOut = new Map<LeftOutReason, number>();
  const samples = new Map<string, Sample[]>();
  const broken = new Map<string, Judgement>();
  let batch: Exchange[] = [];
  let [count, judged, endMs] = [0, 0, 0];

  const traffic = (exchanges: readonly Exchange[]) => {
    const ids = new Set(exchanges.map(({ id }) => id));
    const others = [...samples].flatMap(([key, all]) =>
      all.flatMap((sample) => (ids.has(sample.id) ? [] : [{ key, sample }])),
    );
    return {
      target: recordedTarget(baseUrl, namer.keys(), { tiers: tiersOfKnownKeys(options.tiers, namer.keys()) }),
      exchanges,
      samples: others,
      startedUnixMs,
      durationMs: endMs,
      stopped: null,
    };
  };
  const judgeBatch = async (): Promise<void> => {
    const now = batch;
    batch = [];
    if (now.length === 0) return;
    judged += now.length;
    now.forEach(kept.offer);
    const fresh = now.filter(({ id }) => !kept.has(id));
    const current = traffic([...kept.all(), ...fresh]);
    const byId = new Map(current.exchanges.map((each) => [each.id, each]));
    const { judgements } = await reviewRecording(current, recordedSuites(facts()));
    for (const each of [...judgements, ...judgeClientRequests(current)]) {
      const { check, finding } = each;
      if (finding.kind !== "breach" && finding.kind !== "noted") continue;
      const proofs = each.evidenceIds.length > 0 ? each.evidenceIds : finding.at.map(({ id }) => id);
      kept.keepProof(
        check.id,
        proofs.flatMap((id) => byId.get(id) ?? []),
      );
      if (finding.kind !== "breach" || broken.has(check.id)) continue;
      broken.set(check.id, each);
      onBreach(check.id, finding.actual);
    }
  };
  const add = (forwarded: ForwardedExchange): void => {
    count += 1;
    endMs = Math.max(endMs, forwarded.endMs);
    const exchange = toExchange(forwarded, `x${count}`);
    if (typeof exchange === "string") return void leftOut.set(exchange, (leftOut.get(exchange) ?? 0) + 1);
    const named = redactKnownSecretFields(namer.named(clock.withClock(exchange)));
    batch.push(named);
    if (options.tiers.size === 0 || named.key === null) return;
    const own = samples.get(named.key) ?? [];
    samples.set(named.key, own);
    own.push(sampleOf(named));
    if (own.length > maxSamplesPerKey) own.splice(0, maxSamplesPerKey / 2);
  };
  return {
    add: async (all: readonly ForwardedExchange[]): Promise<void> => {
      all.forEach(add);
      if (batch.length >= minBatchSize) await judgeBatch();
    },
    judge: judgeBatch,
    /**
     * Judges the waiting exchanges, and returns the reports. `skipped`: number of exchanges that arrived too fast to be
     * judged.
     */
    finish: async (skipped: number): Promise<ProxyReports> => {
      await judgeBatch();
      const gaps = [
        { what: "exchanges that came faster than they could be judged", count: skipped },
        { what: "advances of the server's clock, so that nothing about times was judged", count: clock.count() },
      ].filter((gap) => gap.count > 0);
      const all = kept.all();
      const description = {
        file: "proxy",
        format: "traffic through a proxy of this harness",
        leftOut: leftOutRows(leftOut),
        gaps,
        facts: facts(),
        counted: judged - all.length,
        broken,
      };
      const whole = traffic(all);
      return {
        server: await judgeTraffic(whole, description, options),
        client: await reportOnClients(whole, description, options),
      };
    },
  };
}

const tiersOfKnownKeys = (
  tiers: ReadonlyMap<string, string>,
  keys: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, string> => new Map([...tiers].filter(([name]) => name === "*" || keys[name] !== undefined));

function clientProbeRuns({ target, exchanges, startedUnixMs }: RecordedTraffic): ProbeRun[] {
  return planProbes(recordedClientSuites, target).map((planned) => ({
    planned,
    result: clientTrafficResult(planned.probe, exchanges, startedUnixMs),
  }));
}

const judgeClientRequests = (traffic: RecordedTraffic): Judgement[] =>
  judgeEvidence(recordedClientSuites, resultsByProbe(clientProbeRuns(traffic)));

async function reportOnClients(
  given: RecordedTraffic,
  description: RecordingDescription,
  { messages, keepsBodies }: Pick<TrafficJudgeOptions, "messages" | "keepsBodies">,
): Promise<SavedRun> {
  const target = { ...given.target, name: `clients of ${given.target.name}` };
  const traffic = { ...given, target, samples: [] };
  const result = {
    ...(await reviewRecording(traffic, [])),
    runs: clientProbeRuns(traffic),
    judgements: judgeClientRequests(traffic),
  };
  const options = { party: "client", requirements: newestRequirementsOfAnyParty, messages, keepsBodies } as const;
  return reportOnRecording(result, traffic, description, options);
}
