import { minuteMs } from "../../base/duration.ts";
import { formatValue } from "../../base/json.ts";
import { sumOf } from "../../base/numbers.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { isAdmitted, type Sample } from "../../rules/limits/sample.ts";
import { growthOf, type UsageCount, usageField, usageFields } from "../../rules/limits/usage-report.ts";
import { check, checkEvery, observe, suite } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, observed, unproven } from "../../run/judge/finding.ts";
import { anyOf, need } from "../../run/skip-reason.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import { batchTokensCheck } from "../operations/checks.ts";
import { usageLedgerCheck } from "../limits/ledger-checks.ts";
import { allExchanges } from "../shared/all-exchanges.ts";
import { bodyCases, checkEverySuccess, checkFields, fieldMatrix, judgeOk, emptyMatrix } from "../shared/cases.ts";
import { hasNonJsonBody, isSuccess, outcomeOf } from "../shared/response.ts";
import {
  everyUsageRead,
  streamAccounted,
  type UsageReads,
  tokenGrowth,
  usageCountOf,
  usageGrown,
  type UsageGrowth,
  usageRead,
} from "./probes.ts";

const rootOf = (exchange: Exchange): unknown => usageFields(bodyJson(exchange));

const fieldOf = (exchange: Exchange, name: "period" | "requests" | "tokens"): unknown =>
  usageField(bodyJson(exchange), name);

const missingReport = (exchange: Exchange) => {
  if (!isSuccess(exchange)) return unproven(`there is no usage report (${outcomeOf(exchange)})`);
  return hasNonJsonBody(exchange) ? unproven("the response is not JSON") : null;
};

export const usage = suite("Read usage", [
  check("USE-1", usageRead, ({ usage: report }) => judgeOk(report)),
  checkEverySuccess("USE-1", "usage"),
  ...(["USE-2", "USE-3", "USE-4"] as const).map((clause) =>
    checkFields(
      clause,
      { all: allExchanges, usageRead },
      {
        table: "usage",
        members: ({ all }) => bodyCases("usage", all, isSuccess, rootOf),
        whenEmpty: ({ usageRead: { usage: report } }) =>
          missingReport(report) ?? unproven("the object that should have the field is missing"),
      },
    ),
  ),
  checkEvery(
    "USE-5",
    { all: allExchanges, usageRead },
    {
      matrix: fieldMatrix("usage"),
      members: ({ all }) => bodyCases("usage", all, isSuccess),
      judge: ({ exchange }) => {
        const parts = (["requests", "tokens"] as const).flatMap((name) => {
          const part = usageCountOf(exchange, name);
          // A negative limit usually means no limit, so `remaining` need not agree with it.
          return part === null || part.limit < 0 ? [] : [{ name, part, left: Math.max(0, part.limit - part.used) }];
        });
        if (parts.length === 0) return undefined;
        const wrong = parts.find(({ part, left }) => part.remaining !== left);
        if (wrong === undefined) return null;
        const { name, part, left } = wrong;
        return {
          expected: `\`${name}.remaining\` is ${left} (${part.limit} - ${part.used})`,
          actual: String(part.remaining),
        };
      },
      whenEmpty: unproven("the report has no complete `requests` or `tokens`"),
    },
  ),
  check("USE-6", usageRead, ({ usage: report, quota }) => {
    if (quota === null)
      return unproven(
        "the monthly quota of the key's tier is not known",
        anyOf(need("tier"), "`tier` of a key in the target file, or `tokensPerMonth` of that tier under `tiers`"),
      );
    const tokens = usageCountOf(report, "tokens");
    if (tokens === null) return unproven("the report has no complete `tokens`");
    return tokens.limit === quota ? holds() : breach(`\`tokens.limit\` is ${quota}`, String(tokens.limit), report);
  }),
  checkEvery(
    "USE-6",
    { all: allExchanges, keys: everyUsageRead },
    {
      as: "every key",
      since: "1.1",
      matrix: emptyMatrix("every usage report of a key whose tier is known"),
      members: ({ all, keys: { quotas } }) =>
        bodyCases("usage", all, isSuccess).flatMap(({ subject: { exchange }, ...member }) => {
          const quota = quotas[exchange.key ?? ""];
          return quota === undefined
            ? []
            : [{ ...member, subject: { exchange, quota, others: Object.values(quotas) } }];
        }),
      // Some servers report one token limit for the whole account. Therefore, a `tokens.limit` equal to another key's
      // quota is ignored.
      judge: ({ exchange, quota, others }) => {
        const limit = usageCountOf(exchange, "tokens")?.limit;
        if (limit === undefined || (limit !== quota && others.includes(limit))) return undefined;
        return limit === quota
          ? null
          : { expected: `\`tokens.limit\` of the key ${exchange.key ?? ""} is ${quota}`, actual: String(limit) };
      },
      whenEmpty: unproven(
        "no report of a key whose tier the target file states has complete `tokens`",
        "`tier` of a key in the target file",
      ),
    },
  ),
  check("USE-7", usageGrown, (evidence) => {
    const { usage: report, later, samples, isFresh } = evidence;
    const [before, after] = [usageCountOf(report, "requests"), usageCountOf(later, "requests")];
    if (before === null || after === null) return unproven("`requests` was not read twice");
    const within = samples.filter((each) => isBetweenSamples(each, report, later));
    const admitted = within.filter((each) => each.kind === "invoke" && isAdmitted(each)).length;
    // `requests.used` ignores health requests. Undici may have sent an unanswered request twice.
    const maxSent =
      sumOf(within.map(({ kind, status }) => (kind === "health" ? 0 : status === null ? 2 : 1))) + usageReadCount;
    const max = isFresh ? maxSent + inFlightDuring(samples, report, later) : Infinity;
    const { kind, grown } = growthOf(before, after, { min: admitted, max });
    if (kind === "begun again" || hasRolledOver(evidence, before))
      return unproven("the window of `requests` may have changed between the reads");
    if (admitted === 0) return unproven("no invoke was admitted between the reads");
    if (kind === "agrees") return holds();
    if (kind === "beyond") {
      const expected = `\`requests.used\` grows by the ${maxSent} requests that were sent, at most`;
      return breach(expected, describeGrowth(grown), report, later);
    }
    // Requests in `requests.used` that this run did not send. They can leave a rolling window between the two reads.
    const earlier = Math.max(0, before.used - samples.filter(({ endMs }) => endMs <= report.answer.endMs).length);
    if (grown > 0 && admitted - grown <= earlier)
      return unproven("earlier use of the key may have left the window between the reads");
    const expected = `\`requests.used\` grows by the ${admitted} invokes that were admitted, at least`;
    return breach(expected, describeGrowth(grown), report, later);
  }),
  usageLedgerCheck,
  check("USE-8", usageGrown, judgeTokens),
  check("USE-8", streamAccounted, judgeTokens, { as: "stream" }),
  check(
    "USE-8",
    usageGrown,
    ({ allAlong }) =>
      allAlong === null ? inapplicable("the target's clock was advanced between the reads") : judgeTokens(allAlong),
    { as: "all along" },
  ),
  batchTokensCheck,
  observe("USE-9", usageRead, ({ usage: report, limits }) => {
    const requests = usageCountOf(report, "requests");
    if (requests === null) return unproven("the report has no complete `requests`");
    return observed(
      `\`requests.limit\` is ${requests.limit}${windowOf(requests, limits)}; \`period\` is ${formatValue(fieldOf(report, "period"))}`,
    );
  }),
]);

function judgeTokens(evidence: UsageReads): Finding<never> {
  const growth = tokenGrowth(evidence);
  if (growth === null) return unproven("`tokens` was not read twice");
  const { kind, grown, min, max, remaining } = growth;
  if (kind === "begun again") return unproven("the month may have changed between the reads");
  if (remaining === 0) return unproven("the month's tokens are exhausted");
  if (min === 0) return unproven("no agent call between the reads reported its tokens");
  if (kind === "agrees") return holds();
  const expected =
    kind === "short"
      ? `\`tokens.used\` grows by the ${min} tokens that were reported, at least`
      : `\`tokens.used\` grows by the ${max} tokens that were reported, at most`;
  return breach(expected, describeGrowth(grown), evidence.usage, evidence.later);
}

/** The harness reads usage twice. A target is allowed to count both reads as requests. */
const usageReadCount = 2;
const describeGrowth = (grown: number): string => `by ${grown}`;

const isBetweenSamples = ({ sentMs, endMs }: Sample, before: Exchange, after: Exchange): boolean =>
  sentMs >= before.answer.endMs && endMs <= after.sentMs;

const inFlightDuring = (samples: readonly Sample[], ...reads: readonly Exchange[]): number =>
  samples.filter(({ sentMs, endMs }) => reads.some((read) => sentMs < read.answer.endMs && endMs > read.sentMs)).length;

/** Whether a new rate-limit window possibly began between the two `GET /usage` requests. */
function hasRolledOver({ usage: report, later, samples, limits }: UsageGrowth, { limit }: UsageCount): boolean {
  const laterMs = later.answer.endMs + later.clockMs;
  if (limits !== null && limit === limits.perMinute && laterMs - report.sentMs - report.clockMs >= minuteMs)
    return true;
  return samples
    .filter((each) => each.limit === limit && each.endMs >= report.sentMs && each.endMs <= later.answer.endMs)
    .some((each) => each.headMs + each.headClockMs + ((each.resetAfter ?? 0) - 2) * 1000 <= laterMs);
}

function windowOf({ limit }: UsageCount, limits: TierLimits | null): string {
  if (limits === null) return "";
  if (limit === limits.perHour) return ", the hour's";
  return limit === limits.perMinute ? ", the minute's" : ", neither the hour's nor the minute's";
}
