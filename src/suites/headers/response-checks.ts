import { memoizeByObject } from "../../base/memoize.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import {
  hasUnpublishedBurst,
  type HeaderRule,
  headerRules,
  isMinuteLimit,
  limitPublished,
  notNegative,
} from "../../rules/limits/header-rules.ts";
import { type ResetContext, resetMismatchWithClock, isKeyAccepted } from "../../rules/limits/reset-headers.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { type Check, checkEvery, type CheckOptions, type ClauseCase } from "../../run/judge/check.ts";
import { type Breach, breach, type Finding, follows, inapplicable, unproven } from "../../run/judge/finding.ts";
import { anyOf, need } from "../../run/skip-reason.ts";
import type { ReadingOf } from "../../spec/clauses.ts";
import { type HeaderClauseId, headerFormClauses } from "../../spec/headers.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import { type AllExchanges, endpointsAtRequestPath } from "../shared/all-exchanges.ts";
import { responseCell, emptyMatrix } from "../shared/cases.ts";
import { type AllSamples, type SamplesAndExchanges, samplesAndExchanges } from "./probes.ts";

export const isUnknownPath = (exchange: Exchange, all: AllExchanges): boolean =>
  endpointsAtRequestPath(exchange, all).length === 0;

interface KeySample {
  readonly limits: TierLimits | null;
  readonly sample: Sample;
}

// Combines a recorded request (`sample`) with the limits of its key. Calls with the same arguments return the same
// object, because checks cache results per object.
const withLimits = memoizeByObject((limits: TierLimits) =>
  memoizeByObject((sample: Sample): KeySample => ({ limits, sample })),
);
const withoutLimits = memoizeByObject((sample: Sample): KeySample => ({ limits: null, sample }));

const samplesWith = (isIncluded: (sample: Sample) => boolean) =>
  memoizeByObject(({ keys }: AllSamples): readonly KeySample[] =>
    keys.flatMap(({ limits, samples }) =>
      samples.filter(isIncluded).map(limits === null ? withoutLimits : withLimits(limits)),
    ),
  );

const acceptedSamples = samplesWith(isKeyAccepted);
const forbiddenSamples = samplesWith(({ status }) => status === 403);

const byId = memoizeByObject(({ exchanges }: AllExchanges) => new Map(exchanges.map((each) => [each.id, each])));

function casesOf(samplesToJudge: (samples: AllSamples) => readonly KeySample[]) {
  const casesIn = memoizeByObject((all: AllExchanges) =>
    memoizeByObject((samples: AllSamples) =>
      samplesToJudge(samples).map((subject): ClauseCase<KeySample> => {
        const { id, kind, status } = subject.sample;
        const exchange = byId(all).get(id) ?? null;
        const cell = exchange === null ? { of: kind, kind: String(status) } : responseCell(exchange, all);
        return { cell, proof: exchange, subject };
      }),
    ),
  );
  return ({ samples, all }: SamplesAndExchanges): readonly ClauseCase<KeySample>[] => casesIn(all)(samples);
}

const sampleCases = casesOf(acceptedSamples);
const forbiddenCases = casesOf(forbiddenSamples);

interface SampleCheckOptions<T, R extends string> extends CheckOptions {
  readonly expected: string;
  readonly description?: string;
  readonly members: (evidence: SamplesAndExchanges) => readonly ClauseCase<T>[];
  /** Returns what is wrong, `null` if nothing is, and `undefined` if the clause does not apply. */
  readonly judge: (subject: T) => string | null | undefined;
  readonly whenEmpty?: Finding<R>;
  readonly judgeAcross?: (subjects: readonly T[], evidence: SamplesAndExchanges) => Finding<R>;
}

const checkSamples = <const K extends HeaderClauseId, T extends { readonly sample: Sample }>(
  clause: K,
  {
    expected,
    judge,
    description = "every response with the header, to a key that is accepted",
    whenEmpty = unproven("no response has the headers in question"),
    ...more
  }: SampleCheckOptions<T, ReadingOf<K>>,
): Check =>
  checkEvery(clause, samplesAndExchanges, {
    ...more,
    matrix: emptyMatrix(description),
    judge: (subject) => {
      const mismatch = judge(subject);
      if (typeof mismatch !== "string") return mismatch;
      const { id, kind, status } = subject.sample;
      return { expected, actual: `${mismatch} (${id}, ${kind}, ${status})` };
    },
    whenEmpty,
  });

const ruleOptions = ({ expected, judge }: HeaderRule) => ({
  expected,
  members: sampleCases,
  judge: ({ sample, limits }: KeySample) => judge(sample, limits),
});

/** Wraps a judge to ignore a mismatch that an advance of the test clock during the request may have caused. */
const unlessClockAdvanced =
  <T extends { readonly sample: Sample }>(
    judge: (subject: T) => string | null | undefined,
    widen: (sample: Sample, advancedMs: number) => Sample,
  ) =>
  (subject: T): string | null | undefined => {
    const { sample } = subject;
    const advancedMs = sample.headClockMs - sample.sentClockMs;
    const mismatch = judge(subject);
    if (typeof mismatch !== "string" || advancedMs === 0) return mismatch;
    return typeof judge({ ...subject, sample: widen(sample, advancedMs) }) === "string" ? mismatch : undefined;
  };

const withEarlierReset = (sample: Sample, advancedMs: number): Sample => ({
  ...sample,
  resetAfter: sample.resetAfter === null ? null : sample.resetAfter - advancedMs / 1000,
});

const monthMs = 31 * 86_400_000;

/**
 * For {@link unlessClockAdvanced}: widens the request's time span by a month, the longest window. A mismatch that
 * remains has another cause than the test clock, e.g. a wrong unit.
 */
const withWiderTimeSpan = (sample: Sample): Sample => ({
  ...sample,
  sentMs: sample.sentMs - monthMs,
  headMs: sample.headMs + monthMs,
});

const plainRuleChecks = (more: Partial<SampleCheckOptions<KeySample, never>> = {}): Check[] =>
  headerRules
    .filter((rule) => !headerFormClauses.includes(rule.clause) && rule !== limitPublished)
    .map((rule) => {
      const options = { ...ruleOptions(rule), ...more };
      const judge = rule.clause === "HDR-16" ? unlessClockAdvanced(options.judge, withEarlierReset) : options.judge;
      return checkSamples(rule.clause, { ...options, judge });
    });

/**
 * Returns the ids of requests to unknown paths. The response to such a request can report an IP address's limit, not
 * the key's.
 */
const unknownPathIds = memoizeByObject(
  (all: AllExchanges): ReadonlySet<string> =>
    new Set(all.exchanges.filter((one) => isUnknownPath(one, all)).map(({ id }) => id)),
);

const resetContextOf = memoizeByObject((samples: AllSamples): ResetContext => ({
  hasClock: samples.hasClock,
  startedUnixMs: samples.startedUnixMs,
  maxDriftMs: samples.advancingMs ?? 0,
  first:
    acceptedSamples(samples).find(({ sample }) => sample.reset !== null && sample.resetAfter !== null)?.sample ?? null,
}));

const withContext = memoizeByObject((resets: ResetContext) =>
  memoizeByObject((sample: Sample) => ({ resets, sample })),
);

const resetOptions = (members: (evidence: SamplesAndExchanges) => readonly ClauseCase<KeySample>[]) => ({
  expected: "`Reset` is Unix seconds, `Reset-After` from now within 2 s",
  members: (evidence: SamplesAndExchanges) =>
    members(evidence).map((each) => ({
      ...each,
      subject: withContext(resetContextOf(evidence.samples))(each.subject.sample),
    })),
  judge: unlessClockAdvanced(
    ({ resets, sample }: { readonly resets: ResetContext; readonly sample: Sample }) =>
      resetMismatchWithClock(resets, sample),
    withWiderTimeSpan,
  ),
});

/** Options of checks that judge 403 responses. Inapplicable without any 403: a target may respond 401 instead. */
const on403 = {
  as: "403",
  since: "1.2",
  description: "every 403 with the header, to a key of the target file",
  whenEmpty: inapplicable("no key got a 403 with the header"),
} as const;

export const responseChecks: readonly Check[] = [
  checkSamples("HDR-9", { ...ruleOptions(notNegative), as: "throughout" }),
  checkSamples("HDR-10", {
    ...ruleOptions(limitPublished),
    members: (evidence) =>
      sampleCases(evidence).filter(
        ({ subject: { sample } }) => sample.status !== 404 && !unknownPathIds(evidence.all).has(sample.id),
      ),
    whenEmpty: unproven("no key's tier is known", anyOf("`keys.*.tier` in the target file", need("tier"))),
    judgeAcross: (cases, { samples, all }) =>
      contradictionIn(cases, all) ?? follows(readingOf(samples, unknownPathIds(all))),
  }),
  checkSamples("HDR-14", resetOptions(sampleCases)),
  checkSamples("HDR-14", { ...resetOptions(forbiddenCases), ...on403 }),
  ...plainRuleChecks(),
  ...plainRuleChecks({ ...on403, members: forbiddenCases }),
];

const isOfMinute = (limit: number | null, limits: TierLimits): boolean =>
  isMinuteLimit(limit, limits) || hasUnpublishedBurst(limit, limits);

/**
 * Finds two responses that report different limits per minute for one tier. Judges only tiers without a published
 * burst: their `Limit` can include a burst of any size, but must stay the same.
 */
function contradictionIn(cases: readonly KeySample[], all: AllExchanges): Breach | null {
  const firstOf = new Map<number, KeySample>();
  for (const each of cases) {
    const { limits, sample } = each;
    if (limits === null || limits.burst !== null || !isOfMinute(sample.limit, limits)) continue;
    const first = firstOf.get(limits.perMinute) ?? each;
    firstOf.set(limits.perMinute, first);
    if (first.sample.limit === sample.limit) continue;
    const proofs = [first, each].flatMap((one) => byId(all).get(one.sample.id) ?? []);
    return breach(
      limitPublished.expected,
      `${first.sample.limit} and ${sample.limit} for one tier's minute`,
      ...proofs,
    );
  }
  return null;
}

function readingOf(samples: AllSamples, ofUnknownPaths: ReadonlySet<string>): "hour" | "minute" | "tighter" {
  const windows = new Set(
    acceptedSamples(samples).flatMap(({ limits, sample: { id, limit, status } }) =>
      // Skips 429s. They report the window that refused the request, while other responses may report another one.
      limits === null || limit === null || status === 429 || ofUnknownPaths.has(id)
        ? []
        : [isOfMinute(limit, limits) ? "minute" : "hour"],
    ),
  );
  if (windows.size > 1) return "tighter";
  return windows.has("hour") ? "hour" : "minute";
}
