import { bodyJson, type Exchange, headerValues, statusOf } from "../../evidence/exchange.ts";
import { check, suite } from "../../run/judge/check.ts";
import { breach, follows, holds, unproven } from "../../run/judge/finding.ts";
import { invoked } from "../invoke/probes.ts";
import { agentInPath, type CoreEndpoint, endpointOf, allExchanges, hasValidKey } from "../shared/all-exchanges.ts";
import { discoveryReads } from "../requests/probes.ts";
import { hasStatus, isSuccess } from "../shared/response.ts";
import { getPath } from "../../base/json.ts";

interface Version {
  readonly agent: string;
  readonly version: string;
  readonly exchange: Exchange;
}

function versionsIn(exchanges: readonly Exchange[], endpoint: CoreEndpoint, ...path: readonly string[]): Version[] {
  return exchanges.flatMap((exchange) => {
    if (endpointOf(exchange) !== endpoint || !hasStatus(exchange, 200)) return [];
    const version = getPath(bodyJson(exchange), ...path);
    const agent = agentInPath(exchange);
    return typeof version === "string" && agent !== null ? [{ agent, version, exchange }] : [];
  });
}

const versionsOf = (all: readonly Version[]): ReadonlySet<string> => new Set(all.map(({ version }) => version));

const byAgent = (all: readonly Version[]): ReadonlyMap<string, readonly Version[]> =>
  Map.groupBy(all, ({ agent }) => agent);

const hasSeveralVersions = (agent: string, ...all: readonly ReadonlyMap<string, readonly Version[]>[]): boolean =>
  versionsOf(all.flatMap((each) => each.get(agent) ?? [])).size > 1;

function findOtherVersion(
  invoke: Version,
  invokes: readonly Version[],
  reports: readonly Version[],
  mayDeploy: boolean,
) {
  const before = reports.findLast(({ exchange }) => exchange.sentMs <= invoke.exchange.sentMs);
  const after = reports.find(({ exchange }) => exchange.sentMs > invoke.exchange.sentMs);
  const neighbors = [before, after].filter((each) => each !== undefined);
  const [other] = neighbors;
  if (other === undefined || neighbors.some(({ version }) => version === invoke.version)) return null;
  const isSteady = [invokes, reports].every((all) => versionsOf(all).size === 1);
  return neighbors.length === 2 || (isSteady && !mayDeploy) ? { ofInvoke: invoke, other } : null;
}

function locationOutsideVersion(exchange: Exchange): string | null {
  const status = statusOf(exchange) ?? 0;
  const [location] = headerValues(exchange, "Location");
  if (status < 300 || status > 399 || location === undefined || !URL.canParse(location, exchange.request.url))
    return null;
  return /\/v1(?:\/|$)/.test(new URL(location, exchange.request.url).pathname) ? null : location;
}

export const versioning = suite("Versioning", [
  check("VER-1", { all: allExchanges, lookedAt: discoveryReads }, ({ all }) => {
    const answered = all.exchanges.filter((each) => endpointOf(each) !== null && hasValidKey(each, all));
    const leaving = answered.find((each) => locationOutsideVersion(each) !== null);
    if (leaving !== undefined)
      return breach(
        "an answer below `/v1`, the current version",
        `${statusOf(leaving)} to ${locationOutsideVersion(leaving)?.slice(0, 120)}`,
        leaving,
      );
    return answered.some(isSuccess) ? holds() : unproven("no request below `/v1` succeeded");
  }),
  check("VER-4", { all: allExchanges, invoked }, ({ all }) => {
    const ofHealth = versionsIn(all.exchanges, "health", "version");
    const ofInvoke = versionsIn(all.exchanges, "invoke", "metadata", "agent_version");
    const [invokes, reports] = [byAgent(ofInvoke), byAgent(ofHealth)];
    const versionsOfAgent = ({ agent }: Version) => [invokes.get(agent) ?? [], reports.get(agent) ?? []] as const;
    // Skips agents whose invokes and health reports all state one version, because they cannot break the clause. This
    // saves time after thousands of invokes.
    const varied = new Set([...invokes.keys()].filter((agent) => hasSeveralVersions(agent, invokes, reports)));
    const different = ofInvoke
      .filter(({ agent }) => varied.has(agent))
      .map((each) => findOtherVersion(each, ...versionsOfAgent(each), all.mayDeploy ?? false))
      .find((each) => each !== null);
    if (different !== undefined)
      return breach(
        `\`metadata.agent_version\` is the health report's \`version\`, ${JSON.stringify(different.other.version)}`,
        JSON.stringify(different.ofInvoke.version),
        different.ofInvoke.exchange,
        different.other.exchange,
      );
    if ([...invokes.keys()].some((agent) => reports.has(agent))) return follows("same");
    const bothAnswered = ["invoke", "health"].every((endpoint) =>
      all.exchanges.some((each) => endpointOf(each) === endpoint && hasStatus(each, 200)),
    );
    return bothAnswered ? follows("not-shown") : unproven("invoke and health did not both answer 200");
  }),
]);
