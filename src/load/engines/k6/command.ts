import { join } from "node:path";

import type { Operation } from "../../scenarios.ts";
import { agentVariables } from "./variables.ts";
import { proxyFor } from "../../../base/network/network.ts";
import { type EngineOptions, EngineProblem } from "../../engine.ts";
import { packageRoot } from "../../../base/package-root.ts";

/** How one process of k6 is started. Keys are in the environment alone: arguments can be read by every user of a machine. */
export interface K6Command {
  /** The part of the load that this process sends: `0:1` is all of it. */
  readonly segment: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export const scriptOf = (scenario: string, root: string = packageRoot()): string => join(root, "k6", `${scenario}.ts`);

/** The commands of all processes of a run, one for each segment. Where there are several, all start sending at `startAtMs`. `authorities`: a file of theirs. */
export function commandsOf(
  script: string,
  parts: EngineOptions,
  startAtMs: number,
  authorities: string | null,
): K6Command[] {
  const { parts: segments, sequence } = segmentsOf(parts.segments);
  const isAlone = segments.length === 1;
  return segments.map((segment, at) => ({
    segment,
    args: [...runArguments, ...(isAlone ? [] : segmentArguments(segment, sequence)), script],
    env: {
      ...inherited(process.env),
      ...scriptEnvironment(parts),
      ...networkEnvironment(parts),
      ...(authorities === null ? {} : { SSL_CERT_FILE: authorities }),
      ...(isAlone ? {} : { START_AT: String(startAtMs) }),
      // One page is enough, and a port of its own for each would be needed otherwise.
      ...(at === 0 && parts.dashboardFile !== null ? dashboardEnvironment(parts.dashboardFile) : {}),
    },
  }));
}

/** Nothing leaves the machine but what goes to the target; verdicts are not k6's; its own words are told apart from the lines of a script. */
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

function scriptEnvironment(parts: EngineOptions): Record<string, string> {
  if (parts.keys.main === null) throw new EngineProblem("k6 needs a key to send with: give the target one.");
  const named = Object.entries(parts.agents).flatMap(([role, id]) =>
    id === null ? [] : [[agentVariables[role as Operation["agent"]], id]],
  );
  return {
    BASE_URL: parts.baseUrl,
    API_KEY: parts.keys.main,
    ...(parts.keys.second === null ? {} : { API_KEY_SECOND: parts.keys.second }),
    ...(Object.fromEntries(named) as Record<string, string>),
    PLAYERS: JSON.stringify(parts.roleRequests),
    TIER: parts.tier ?? "enterprise",
    LIMITS: JSON.stringify(parts.limits),
    SPEED: String(parts.speed),
    RECORD: "true",
    // Else it looks for hosts that a machine without Internet cannot reach.
    K6_AUTO_EXTENSION_RESOLUTION: "false",
  };
}

/** Go, in which k6 is written, takes a proxy from the environment: which one it is was found out before. */
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

/** Variables of k6 would change the load (`K6_VUS`), and ours, left over from elsewhere, would name agents that nobody chose; proxies are said anew. */
function inherited(environment: NodeJS.ProcessEnv): Record<string, string> {
  const ours = new Set<string>([
    ...Object.values(agentVariables),
    "API_KEY_SECOND",
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

/** The equal parts of a load, and their sequence, as k6's `--execution-segment` and `--execution-segment-sequence` want them. */
export interface Segments {
  /** `0:1/2`, `1/2:1` */
  readonly parts: readonly string[];
  /** `0,1/2,1` */
  readonly sequence: string;
}

/** Cuts a load into so many equal parts. */
export function segmentsOf(count: number): Segments {
  const points = Array.from({ length: count + 1 }, (_, at) => pointOf(at, count));
  return {
    parts: points.slice(1).map((end, at) => `${points[at]}:${end}`),
    sequence: points.join(","),
  };
}

const pointOf = (at: number, count: number): string => (at === 0 ? "0" : at === count ? "1" : `${at}/${count}`);
