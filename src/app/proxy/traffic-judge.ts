import type { Exchange } from "../../evidence/exchange.ts";
import { type Sample, sampleOf } from "../../rules/limits/sample.ts";
import { type Judgement, judgeEvidence, resultsByProbe } from "../../run/judge/judge-evidence.ts";
import { reviewRecording, type RecordedTraffic } from "../../run/review-recording.ts";
import {
  completeRecording,
  recordedSuites,
  clientTrafficResult,
  recordedClientSuites,
} from "../../suites/recorded/recorded-suites.ts";
import type { ForwardedExchange } from "../../wire/forward/forwarded-exchange.ts";
import {
  judgeTraffic,
  type JudgeRecordingOptions,
  leftOutRows,
  recordedTarget,
  type RecordingDescription,
  reportOnRecording,
} from "../recording/judge-recording.ts";
import { createKeyNamer, withoutUsualSecrets } from "../recording/key-names.ts";
import type { LeftOutReason } from "../recording/recording.ts";
import type { SavedRun } from "../report-folder/saved-run.ts";
import { trackClockAdvances } from "./clock-jumps.ts";
import { createExchangeStore } from "./exchange-store.ts";
import { toExchange } from "./proxied-exchange.ts";
import { planProbes, type ProbeRun } from "../../run/plan/plan.ts";
import { latestRequirements } from "../../spec/requirements.ts";

export interface ProxyReports {
  readonly server: SavedRun;
  readonly client: SavedRun;
}

export interface TrafficJudgeOptions extends Omit<JudgeRecordingOptions, "file" | "baseUrl"> {
  readonly baseUrl: string;
  /** When the proxy started, in Unix milliseconds. Times of exchanges are relative to it. */
  readonly startedUnixMs: number;
  readonly onBreach: (check: string, actual: string) => void;
}

/** Maximum number of keys that get a name. All further keys share the name `hidden key`. */
const maxNamedKeys = 5000;
const minBatchSize = 2000;
/** Maximum number of rate-limit samples of a key. When it is reached, the older half is dropped. */
const maxSamplesPerKey = 20_000;

/**
 * Judges traffic in batches, and keeps some exchanges as evidence. The final reports judge the kept exchanges; the
 * server's report adds breaches of earlier batches.
 */
export function startTrafficJudge(options: TrafficJudgeOptions) {
  const { baseUrl, startedUnixMs, onBreach } = options;
  const [namer, kept, clock] = [createKeyNamer(null, maxNamedKeys), createExchangeStore(), trackClockAdvances()];
  // After an advance of the server's test clock, checks cannot compare times with rate-limit windows.
  const facts = () => ({ ...completeRecording, times: clock.count() === 0, clock: clock.count() === 0 });
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
      const proofs = each.exchanges.length > 0 ? each.exchanges : finding.at.map(({ id }) => id);
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
    const named = withoutUsualSecrets(namer.named(clock.withClock(exchange)));
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
     * Judges the waiting exchanges, and returns the reports. `skipped` counts exchanges that arrived too fast to be
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
  const options = { party: "client", requirements: latestRequirements, messages, keepsBodies } as const;
  return reportOnRecording(result, traffic, description, options);
}
