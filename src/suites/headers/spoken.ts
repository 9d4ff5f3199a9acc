import { oncePer } from "../../base/once-per.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { ReadingOf } from "../../interface/clauses.ts";
import { endpointsAtPath } from "../../interface/endpoints.ts";
import { type AnswerRule, answerRules, isMinuteLimit, limitPublished, notNegative } from "../../limits/answer-rules.ts";
import { resetDisagreementIn } from "../../limits/reset-agreement.ts";
import type { Sample } from "../../limits/sample.ts";
import { isSpoken } from "../../limits/told-windows.ts";
import type { Check } from "../../run/check.ts";
import { type Finding, follows, type Unproven, unproven } from "../../run/finding.ts";
import { anyOf, need } from "../../run/lack.ts";
import { type Member, universal } from "../../run/universal.ts";
import { answerCell } from "../answers/field-checks.ts";
import { everything, type Everything } from "../answers/recorded.ts";
import { type AllShown, allShown, type KeyShown } from "./probes.ts";

/** Paths that neither the document nor the target file defines: an execution and an agent's details have none. */
export const isUnknownPath = ({ request }: Exchange, { batchPath }: Everything): boolean =>
  endpointsAtPath(request.url, { batch: batchPath ?? null }).length === 0;

/** One answer in which the limiter of a key spoke. */
interface Spoken {
  readonly key: KeyShown;
  readonly sample: Sample;
}

const spokenIn = ({ keys }: AllShown): Spoken[] =>
  keys.flatMap((key) => key.samples.flatMap((sample) => (isSpoken(sample) ? [{ key, sample }] : [])));

interface Shown {
  readonly shown: AllShown;
  readonly all: Everything;
}

const byId = oncePer(({ exchanges }: Everything) => new Map(exchanges.map((each) => [each.id, each])));

/** Every such answer of the run, also those of which only that was kept which the limiter showed: they are of invokes. */
const spokenMembers = ({ shown, all }: Shown): Member<Spoken>[] =>
  spokenIn(shown).map((subject) => {
    const { id, kind, status } = subject.sample;
    const exchange = byId(all).get(id) ?? null;
    const cell = exchange === null ? { of: kind, kind: String(status) } : answerCell(exchange, all);
    return { cell, proof: exchange, subject };
  });

interface SpokenParts<R extends string> {
  readonly as?: string;
  readonly expected: string;
  /** What is wrong with one, `null` where nothing is, `undefined` where it does not apply. */
  readonly say: (spoken: Spoken, evidence: Shown) => string | null | undefined;
  readonly none?: Unproven;
  readonly agree?: (subjects: readonly Spoken[], evidence: Shown) => Finding<R>;
}

/** Judges every answer in which the limiter of a key spoke. */
const everyAnswer = <const K extends SpokenClause>(
  clause: K,
  { expected, say, none = unproven("no answer had the headers in question"), ...more }: SpokenParts<ReadingOf<K>>,
): Check =>
  universal(
    clause,
    { shown: allShown, all: everything },
    {
      ...more,
      universe: { says: "every answer, to a key that is let in, that shows the value", cells: [], visitor: null },
      members: spokenMembers,
      say: (spoken, evidence) => {
        const wrong = say(spoken, evidence);
        if (typeof wrong !== "string") return wrong;
        const { id, kind, status } = spoken.sample;
        return { expected, actual: `${wrong} (${id}, ${kind}, ${status})` };
      },
      none,
    },
  );

type SpokenClause = AnswerRule["clause"] | "HDR-14";

const byRule = ({ say }: AnswerRule, { sample, key }: Spoken): string | null | undefined => say(sample, key.limits);

/** Judged by the rule alone; the other rules have a word to add. */
const byRuleAlone = answerRules
  .filter((rule) => rule !== notNegative && rule !== limitPublished)
  .map((rule) => everyAnswer(rule.clause, { expected: rule.expected, say: (spoken) => byRule(rule, spoken) }));

/** Where nobody is asked for a key, the headers may speak of the address; so may a 404 that comes before the key is looked at. */
const elsewhereIn = oncePer(
  (all: Everything): ReadonlySet<string> =>
    new Set(all.exchanges.filter((one) => isUnknownPath(one, all)).map(({ id }) => id)),
);

/** The first answer that told of its reset. */
const firstReset = oncePer(
  (shown: AllShown): Sample | null =>
    spokenIn(shown).find(({ sample }) => sample.reset !== null && sample.resetAfter !== null)?.sample ?? null,
);

/** What is said of every answer in which the limiter of a key spoke. */
export const spokenChecks: readonly Check[] = [
  everyAnswer("HDR-9", {
    as: "throughout",
    expected: notNegative.expected,
    say: (spoken) => byRule(notNegative, spoken),
  }),
  everyAnswer("HDR-10", {
    expected: limitPublished.expected,
    say: (spoken, { all }) => {
      const { id, status } = spoken.sample;
      return status === 404 || elsewhereIn(all).has(id) ? undefined : byRule(limitPublished, spoken);
    },
    none: unproven("no key's tier is known", anyOf("`keys.*.tier` in the target file", need("tier"))),
    agree: (_, { shown, all }) => follows(readingIn(shown, elsewhereIn(all))),
  }),
  everyAnswer("HDR-14", {
    expected: "`Reset` is Unix seconds, `Reset-After` from now within 2 s",
    say: ({ sample }, { shown }) =>
      resetDisagreementIn(
        { hasClock: shown.hasClock, startedUnixMs: shown.startedUnixMs, first: firstReset(shown) },
        sample,
      ),
  }),
  ...byRuleAlone,
];

function readingIn(shown: AllShown, elsewhere: ReadonlySet<string>): "hour" | "minute" | "tighter" {
  const seen = new Set(
    spokenIn(shown).flatMap(({ key: { limits }, sample: { id, limit, status } }) =>
      // A 429 speaks of the window that refused, whatever the other answers speak of.
      limits === null || limit === null || status === 429 || elsewhere.has(id)
        ? []
        : [isMinuteLimit(limit, limits) ? "minute" : "hour"],
    ),
  );
  if (seen.size > 1) return "tighter";
  return seen.has("hour") ? "hour" : "minute";
}
