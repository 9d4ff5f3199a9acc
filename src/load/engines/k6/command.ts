import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates } from "node:tls";

import type { Operation } from "../../scenarios.ts";
import { agentVariables, keyVariables } from "./variables.ts";
import { type Network, proxyFor } from "../../../base/network/network.ts";
import { type EngineOptions, EngineProblem } from "../../engine.ts";
import { packageRoot } from "../../../base/package-root.ts";

/** The command of one k6 process. API keys are only in `env`, because every user can read a process's arguments. */
export interface K6Command {
  /** The segment of the load that this process sends; `0:1` is the whole load. */
  readonly segment: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export const scriptOf = (scenario: string, root: string = packageRoot()): string => join(root, "k6", `${scenario}.ts`);

/** Returns one k6 command per segment. Several k6 processes start to send together, at `startAtMs` (Unix ms). */
export function commandsOf(
  script: string,
  options: EngineOptions,
  startAtMs: number,
  caFile: string | null,
): K6Command[] {
  const { parts: segments, sequence } = segmentsOf(options.segments);
  const isAlone = segments.length === 1;
  return segments.map((segment, at) => ({
    segment,
    args: [...runArguments, ...(isAlone ? [] : segmentArguments(segment, sequence)), script],
    env: {
      ...inheritedEnvironment(process.env),
      ...scriptEnvironment(options),
      ...networkEnvironment(options),
      ...(caFile === null ? {} : { SSL_CERT_FILE: caFile }),
      ...(isAlone ? {} : { START_AT: String(startAtMs) }),
      // Only the first process writes k6's HTML report, because the others would overwrite it.
      ...(at === 0 && options.dashboardFile !== null ? dashboardEnvironment(options.dashboardFile) : {}),
    },
  }));
}

/**
 * Arguments of `k6 run`: no usage report, no thresholds, no progress display. Each `console.log` of a script becomes
 * one plain line on stderr.
 */
const runArguments = [
  "run",
  "--quiet",
  "--no-color",
  "--no-usage-report",
  "--no-thresholds",
  "--log-output",
  "stderr",
  "--log-format",
  "raw",
];

const segmentArguments = (segment: string, sequence: string) => [
  "--execution-segment",
  segment,
  "--execution-segment-sequence",
  sequence,
];

function scriptEnvironment(options: EngineOptions): Record<string, string> {
  if (options.keys.main === null) throw new EngineProblem("k6 needs a key: name one for the target.");
  const named = Object.entries(options.agents).flatMap(([role, id]) =>
    id === null ? [] : [[agentVariables[role as Operation["agent"]], id]],
  );
  return {
    BASE_URL: options.baseUrl,
    [keyVariables.main]: options.keys.main,
    ...(options.keys.second === null ? {} : { [keyVariables.second]: options.keys.second }),
    ...(Object.fromEntries(named) as Record<string, string>),
    PLAYERS: JSON.stringify(options.roleRequests),
    TIER: options.tier ?? "enterprise",
    LIMITS: JSON.stringify(options.limits),
    SPEED: String(options.speed),
    RECORD: "true",
    K6_USER_AGENT: options.userAgent,
    // Keeps k6 from looking for extensions on the Internet, which it may not be able to reach.
    K6_AUTO_EXTENSION_RESOLUTION: "false",
  };
}

function networkEnvironment({ network, baseUrl }: EngineOptions): Record<string, string> {
  const proxy = proxyFor(network, baseUrl);
  const { client } = network;
  return {
    ...(proxy === null ? {} : { HTTP_PROXY: proxy, HTTPS_PROXY: proxy }),
    ...(client === null ? {} : { CLIENT_CERT: client.cert, CLIENT_KEY: client.key }),
  };
}

const dashboardEnvironment = (file: string) => ({
  K6_WEB_DASHBOARD: "true",
  K6_WEB_DASHBOARD_PORT: "-1",
  K6_WEB_DASHBOARD_PERIOD: "1s",
  K6_WEB_DASHBOARD_EXPORT: file,
});

/** Returns this process's environment without variables that could change the load, e.g. `K6_VUS` and `HTTP_PROXY`. */
function inheritedEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
  const ours = new Set<string>([
    ...Object.values(agentVariables),
    keyVariables.second,
    "START_AT",
    "CLIENT_CERT",
    "CLIENT_KEY",
  ]);
  const kept = Object.entries(environment).filter(
    ([name, value]) =>
      value !== undefined &&
      !/^(K6|CONFORMANCE)_/.test(name) &&
      !/^(https?|no|all)_proxy$/i.test(name) &&
      !ours.has(name),
  );
  return Object.fromEntries(kept) as Record<string, string>;
}

export function segmentsOf(count: number) {
  const points = Array.from({ length: count + 1 }, (_, at) => segmentBound(at, count));
  return {
    /** Segments of the load, such as `0:1/2` (the first half). Each k6 process sends one segment. */
    parts: points.slice(1).map((end, at) => `${points[at]}:${end}`),
    /** The bounds of all segments, e.g. `0,1/2,1` for two. Value of k6's `--execution-segment-sequence`. */
    sequence: points.join(","),
  };
}

const segmentBound = (at: number, count: number): string => (at === 0 ? "0" : at === count ? "1" : `${at}/${count}`);

interface CaBundle {
  /** Path of a file with all CA certificates for k6; `null` if the user's network settings name none. */
  readonly file: string | null;
  readonly remove: () => void;
}

/** Whether k6 can use a CA bundle. On macOS and Windows, k6's Go library (crypto/x509) ignores `SSL_CERT_FILE`. */
export const canK6UseCaBundle = (platform: NodeJS.Platform = process.platform): boolean =>
  platform !== "darwin" && platform !== "win32";

/** Writes Node's default CA certificates and the user's into one file, because k6 reads only one certificate file. */
export function writeCaBundle({ ca }: Network): CaBundle {
  if (ca === null) return { file: null, remove: () => {} };
  const folder = mkdtempSync(join(tmpdir(), "ca-bundle-"));
  const file = join(folder, "ca-bundle.pem");
  writeFileSync(file, [...getCACertificates("default"), ca].join("\n"));
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
