import { basename } from "node:path";

import { startProxy as startJudgingProxy } from "../app/proxy/run-proxy.ts";
import { judgeRecording as judgeRecordedTraffic } from "../app/recording/judge-recording.ts";
import { readRecordedFile } from "../app/recording/read-recording.ts";
import { parseRequirements } from "../app/requirements.ts";
import { line, UsageError } from "../base/line.ts";
import { once } from "../base/memoize.ts";
import type { RequirementSet } from "../spec/clause.ts";
import { type PublishedTier, publishedTierNames } from "../spec/tiers.ts";
import { readBaseUrl } from "../target/base-url.ts";
import { readNetwork } from "../target/network-settings.ts";
import { type Judged, toJudged } from "./judge.ts";
import { libraryMessages } from "./scope.ts";

/** Options of {@link judgeRecording} and {@link startProxy}. Every option has a default. */
export interface TrafficOptions {
  /** Tier of each key, by the key's name in the report, such as `key-1`; `*` for all other keys. Default: unknown. */
  readonly tiers?: Readonly<Record<string, PublishedTier>>;
  /** Whether the evidence keeps the bodies of requests and responses. Default: `true`. */
  readonly bodies?: boolean;
  /** The requirement set to judge by. Default: the newest set. */
  readonly requirements?: RequirementSet;
}

/** Options of {@link judgeRecording}. */
export interface RecordingOptions extends TrafficOptions {
  /** Base URL of the server to judge. Default: the server whose exchanges match the interface best. */
  readonly baseUrl?: string;
}

/**
 * Judges recorded traffic, as `conformance judge` does.
 * @param file a HAR, JSON lines of exchanges, or `evidence.json`
 * @throws {UsageProblem} if the file cannot be read, has no exchange with the server, or an option is invalid
 */
export async function judgeRecording(file: string, options: RecordingOptions = {}): Promise<Judged> {
  const { baseUrl, ...others } = options;
  const read = readRecordedFile(file);
  if (read.kind === "load") throw new UsageError(line`${file} is evidence of load, and no recorded traffic.`);
  return toJudged(
    await judgeRecordedTraffic(read.recording, {
      ...toTrafficParameters(others),
      file: basename(file),
      baseUrl: baseUrl === undefined ? null : readBaseUrl(baseUrl),
      messages: libraryMessages,
    }),
  );
}

/** Options of {@link startProxy}. */
export interface ProxyOptions extends TrafficOptions {
  /** Address to listen on. Default: `127.0.0.1`. */
  readonly host?: string;
  /** Port to listen on. Default: 0, which takes any free port. */
  readonly port?: number;
  /** Called when a check first finds its clause broken, with the check's id and the observed behaviour. */
  readonly onBreach?: (check: string, actual: string) => void;
}

/** A proxy between clients and a server. It judges the server's responses and the clients' requests. */
export interface Proxy extends AsyncDisposable {
  /** Base URL of the proxy, which clients must use instead of the server's base URL. */
  readonly baseUrl: string;
  /** Returns the number of exchanges that the proxy has forwarded so far. */
  count(): number;
  /** Ends the proxy, and returns the reports on the server and on its clients. */
  finish(): Promise<{ readonly server: Judged; readonly client: Judged }>;
}

/** Starts a proxy that forwards all requests to a server and judges the traffic, as `conformance proxy` does. */
export async function startProxy(upstream: string, options: ProxyOptions = {}): Promise<Proxy> {
  const { host = "127.0.0.1", port = 0, onBreach, ...others } = options;
  const proxy = await startJudgingProxy({
    ...toTrafficParameters(others),
    baseUrl: readBaseUrl(upstream),
    network: readNetwork({}, { nameOf: (part) => `network.${part}`, folder: "." }, process.env),
    host,
    port,
    tls: null,
    onBreach: (check, actual) => onBreach?.(check, actual),
  });
  const finish = once(async () => {
    const { server, client } = await proxy.finish();
    return { server: toJudged(server), client: toJudged(client) };
  });
  return {
    baseUrl: proxy.baseUrl,
    count: proxy.count,
    finish,
    [Symbol.asyncDispose]: async () => void (await finish()),
  };
}

function toTrafficParameters({ tiers = {}, bodies = true, requirements }: TrafficOptions) {
  const unknown = Object.entries(tiers).find(([, tier]) => !publishedTierNames.includes(tier));
  if (unknown !== undefined)
    throw new UsageError(line`tiers.${unknown[0]} is ${unknown[1]}; give ${publishedTierNames.join(", ")}.`);
  return {
    tiers: new Map<string, string>(Object.entries(tiers)),
    keepsBodies: bodies,
    requirements: parseRequirements(requirements, "requirements"),
    tierName: "tiers",
  };
}
