import { isDeepStrictEqual } from "node:util";
import { dayMs } from "../../base/duration.ts";
import { formatValue } from "../../base/json.ts";
import { bodyJson, type Exchange, sentJson } from "../../evidence/exchange.ts";
import { wholeNumberHeader } from "../../rules/limits/sample.ts";
import { usageField } from "../../rules/limits/usage-report.ts";
import { check, type Check, type ProbesByName } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, type Unproven, unproven } from "../../run/judge/finding.ts";
import { headerNames } from "../../spec/headers.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import { allSamples } from "../headers/probes.ts";
import { hasRepeats, type Page, pageOf, repeatedAgent } from "../listing/probes.ts";
import { allExchanges, type AllExchanges, exchangesOf, splitAtReturns, successesOf } from "../shared/all-exchanges.ts";
import { describeStatus, hasStatus, isSuccess } from "../shared/response.ts";
import { usageCountOf } from "../usage/probes.ts";
import { everyPageListed, pagesOfOtherLimitsListed } from "./probes.ts";
import { type ComparedPair, pairCheck } from "./pairs.ts";
import type { EndpointName } from "../../spec/endpoints.ts";
import { alertCrossed, alertIdOf } from "../alerts/probes.ts";
import { batchSubmitted, handleOf } from "../operations/probes.ts";
import { webhookIdOf } from "../webhooks/create-webhook.ts";
import { invokedWithWebhooks } from "../webhooks/probes.ts";
import { secondAlertCreated } from "../alerts/checks.ts";
import { inapplicableForFewRequests } from "../shared/few-requests.ts";

const noPages = unproven(
  "the list was not read on several pages",
  "a target with more than two agents, and a key with many requests",
);

function readPages(listed: readonly Exchange[]): readonly Page[] | Unproven {
  const pages = listed.flatMap((each) => pageOf(each) ?? []);
  const [first] = pages;
  if (first === undefined || pages.length < 2 || pages.length < listed.length) return noPages;
  const { total, limit } = first.pagination;
  if (pages.some(({ pagination }) => pagination.total !== total || pagination.limit !== limit))
    return unproven("`total` or `limit` changed from page to page");
  if (pages.some(({ agents }) => agents.length > limit))
    return unproven("a page has more agents than `limit`; see LST-6");
  return pages.some(hasRepeats) ? unproven("the agents of one page are not distinguishable") : pages;
}

const isUnproven = (pages: readonly Page[] | Unproven): pages is Unproven => "kind" in pages;

function judgeRepeats(listed: readonly Exchange[]): Finding<never> {
  const pages = readPages(listed);
  if (isUnproven(pages)) return pages;
  const repeated = repeatedAgent(pages);
  if (repeated === null) return holds();
  const exchanges = repeated.pages.map(({ exchange }) => exchange);
  return breach("an agent is on one page only", `${repeated.id} on two pages`, ...exchanges);
}

const pageRelations = [
  check("LST-7", everyPageListed, judgeRepeats, { as: "every page", since: "1.1" }),
  check(
    "LST-7",
    pagesOfOtherLimitsListed,
    (lists) => {
      const findings = (lists ?? []).map(judgeRepeats);
      return (
        findings.find(({ kind }) => kind === "breach") ??
        findings.find(({ kind }) => kind === "holds") ??
        inapplicable("the list was not read on several pages of other limits")
      );
    },
    { as: "other limits", since: "1.2" },
  ),
  check(
    "LST-11",
    everyPageListed,
    (listed) => {
      const pages = readPages(listed);
      if (isUnproven(pages)) return pages;
      const [first] = pages;
      if (first === undefined || first.pagination.pages !== pages.length)
        return unproven("the list has more pages than were read");
      const [count, { total }] = [pages.reduce((sum, { agents }) => sum + agents.length, 0), first.pagination];
      return count === total
        ? holds()
        : breach(
            `${total} agents on all pages, as \`total\` says`,
            String(count),
            ...pages.map(({ exchange }) => exchange),
          );
    },
    { as: "all pages", since: "1.1" },
  ),
];

const usagePairs = (all: AllExchanges) =>
  splitAtReturns(successesOf(all, "usage"), all).flatMap((reads) =>
    [...Map.groupBy(reads, ({ key }) => key).values()].flatMap((ofKey) =>
      ofKey
        .toSorted((one, other) => one.sentMs - other.sentMs)
        .flatMap((second, at, sorted) => {
          const first = sorted[at - 1];
          return first !== undefined && first.answer.endMs <= second.sentMs ? [{ first, second }] : [];
        }),
    ),
  );

/** Usage reports at least 28 days apart are not compared: two months can have an equal `period`, e.g. `monthly`. */
const shortestMonthMs = 28 * dayMs;

const usageGrows = pairCheck("USE-10", allExchanges, {
  between: "readings of usage",
  pairs: usagePairs,
  judge: ({ first, second }) => {
    const [before, after] = [usageCountOf(first, "tokens"), usageCountOf(second, "tokens")];
    const [period, later] = [first, second].map((each) => usageField(bodyJson(each), "period"));
    if (before === null || after === null || typeof period !== "string" || period !== later) return undefined;
    if (before.limit !== after.limit || second.clockMs - first.clockMs >= shortestMonthMs) return undefined;
    return after.used >= before.used
      ? null
      : { expected: `\`tokens.used\` of at least ${before.used} in the period ${period}`, actual: String(after.used) };
  },
  otherwise: unproven("no key's usage was read twice in one period"),
});

interface LimitPair extends ComparedPair {
  readonly limit: number;
  readonly other: number;
}

function minuteLimitPairs(
  all: AllExchanges,
  keys: readonly { readonly key: string; readonly limits: TierLimits | null }[],
): LimitPair[] {
  const responses = all.exchanges.filter(isSuccess).flatMap((exchange) => {
    const limits = keys.find(({ key }) => key === exchange.key)?.limits ?? null;
    const limit = wholeNumberHeader(exchange, headerNames.rateLimit);
    return limits !== null && limit !== null && isOfMinute(limit, limits) ? [{ exchange, limits, limit }] : [];
  });
  const pairs: LimitPair[] = [];
  for (const [at, { exchange, limits, limit }] of responses.entries()) {
    const first = responses.find((each) => isDeepStrictEqual(each.limits, limits));
    if (first === undefined || first === responses[at]) continue;
    pairs.push({ first: first.exchange, second: exchange, limit: first.limit, other: limit });
  }
  return pairs;
}

const isOfMinute = (limit: number, { perHour, perMinute, burst }: TierLimits): boolean =>
  limit === perMinute || (limit !== perHour && (burst === null ? limit > perMinute : limit === perMinute + burst));

const sameLimit = pairCheck(
  "HDR-20",
  { all: allExchanges, samples: allSamples },
  {
    between: "limits of a tier",
    pairs: ({ all, samples }) => minuteLimitPairs(all, samples.keys),
    judge: ({ limit, other }) =>
      limit === other
        ? null
        : { expected: `\`${headerNames.rateLimit}\` ${limit}, as in the earlier response`, actual: formatValue(other) },
    otherwise: unproven("no tier has two responses whose headers describe the minute"),
  },
);

export const countAndLimitRelations = [...pageRelations, usageGrows, sameLimit];

interface TwoCreations extends ComparedPair {
  readonly first: Exchange;
  readonly second: Exchange;
  readonly id: string;
  readonly firstId: string;
}

const creationPairs = (
  all: AllExchanges,
  endpoint: EndpointName,
  idOf: (exchange: Exchange) => string | null,
): TwoCreations[] =>
  splitAtReturns(exchangesOf(all, endpoint), all).flatMap((exchanges) => {
    const created = exchanges.flatMap((exchange) => {
      const id = idOf(exchange);
      return id === null ? [] : [{ exchange, id }];
    });
    return created.flatMap(({ exchange: second, id }, at) => {
      const earlier = created.slice(0, at).filter(({ exchange }) => !isSameRequest(exchange, second));
      const first = earlier.find((each) => each.id === id) ?? earlier[0];
      return first === undefined ? [] : [{ first: first.exchange, second, id, firstId: first.id }];
    });
  });

const isSameRequest = (one: Exchange, other: Exchange): boolean =>
  isDeepStrictEqual(sentJson(one.request), sentJson(other.request));

const judgeIds = ({ id, firstId }: TwoCreations) =>
  id === firstId ? { expected: "an id of its own", actual: `${formatValue(id)} for both` } : null;

function operationIdOf(exchange: Exchange): string | null {
  const id = isSuccess(exchange) ? handleOf(exchange).operationId : undefined;
  return typeof id === "string" ? id : null;
}

type CreationProbes = ProbesByName & { readonly all: typeof allExchanges };

const checkDistinctIds = (
  clause: "WHK-13" | "ALR-6" | "OPS-7",
  on: CreationProbes,
  kind: string,
  creationsIn: (all: AllExchanges) => TwoCreations[],
): Check =>
  pairCheck<typeof clause, CreationProbes, TwoCreations>(clause, on, {
    between: kind,
    pairs: ({ all }) => creationsIn(all),
    judge: judgeIds,
    otherwise: unproven(`no two ${kind} have ids`),
  });

export const identityRelations = [
  checkDistinctIds("WHK-13", { all: allExchanges, created: invokedWithWebhooks }, "webhooks", (all) =>
    creationPairs(all, "webhooks", webhookIdOf),
  ),
  checkDistinctIds("ALR-6", { all: allExchanges, first: alertCrossed, second: secondAlertCreated }, "alerts", (all) =>
    creationPairs(all, "alerts", (each) => (isSuccess(each) ? alertIdOf(each) : null)),
  ),
  checkDistinctIds("OPS-7", { all: allExchanges, started: batchSubmitted }, "operations", (all) =>
    creationPairs(all, "batch", operationIdOf),
  ),
  check(
    "ALR-1",
    { first: alertCrossed, second: secondAlertCreated },
    ({ first: { created }, second }) => {
      if (!isSuccess(created)) return unproven("no first alert was created (ALR-1)");
      if (second === null) return inapplicableForFewRequests;
      if (isSuccess(second)) return holds();
      // The refusal may be legal: a limit on alerts per key, with a status that is not shown, or an expired key (401).
      if (hasStatus(second, 400, 401, 402, 403, 409, 422, 429))
        return unproven(`the second alert was refused (${describeStatus(second)})`);
      return breach("a success, as for the first alert of the key", describeStatus(second), created, second);
    },
    { as: "second", since: "1.1" },
  ),
];
