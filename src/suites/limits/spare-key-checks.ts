import { minuteMs } from "../../base/duration.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { minuteOverMs } from "../../rules/limits/key-history.ts";
import { type Sample, isAdmitted, isAgentCall, isRefused, sampleOf } from "../../rules/limits/sample.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { type Finding, breach, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { probe } from "../../run/probe.ts";
import { need } from "../../run/skip-reason.ts";
import { newestRequirements } from "../../spec/clause.ts";
import { usableKeys } from "../../target/target.ts";
import { fallBetween, sortAndMarkOverlaps } from "../shared/compare-samples.ts";
import { hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import { type RunKeyHistory, judgeKeyHistory, keyHistoryOf, maxAdmittedWithin } from "./key-history.ts";
import { continuesAfter, judgeReleased, judgeTooFew, refusals } from "./slot-checks.ts";
import { type SpareSlotsEvidence, spareSlotsLeft } from "./spare-key-slots.ts";
import { type PartnerUse, spareMinuteExhausted } from "./spare-key.ts";

interface UsedUpKey {
  readonly key: string;
  readonly history: RunKeyHistory;
  readonly othersMs: readonly number[];
}

export const usedUpKeys = probe(
  "the requests of every key that was used up are looked over",
  { since: "1.1", requests: 0, stage: "review" },
  async ({ target, recorder, discovery }): Promise<{ readonly keys: readonly UsedUpKey[] }> => {
    if (target.clock !== null) return { keys: [] };
    const histories = usableKeys(target).flatMap((key) => {
      const limits = limitsOf(key, target);
      const context = { target, recorder, discovery, idleSinceMs: null, requirements: newestRequirements };
      if (limits === null) return [];
      const history = keyHistoryOf(key, limits, context);
      return [{ key: key.name, history: { ...history, countedReadIds: idsOfCountedReads(history.samples) } }];
    });
    return {
      keys: histories
        .filter(
          ({ history: { samples, limits } }) =>
            samples.some(isRefused) || maxAdmittedWithin(samples, minuteMs) > limits.perMinute,
        )
        .map((each) => ({
          ...each,
          othersMs: histories
            .filter(({ key }) => key !== each.key)
            .flatMap(({ history }) => history.samples.filter(isCounted).map(({ headMs }) => headMs)),
        })),
    };
  },
);

const fallsByOne = (from: Sample | undefined, to: Sample | undefined): boolean | null => {
  const fall = from === undefined || to === undefined ? null : fallBetween(from, to);
  return fall === null ? null : fall.fell === 1;
};

/**
 * Returns the ids of GET requests that counted: `Remaining` fell by 1 with the request, and by 1 with the next one. If
 * one list request counted, and `Remaining` contradicts this for no other list request, all list requests count.
 */
export function idsOfCountedReads(samples: readonly Sample[]): string[] {
  const counting = sortAndMarkOverlaps(samples.filter(({ kind }) => kind !== "health"));
  const reads = counting.flatMap(({ sample, isAfterAll, isBeforeNext }, index) => {
    if (!isAdmitted(sample) || isAgentCall(sample)) return [];
    const isAlone = isAfterAll && isBeforeNext;
    const [before, after] = [counting[index - 1]?.sample, counting[index + 1]?.sample];
    const falls = isAlone ? [fallsByOne(before, sample), fallsByOne(sample, after)] : [null, null];
    return [{ sample, isCounted: falls.every(Boolean), mayBeFree: falls.includes(false) }];
  });
  const counted = reads.filter(({ isCounted }) => isCounted).map(({ sample }) => sample);
  const isListCounted =
    counted.some(({ kind }) => kind === "list") &&
    reads.every(({ sample, mayBeFree }) => sample.kind !== "list" || !mayBeFree);
  const lists = isListCounted ? reads.filter(({ sample }) => sample.kind === "list").map(({ sample }) => sample) : [];
  return [...new Set([...counted, ...lists].map(({ id }) => id))];
}

const isCounted = (sample: Sample): boolean => isAdmitted(sample) && sample.kind !== "health";

const reportsMinuteExhausted = (sample: Sample, { limits: { perMinute } }: RunKeyHistory): boolean =>
  isRefused(sample) &&
  sample.limit === perMinute &&
  sample.remaining === 0 &&
  sample.resetAfter !== null &&
  sample.resetAfter * 1000 <= minuteOverMs;

interface Shortfall {
  readonly before: Sample;
  readonly refusal: Sample;
  readonly left: number;
  readonly others: number;
}

function findShortfall({ history, othersMs }: UsedUpKey): Shortfall | null {
  const { samples, lookalikes, limits } = history;
  if (limits.burst === null || limits.burst < limits.perMinute) return null;
  const sorted = [...samples, ...lookalikes].toSorted((a, b) => a.sentMs - b.sentMs);
  const found = sorted.flatMap((refusal, index): Shortfall[] => {
    const before = sorted.slice(0, index).findLast(isCounted);
    if (!reportsMinuteExhausted(refusal, history) || before === undefined || before.limit !== limits.perMinute)
      return [];
    // Number of other requests that ran from `before` to `refusal`, and possibly lowered `Remaining`.
    const between = sorted.filter((each) => each.endMs >= before.sentMs && each.sentMs <= refusal.headMs).length - 2;
    const left = before.remaining ?? 0;
    const others = othersMs.filter((ms) => ms >= refusal.sentMs - minuteOverMs && ms <= refusal.headMs).length;
    return left >= minLeft + between ? [{ before, refusal, left, others }] : [];
  });
  return found[0] ?? null;
}

/** A 429 proves a breach only after a `Remaining` of at least this. Some servers update this header late. */
const minLeft = 2;

const describeShortfall = ({ key }: UsedUpKey, { before, refusal, left }: Shortfall): string =>
  `429 that says the minute of the key \`${key}\` is used up (${refusal.id}), after \`Remaining: ${left}\` (${before.id})`;

/** Whether the other keys sent enough requests to explain the refusal by a shared limit. */
const isShared = ({ left, others }: Shortfall): boolean => others >= left;

function judgePartnerUse(use: PartnerUse | null): Finding<never> | null {
  if (use === null || ![use.before, ...use.partner, use.after].every(isSuccess)) return null;
  const fall = fallBetween(sampleOf(use.before), sampleOf(use.after));
  if (fall === null || fall.fell <= use.partner.length) return null;
  return breach(
    "`Remaining` of a key falls by 1 with its own request",
    `it fell by ${fall.fell}, with ${use.partner.length} requests of another key in between`,
    use.before,
    use.after,
  );
}

const usedAndSpare = { used: usedUpKeys, spare: spareMinuteExhausted };
const everyKey = { as: "every key", since: "1.1" } as const;

function judgeEach(
  { keys }: { readonly keys: readonly UsedUpKey[] },
  judge: (used: UsedUpKey) => Finding<never> | null,
): Finding<never> {
  if (keys.length === 0) return inapplicable("no minute of a key was used up on a real clock");
  return keys.map(judge).find((found) => found !== null) ?? holds();
}

const checkEachKey = (clause: "LIM-1" | "LIM-2", judge: (used: UsedUpKey) => Finding<never> | null): Check =>
  check(clause, usedAndSpare, ({ used }) => judgeEach(used, judge), everyKey);

type LeftSlots = Extract<SpareSlotsEvidence, { kind: "left" }>;

const checkSlots = (
  clause: "LIM-6" | "LIM-17" | "LIM-18" | "SSE-27",
  as: string,
  judge: (left: LeftSlots) => Finding<never>,
): Check =>
  check(
    clause,
    spareSlotsLeft,
    (given) => {
      if (given.kind === "not needed") return inapplicable(given.reason);
      if (given.kind === "no agent") return unproven("no agent is known to stream", need("agents.slowStreaming"));
      if (given.kind === "fast stream")
        return unproven(
          `no stream lasts: ${isSuccess(given.stream) ? "`stream_delay_ms` has no effect" : outcomeOf(given.stream)}`,
          need("agents.slowStreaming"),
        );
      return judge(given);
    },
    { as, since: "1.1" },
  );

const judgeFree = (after: Exchange | null | undefined, when: string): Finding<never> =>
  after === null || after === undefined ? unproven("no slot was free before") : judgeReleased(after, when);

export const spareKeyChecks: readonly Check[] = [
  checkEachKey("LIM-1", ({ history, key }) => {
    const judged = judgeKeyHistory(history);
    if (judged.kind === "explained" || judged.breach !== "too many admitted" || judged.limit !== "minute") return null;
    return breach(`${judged.expected}, on every key`, `${judged.actual}, on the key \`${key}\``);
  }),
  checkEachKey("LIM-2", (each) => {
    const found = findShortfall(each);
    if (found === null || isShared(found)) return null;
    return breach(`${each.history.limits.perMinute} requests a minute are admitted`, describeShortfall(each, found));
  }),
  check(
    "LIM-9",
    usedAndSpare,
    ({ used, spare }) => {
      const shared = judgePartnerUse(spare.between ?? null);
      if (shared !== null) return shared;
      if (!spare.isSpare && used.keys.length < 2) return inapplicable("only one key was used up");
      return judgeEach(used, (each) => {
        const found = findShortfall(each);
        if (found === null || !isShared(found)) return null;
        return breach(
          "use of other keys does not use up a key's minute",
          `${describeShortfall(each, found)}; in that minute ${found.others} requests of other keys were admitted`,
        );
      });
    },
    everyKey,
  ),
  checkSlots("LIM-18", "spare key", ({ streams, extra, isAnsweredMeanwhile, concurrent, after }) => {
    const refused = streams.find((each) => !isSuccess(each));
    if (refused !== undefined) return unproven(`not all of ${concurrent} streams opened (${outcomeOf(refused)})`);
    if (hasStatus(extra, 429) || !isAnsweredMeanwhile) return holds();
    if (!isSuccess(extra)) return unproven(`the request beyond the streams got ${outcomeOf(extra)}`);
    if (!streams.every((stream) => continuesAfter(stream, extra.answer.endMs)))
      return unproven("a stream had ended when one more request was admitted");
    return breach(
      `a request beyond ${concurrent} open streams is refused with 429, or waits`,
      `${outcomeOf(extra)} while all ${concurrent} streams went on`,
      extra,
      ...after.slice(0, 1),
    );
  }),
  checkSlots("LIM-6", "spare key", ({ streams, concurrent, after }) => {
    const refused = refusals(streams);
    if (refused.length === 0)
      return streams.every(isSuccess) ? holds() : unproven(`not all of ${concurrent} streams opened`);
    const later = after.find(isSuccess);
    if (later === undefined) return unproven("later requests were refused, too");
    return judgeTooFew({ concurrent, admitted: streams.filter(isSuccess).length, refused, after: later }, "streams");
  }),
  checkSlots("SSE-27", "spare key", ({ streams, extra, isAnsweredMeanwhile, after, reopened, ended }) => {
    if (!streams.every(isSuccess)) return unproven("not all streams opened");
    if (streams.some(({ answer }) => answer.kind === "answered" && answer.ending.kind === "complete"))
      return unproven("a stream ended before the harness closed it");
    if (isAnsweredMeanwhile && !hasStatus(extra, 429))
      return unproven(`one more request was not refused (${outcomeOf(extra)}), so slots cannot be observed`);
    const closed = "some seconds after all streams were closed";
    const onSlots = [...reopened, ...(ended === null ? [] : [ended.stream])];
    const refused = after.some(isSuccess) ? onSlots.find((each) => !isSuccess(each)) : undefined;
    return judgeFree(refused ?? after.at(-1), closed);
  }),
  checkSlots("LIM-17", "spare key, streams", ({ ended }) => {
    if (ended === null) return unproven("no slot was free before");
    if (!isSuccess(ended.stream)) return unproven(`the stream got ${outcomeOf(ended.stream)}`);
    return judgeFree(ended.afterStream, "after a stream that ended well");
  }),
  checkSlots("LIM-17", "spare key, refused input", ({ ended }) => {
    if (ended === null || !isSuccess(ended.afterStream)) return unproven("no slot was free before");
    if (ended.badInput === null || !hasStatus(ended.badInput, 400))
      return unproven("no request without `query` answered 400");
    return judgeFree(ended.afterInput, "after a request that answered 400");
  }),
];
