import { isDeepStrictEqual } from "node:util";

import { dayMs } from "../../base/duration.ts";
import { formatValue } from "../../base/format-value.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { wholeNumberHeader } from "../../rules/limits/sample.ts";
import { usageField } from "../../rules/limits/usage-report.ts";
import { check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, type Unproven, unproven } from "../../run/judge/finding.ts";
import { headerNames } from "../../spec/headers.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import { allSamples } from "../headers/probes.ts";
import { hasRepeats, type Page, pageOf, repeatedAgent } from "../listing/probes.ts";
import { allExchanges, type AllExchanges, splitAtReturns, successesOf } from "../shared/all-exchanges.ts";
import { isSuccess } from "../shared/response.ts";
import { usageCountOf } from "../usage/probes.ts";
import { everyPageListed, pagesOfOtherLimitsListed } from "./probes.ts";
import { type ComparedPair, relation } from "./relation.ts";

const noPages = unproven(
  "the list was not read on several pages",
  "a target with more than two agents, and a key with many requests",
);

function readPages(listed: readonly Exchange[]): readonly Page[] | Unproven {
  const pages = listed.flatMap((each) => pageOf(each) ?? []);
  const [first] = pages;
  if (first === undefined || pages.length < 2 || pages.length < listed.length) return noPages;
  if (
    pages.some(
      ({ pagination: { total, limit } }) => total !== first.pagination.total || limit !== first.pagination.limit,
    )
  )
    return unproven("`total` or `limit` changed from page to page");
  if (pages.some(({ agents, pagination: { limit } }) => agents.length > limit))
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

interface UsagePair extends ComparedPair {
  readonly first: Exchange;
  readonly second: Exchange;
}

const usagePairs = (all: AllExchanges): UsagePair[] =>
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

/** Usage reports of two months can have an equal `period`. Therefore reports this far apart are not compared. */
const shortestMonthMs = 28 * dayMs;

const usageGrows = relation("USE-10", allExchanges, {
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
  const shown = all.exchanges.filter(isSuccess).flatMap((exchange) => {
    const limits = keys.find(({ key }) => key === exchange.key)?.limits ?? null;
    const limit = wholeNumberHeader(exchange, headerNames.rateLimit);
    return limits !== null && limit !== null && isOfMinute(limit, limits) ? [{ exchange, limits, limit }] : [];
  });
  const pairs: LimitPair[] = [];
  for (const [at, { exchange, limits, limit }] of shown.entries()) {
    const first = shown.find((each) => isDeepStrictEqual(each.limits, limits));
    if (first === undefined || first === shown[at]) continue;
    pairs.push({ first: first.exchange, second: exchange, limit: first.limit, other: limit });
  }
  return pairs;
}

const isOfMinute = (limit: number, { perHour, perMinute, burst }: TierLimits): boolean =>
  limit === perMinute || (limit !== perHour && (burst === null ? limit > perMinute : limit === perMinute + burst));

const sameLimit = relation(
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

export const relationsOfCounts = [...pageRelations, usageGrows, sameLimit];
