import { memoizeByObject } from "../../base/memoize.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { ReadingOf } from "../../spec/clauses.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import {
  type HeaderRule,
  headerRules,
  isMinuteLimit,
  limitPublished,
  notNegative,
} from "../../rules/limits/header-rules.ts";
import { resetMismatchInRun, type ResetContext } from "../../rules/limits/reset-consistency.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { isKeyAccepted } from "../../rules/limits/time-left.ts";
import type { Check } from "../../run/judge/check.ts";
import { type Finding, follows, type Unproven, unproven } from "../../run/judge/finding.ts";
import { anyOf, need } from "../../run/skip-reason.ts";
import { type Member, checkEvery } from "../../run/judge/check-every.ts";
import { responseCell } from "../shared/cases.ts";
import { endpointsAtRequestPath, allExchanges, type AllExchanges } from "../shared/all-exchanges.ts";
import { type AllSamples, allSamples } from "./probes.ts";

/** Whether neither the document nor the target file defines the path. */
export const isUnknownPath = (exchange: Exchange, all: AllExchanges): boolean =>
  endpointsAtRequestPath(exchange, all).length === 0;

/** A response with rate-limit headers, to a key that the server accepts. */
interface Spoken {
  /** Limits of the key's tier; `null` if no one stated the tier. */
  readonly limits: TierLimits | null;
  readonly sample: Sample;
}

// One object per sample, so that judging it can be cached by identity.
const spokenTo = memoizeByObject((limits: TierLimits) =>
  memoizeByObject((sample: Sample): Spoken => ({ limits, sample })),
);
const spokenToAnybody = memoizeByObject((sample: Sample): Spoken => ({ limits: null, sample }));

const spokenIn = memoizeByObject(({ keys }: AllSamples): readonly Spoken[] =>
  keys.flatMap(({ limits, samples }) =>
    samples.filter(isKeyAccepted).map(limits === null ? spokenToAnybody : spokenTo(limits)),
  ),
);

interface Shown {
  readonly shown: AllSamples;
  readonly all: AllExchanges;
}

const byId = memoizeByObject(({ exchanges }: AllExchanges) => new Map(exchanges.map((each) => [each.id, each])));

/** All of these responses in the run. Of some invokes only the sample was kept, not the exchange. */
const spokenMembers = ({ shown, all }: Shown): readonly Member<Spoken>[] => membersIn(all)(shown);

const membersIn = memoizeByObject((all: AllExchanges) =>
  memoizeByObject((shown: AllSamples) =>
    spokenIn(shown).map((subject): Member<Spoken> => {
      const { id, kind, status } = subject.sample;
      const exchange = byId(all).get(id) ?? null;
      const cell = exchange === null ? { of: kind, kind: String(status) } : responseCell(exchange, all);
      return { cell, proof: exchange, subject };
    }),
  ),
);

interface SpokenParts<T, R extends string> {
  readonly as?: string;
  readonly expected: string;
  readonly members: (evidence: Shown) => readonly Member<T>[];
  /** Describes the mismatch; `null` if there is none, `undefined` if the clause does not apply. */
  readonly judge: (subject: T) => string | null | undefined;
  readonly whenEmpty?: Unproven;
  readonly judgeAcross?: (subjects: readonly T[], evidence: Shown) => Finding<R>;
}

/** Judges every response that has rate-limit headers and whose key the server accepts. */
const everyAnswer = <const K extends SpokenClause, T extends { readonly sample: Sample }>(
  clause: K,
  {
    expected,
    judge,
    whenEmpty = unproven("no answer had the headers in question"),
    ...more
  }: SpokenParts<T, ReadingOf<K>>,
): Check =>
  checkEvery(
    clause,
    { shown: allSamples, all: allExchanges },
    {
      ...more,
      matrix: {
        description: "every answer, to a key that is let in, that shows the value",
        cells: [],
        coverageProbe: null,
      },
      judge: (subject) => {
        const wrong = judge(subject);
        if (typeof wrong !== "string") return wrong;
        const { id, kind, status } = subject.sample;
        return { expected, actual: `${wrong} (${id}, ${kind}, ${status})` };
      },
      whenEmpty,
    },
  );

type SpokenClause = HeaderRule["clause"] | "HDR-14";

/** Options of a check that applies one rule to each response. */
const byRule = ({ expected, judge }: HeaderRule) => ({
  expected,
  members: spokenMembers,
  judge: ({ sample, limits }: Spoken) => judge(sample, limits),
});

/** Checks that need nothing but their rule. */
const byRuleAlone = headerRules
  .filter((rule) => rule !== notNegative && rule !== limitPublished)
  .map((rule) => everyAnswer(rule.clause, byRule(rule)));

/** Ids of requests to unknown paths. Their headers may describe the limit of the client's IP address, not of the key. */
const elsewhereIn = memoizeByObject(
  (all: AllExchanges): ReadonlySet<string> =>
    new Set(all.exchanges.filter((one) => isUnknownPath(one, all)).map(({ id }) => id)),
);

/** Clock facts by which to compare `Reset` with `Reset-After`. */
const resetsOf = memoizeByObject((shown: AllSamples): ResetContext => ({
  hasClock: shown.hasClock,
  startedUnixMs: shown.startedUnixMs,
  first: spokenIn(shown).find(({ sample }) => sample.reset !== null && sample.resetAfter !== null)?.sample ?? null,
}));

const resetIn = memoizeByObject((resets: ResetContext) => memoizeByObject((sample: Sample) => ({ resets, sample })));

/** Checks of every response that has rate-limit headers. */
export const responseChecks: readonly Check[] = [
  everyAnswer("HDR-9", { ...byRule(notNegative), as: "throughout" }),
  everyAnswer("HDR-10", {
    ...byRule(limitPublished),
    members: (evidence) =>
      spokenMembers(evidence).filter(
        ({ subject: { sample } }) => sample.status !== 404 && !elsewhereIn(evidence.all).has(sample.id),
      ),
    whenEmpty: unproven("no key's tier is known", anyOf("`keys.*.tier` in the target file", need("tier"))),
    judgeAcross: (_, { shown, all }) => follows(readingIn(shown, elsewhereIn(all))),
  }),
  everyAnswer("HDR-14", {
    expected: "`Reset` is Unix seconds, `Reset-After` from now within 2 s",
    members: (evidence) =>
      spokenMembers(evidence).map((each) => ({
        ...each,
        subject: resetIn(resetsOf(evidence.shown))(each.subject.sample),
      })),
    judge: ({ resets, sample }) => resetMismatchInRun(resets, sample),
  }),
  ...byRuleAlone,
];

function readingIn(shown: AllSamples, elsewhere: ReadonlySet<string>): "hour" | "minute" | "tighter" {
  const seen = new Set(
    spokenIn(shown).flatMap(({ limits, sample: { id, limit, status } }) =>
      // The headers of a 429 describe the window that refused, which may differ from that of other responses.
      limits === null || limit === null || status === 429 || elsewhere.has(id)
        ? []
        : [isMinuteLimit(limit, limits) ? "minute" : "hour"],
    ),
  );
  if (seen.size > 1) return "tighter";
  return seen.has("hour") ? "hour" : "minute";
}
