import { minuteMs } from "../../base/duration.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { isAdmitted, isRefused, type Sample, sampleOf } from "../../rules/limits/sample.ts";
import { type Check, check, type EvidenceOf } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import type { KeyState } from "../../spec/dimensions.ts";
import { type EndpointName, publishedEndpoints } from "../../spec/endpoints.ts";
import { type AllExchanges, allExchanges, endpointOf } from "../shared/all-exchanges.ts";
import { traitsOf } from "./ledger.ts";
import { elapsedSeconds, isSameWindow } from "../shared/compare-samples.ts";
import { tiersUnderTest, type TierUnderTest } from "../../run/plan/needs.ts";
import { probe } from "../../run/probe.ts";
import { agentPath } from "../../run/send/client.ts";
import { need } from "../../run/skip-reason.ts";
import type { Target } from "../../target/target.ts";
import { hasStatus } from "../shared/response.ts";

const exhaustedStates: readonly string[] = ["minute used up", "hour used up"] satisfies readonly KeyState[];

/** Endpoints that run agents. Their refusals can also come from a used-up monthly token quota. */
const endpointsRunningAgents: readonly EndpointName[] = ["invoke", "stream", "batch"];

interface RequestBeyondLimit {
  readonly endpoint: EndpointName;
  readonly exchange: Exchange;
  readonly sample: Sample;
}

interface AdmittedRequest {
  readonly window: readonly RequestBeyondLimit[];
  readonly admitted: RequestBeyondLimit;
  readonly before: RequestBeyondLimit;
  readonly after: RequestBeyondLimit;
}

const minRefused = 3;
const minAdmitted = 3;
const minWindows = 2;
/**
 * A correct rolling window admits a request between two refusals if an earlier request expires just then. For a breach,
 * the probability that this explains every such admission must be below `maxChance`.
 */
const maxChance = 1e-4;

function requestsBeyondLimit(all: AllExchanges): (readonly RequestBeyondLimit[])[] {
  const requests = all.exchanges.flatMap((exchange): RequestBeyondLimit[] => {
    const endpoint = endpointOf(exchange, all);
    if (endpoint === null || endpoint === "health" || !exhaustedStates.includes(exchange.keyState ?? "")) return [];
    return [{ endpoint, exchange, sample: sampleOf(exchange) }];
  });
  return [...Map.groupBy(requests, ({ exchange: { key, keyState } }) => `${keyState} ${key}`).values()]
    .filter((window) => window.filter(showsUsedUp).length >= minRefused)
    .map((window) => window.toSorted((one, other) => one.sample.sentMs - other.sample.sentMs));
}

const showsUsedUp = ({ endpoint, sample }: RequestBeyondLimit): boolean =>
  isRefused(sample) && !endpointsRunningAgents.includes(endpoint);

const admittedBetweenRefusals = (window: readonly RequestBeyondLimit[]): AdmittedRequest[] =>
  window.flatMap((admitted, at) => {
    if (!isAdmitted(admitted.sample)) return [];
    const { sentMs, endMs } = admitted.sample;
    const before = window.slice(0, at).findLast(({ sample }) => isRefused(sample) && sample.endMs <= sentMs);
    const after = window.slice(at + 1).find(({ sample }) => isRefused(sample) && sample.sentMs >= endMs);
    if (before === undefined || after === undefined || !isOneWindow(before.sample, after.sample)) return [];
    return [{ window, admitted, before, after }];
  });

const isOneWindow = (one: Sample, other: Sample): boolean =>
  isSameWindow(one, other) &&
  one.remaining === 0 &&
  other.remaining === 0 &&
  // If the test clock advanced between the two refusals, a new window may have begun.
  one.sentClockMs === other.sentClockMs;

function chanceOfReturn({ before, after }: AdmittedRequest): number {
  const returnMs = minuteMs / (before.sample.limit ?? Number.POSITIVE_INFINITY);
  return Math.min(1, (after.sample.headMs - before.sample.sentMs) / returnMs);
}

const isImprobable = (admitted: readonly AdmittedRequest[]): boolean =>
  admitted.length >= minAdmitted &&
  new Set(admitted.map(({ window }) => window)).size >= minWindows &&
  admitted.reduce((chance, each) => chance * chanceOfReturn(each), 1) < maxChance;

function judgeEveryEndpoint(all: AllExchanges): Finding<never> {
  const windows = requestsBeyondLimit(all);
  if (windows.length === 0) return inapplicable("no limit was certainly used up while other endpoints were requested");
  const endpointsThat = (is: (sample: Sample) => boolean): ReadonlySet<EndpointName> =>
    new Set(windows.flat().flatMap(({ endpoint, sample }) => (is(sample) ? [endpoint] : [])));
  // The check looks for an endpoint that the limit exempts. An endpoint that both admits and refuses is not exempt: it
  // shows that the target admits requests for another reason, which may apply to all endpoints.
  if (!endpointsThat(isAdmitted).isDisjointFrom(endpointsThat(isRefused))) return holds();
  const byEndpoint = Map.groupBy(windows.flatMap(admittedBetweenRefusals), (each) => each.admitted.endpoint);
  const pattern = [...byEndpoint.values()].find(isImprobable);
  const [first] = pattern ?? [];
  return pattern === undefined || first === undefined ? holds() : describeBreach(pattern, first);
}

function describeBreach(
  all: readonly AdmittedRequest[],
  { before, admitted, after }: AdmittedRequest,
  trait = "",
): Finding<never> {
  const { method, path } = publishedEndpoints[admitted.endpoint];
  const keys = new Set(all.map((each) => each.admitted.exchange.key));
  return breach(
    "every endpoint but health is refused while a limit of the key is used up",
    `${method} ${path ?? "batch"}${trait} admitted ${all.length} times, each between refusals of the same window (keys: ${[...keys].join(", ")})`,
    before.exchange,
    admitted.exchange,
    after.exchange,
  );
}

export const everyEndpointCheck: Check = check("HDR-19", allExchanges, judgeEveryEndpoint, {
  as: "every endpoint",
  since: "1.1",
});

const traitsOfRequest = ({ exchange }: RequestBeyondLimit): ReadonlySet<string> => {
  const { traits, values } = traitsOf(exchange);
  return new Set([...traits, ...values]);
};

function exemptTraits(requests: readonly RequestBeyondLimit[]): readonly string[] {
  const admitted = requests.filter(({ sample }) => isAdmitted(sample));
  const [first] = admitted;
  if (first === undefined || admitted.some(({ endpoint }) => endpoint !== first.endpoint)) return [];
  const refused = requests.filter(({ endpoint, sample }) => endpoint === first.endpoint && isRefused(sample));
  if (refused.length < minRefused) return [];
  const common = admitted.map(traitsOfRequest).reduce((shared, each) => shared.intersection(each));
  return [...common].filter((trait) => !refused.some((each) => traitsOfRequest(each).has(trait)));
}

function judgeEveryTrait(all: AllExchanges): Finding<never> {
  const windows = requestsBeyondLimit(all);
  if (windows.length === 0) return inapplicable("no limit was certainly used up while other endpoints were requested");
  const [trait] = exemptTraits(windows.flat());
  const pattern = windows.flatMap(admittedBetweenRefusals);
  const [first] = pattern;
  if (trait === undefined || first === undefined || !isImprobable(pattern)) return holds();
  return describeBreach(pattern, first, ` ${trait}`);
}

export const everyTraitCheck: Check = check("HDR-19", allExchanges, judgeEveryTrait, {
  as: "every kind of request",
  since: "1.2",
});

/** Maximum number of health requests in `healthRepeated`. More requests would take too long. */
const maxBurst = 250;

const allowanceOf = ({ limits: { perMinute, burst } }: TierUnderTest): number => perMinute + (burst ?? perMinute);

const smallestTier = (target: Target): TierUnderTest | null =>
  tiersUnderTest(target).toSorted((one, other) => allowanceOf(one) - allowanceOf(other))[0] ?? null;

const healthRepeated = probe(
  "health is read more often than a tier allows",
  {
    since: "1.1",
    needs: ["agents.answering"],
    requests: 0,
    executions: 0,
    stage: "coverage",
    keys: (target) => [smallestTier(target)?.key].flatMap((key) => key ?? []),
  },
  async ({ client, given, target }) => {
    const tier = smallestTier(target);
    const own = tier === null ? client : client.as(tier.key);
    const agent = given["agents.answering"];
    const wanted = tier === null ? null : Math.min(maxBurst, allowanceOf(tier) + 1);
    const samples: Sample[] = [];
    while (samples.length < (wanted ?? 0) && !samples.some(isRefused))
      samples.push(await own.sample("GET", agentPath(agent, "health")));
    const again = samples.some(isRefused) ? await own.health(agent) : null;
    return { wanted, samples, again, hasClock: target.clock !== null };
  },
);

function judgeBurst({ wanted, samples, again, hasClock }: EvidenceOf<typeof healthRepeated>): Finding<never> {
  if (wanted === null) return unproven("the tier of no key is known", need("tier"));
  const answered = samples.filter(isAdmitted);
  if (again !== null && hasStatus(again, 429))
    return breach("health is not limited", `429 after ${answered.length} health requests within a minute`, again);
  const [first, last] = [answered[0], answered.at(-1)];
  const isQuick =
    first !== undefined && last !== undefined && elapsedSeconds(first, last, hasClock).max * 1000 <= minuteMs;
  if (answered.length < wanted) return unproven(`${answered.length} of ${wanted} health requests got a success`);
  return isQuick ? holds() : unproven("the health requests took longer than a minute");
}

export const healthBurstCheck: Check = check("HLT-15", healthRepeated, judgeBurst, {
  as: "more than a tier allows",
  since: "1.1",
});
