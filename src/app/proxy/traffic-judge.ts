import type { Exchange } from "../../evidence/exchange.ts";
import { type Sample, sampleOf } from "../../rules/limits/sample.ts";
import { type Judgement } from "../../run/judge/judge-evidence.ts";
import { reviewRecording } from "../../run/review-recording.ts";
import { completeRecording, recordedSuites } from "../../suites/recorded/recorded-suites.ts";
import type { ForwardedExchange } from "../../wire/forward/forwarded-exchange.ts";
import { judgeTraffic, type JudgeRecordingOptions, leftOutRows, targetOf } from "../recording/judge-recording.ts";
import { keyNamer } from "../recording/keys.ts";
import type { LeftOut } from "../recording/recording.ts";
import { withoutSecretPlaces } from "../recording/remove-secrets.ts";
import type { SavedRun } from "../report-folder/saved-run.ts";
import { followClock } from "./clock-jumps.ts";
import { judgeClientRequests, reportOnClients } from "./judge-clients.ts";
import { keepTraffic } from "./kept-traffic.ts";
import { exchangeOf } from "./proxied-exchange.ts";

/** The reports on the two parties of a proxy. */
export interface ProxyReports {
  readonly server: SavedRun;
  readonly client: SavedRun;
}

/** How to judge the traffic of a proxy. */
export interface TrafficJudgeOptions extends Omit<JudgeRecordingOptions, "file" | "baseUrl"> {
  readonly baseUrl: string;
  /** When the proxy's clock was 0, in Unix milliseconds. */
  readonly startedUnixMs: number;
  /** Called when a clause is broken for the first time, with the check and what was seen. */
  readonly onBreach: (check: string, actual: string) => void;
}

/** Number of exchanges that are judged at once. */
const batchSize = 2000;
/** Maximum number of rate-limit samples that are kept of each key. */
const maxSamples = 20_000;

/**
 * Judges traffic while it goes on: batch by batch, each together with the exchanges that are kept. The report is made of
 * the kept exchanges alone, so that its evidence shows every finding again.
 */
export function startTrafficJudge(options: TrafficJudgeOptions) {
  const { baseUrl, startedUnixMs, onBreach } = options;
  const [namer, kept, clock] = [keyNamer(), keepTraffic(), followClock()];
  // If the server's clock was advanced, times of the proxy say nothing about the server's windows.
  const facts = () => ({ ...completeRecording, times: clock.count() === 0, clock: clock.count() === 0 });
  const leftOut = new Map<LeftOut, number>();
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
      target: targetOf(baseUrl, namer.keys(), { tiers: knownTiers(options.tiers, namer.keys()) }),
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
    const exchange = exchangeOf(forwarded, `x${count}`);
    if (typeof exchange === "string") return void leftOut.set(exchange, (leftOut.get(exchange) ?? 0) + 1);
    const named = withoutSecretPlaces(namer.named(clock.withClock(exchange)));
    batch.push(named);
    if (options.tiers.size === 0 || named.key === null) return;
    const own = samples.get(named.key) ?? [];
    samples.set(named.key, own);
    own.push(sampleOf(named));
    if (own.length > maxSamples) own.splice(0, maxSamples / 2);
  };
  return {
    /** Adds exchanges, and judges them if there are enough. */
    add: async (all: readonly ForwardedExchange[]): Promise<void> => {
      all.forEach(add);
      if (batch.length >= batchSize) await judgeBatch();
    },
    /** Judges the exchanges so far. */
    judge: judgeBatch,
    /** Judges the rest, and makes the report. */
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
        client: reportOnClients(whole, description, options),
      };
    },
  };
}

/** The tiers of keys that have come so far. A key that is named by `--tier` may come later. */
const knownTiers = (
  tiers: ReadonlyMap<string, string>,
  keys: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, string> => new Map([...tiers].filter(([name]) => name === "*" || keys[name] !== undefined));
