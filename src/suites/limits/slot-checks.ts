import { type Exchange, statusOf } from "../../evidence/exchange.ts";
import { announcesWaitOverHour } from "../../rules/limits/header-rules.ts";
import { tokensExplain } from "../../rules/limits/month-tokens.ts";
import { sampleOf } from "../../rules/limits/sample.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import { failuresBeyondSlots, slotsHeld } from "./slot-probes.ts";
import { failedStreamsBeyondSlots, streamsHeld } from "./stream-slot-probes.ts";

/** Minimum duration of an invoke of an agent with the role `slow`, by the definition of that role. */
const minSlowMs = 1000;

/** Whether a stream continued after the given time. One later event proves nothing, because it may be delayed. */
export const continuesAfter = ({ answer: stream }: Exchange, ms: number): boolean =>
  stream.kind === "answered" && stream.events.filter(({ atMs }) => atMs > ms).length >= 2;

const findAdmittedExtra = (streams: readonly Exchange[], extras: readonly Exchange[]): Exchange | undefined =>
  extras.find((each) => isSuccess(each) && streams.every((stream) => continuesAfter(stream, each.answer.endMs)));

/** Returns the time of the first event, not of the headers. A server can send headers before a slot is free. */
const firstEventMs = ({ answer }: Exchange): number =>
  (answer.kind === "answered" ? answer.events[0]?.atMs : undefined) ?? Number.POSITIVE_INFINITY;

const isRefusedForRate = (each: Exchange): boolean => hasStatus(each, 429) && sampleOf(each).remaining === 0;

function unprovenIfRefused(after: Exchange): Finding<never> | null {
  return isSuccess(after) ? null : unproven(`once all had ended, a request still got ${outcomeOf(after)}`);
}

const isRefusedForSlots = (each: Exchange): boolean =>
  hasStatus(each, 429) && !isRefusedForRate(each) && !announcesWaitOverHour(sampleOf(each));

export const refusals = (exchanges: readonly Exchange[]): Exchange[] =>
  exchanges.filter((each) => hasStatus(each, 429));

interface TooFew {
  readonly concurrent: number;
  readonly admitted: number;
  readonly refused: readonly Exchange[];
  readonly after: Exchange;
}

/** Judges LIM-6 if some requests were refused: the target must admit the published number of concurrent requests. */
export function judgeTooFew(
  { concurrent, admitted, refused, after }: TooFew,
  what: "requests" | "streams",
): Finding<never> {
  const forSlots = refused.filter(isRefusedForSlots);
  if (forSlots.length === 0 || admitted + (refused.length - forSlots.length) >= concurrent)
    return unproven(`${what} were refused for the rate or the month's tokens`);
  const expected = `${concurrent} ${what} at once are admitted`;
  return unprovenIfRefused(after) ?? breach(expected, `only ${admitted} were`, ...forSlots.slice(0, 1));
}

export const slotChecks: readonly Check[] = [
  check("LIM-5", slotsHeld, ({ concurrent, held, extra, extraEndedAfterMs, after }) => {
    if (!held.every(isSuccess))
      return unproven(`of ${concurrent} requests at once, only ${held.filter(isSuccess).length} were admitted`);
    if (hasStatus(extra, 429)) return unprovenIfRefused(after) ?? holds();
    if (!isSuccess(extra)) return unproven(`the request beyond them got ${outcomeOf(extra)}`);
    if (extraEndedAfterMs >= minSlowMs * 0.9)
      return unproven("the request beyond them was admitted, perhaps only once one of them had ended");
    return breach(
      `at most ${concurrent} requests at once: one more is refused with 429, or waits`,
      `${concurrent + 1} slow requests ran at once; the last ended at most ${Math.round(extraEndedAfterMs)} ms after the first`,
      extra,
    );
  }),
  check(
    "LIM-9",
    slotsHeld,
    ({ held, twin }) => {
      if (twin === null) return inapplicable("the tier has one key");
      if (!held.every(isSuccess)) return unproven("not all slots of the first key were held");
      if (isSuccess(twin.during)) return holds();
      if (!hasStatus(twin.during, 429)) return unproven(`the request of the other key got ${outcomeOf(twin.during)}`);
      if (!isSuccess(twin.after)) return unproven("the other key was refused all the same once the slots were free");
      if (isRefusedForRate(twin.during)) return unproven("the other key was refused for the rate");
      return breach(
        "a key is admitted while another key of its tier holds all its slots",
        "429, and admitted once they were free",
        twin.during,
      );
    },
    { as: "same tier, slots" },
  ),
  check(
    "HLT-15",
    slotsHeld,
    ({ extra, health }) => {
      if (hasStatus(health, 429))
        return breach("health answers 200 while all slots are held", outcomeOf(health), health, extra);
      if (!hasStatus(extra, 429)) return unproven("no request was refused for its slot");
      return isSuccess(health) ? holds() : unproven(`health got ${outcomeOf(health)}`);
    },
    { as: "slots held" },
  ),
  check(
    "LIM-12",
    slotsHeld,
    ({ extra, batch }) => {
      if (batch === null) return unproven("the path of a batch is not known", "`paths.batch` in the target file");
      if (!hasStatus(extra, 429)) return unproven("no request was refused for its slot");
      const { during, after } = batch;
      if ((statusOf(during) ?? 500) < 500) return holds();
      if (after === null || !isSuccess(after)) return unproven(`a batch gets ${outcomeOf(after ?? during)}`);
      return breach(
        "a batch beyond the slots is refused with 429, or accepted",
        outcomeOf(during),
        during,
        after,
        extra,
      );
    },
    { as: "slots held" },
  ),
  check("LIM-6", slotsHeld, ({ concurrent, held, extra, after }) => {
    const refused = refusals(held);
    // Includes `extra`, which was sent last: it can get the slot of a held request that the target refused.
    const admitted = [...held, extra].filter(isSuccess).length;
    if (refused.length === 0 || admitted >= concurrent)
      return admitted >= concurrent ? holds() : unproven(`only ${admitted} of ${concurrent} slow requests succeeded`);
    return judgeTooFew({ concurrent, admitted, refused, after }, "requests");
  }),
  check("LIM-17", slotsHeld, ({ held, after }) => {
    if (!held.some(isSuccess)) return unproven("no slow request was admitted");
    return judgeReleased(after, `after ${held.filter(isSuccess).length} requests that ended well`);
  }),
  check(
    "LIM-17",
    failuresBeyondSlots,
    ({ concurrent, before, refusedInput, between }) => {
      if (!isSuccess(before)) return unproven(`the request before got ${outcomeOf(before)}`);
      const ended = refusedInput.filter((each) => statusOf(each) === 400).length;
      if (ended === 0) return unproven("no request without `query` answered 400");
      const tried = { concurrent, sent: refusedInput, ended };
      return judgeReleasedByAll(between, tried, "requests that answered 400");
    },
    { as: "refused input" },
  ),
  check(
    "LIM-17",
    failuresBeyondSlots,
    ({ concurrent, between, failed, after }) => {
      if (!isSuccess(between)) return unproven(`the request before got ${outcomeOf(between)}`);
      const ended = failed.filter((each) => (statusOf(each) ?? 0) >= 500).length;
      if (ended === 0) return unproven("no request failed");
      return judgeReleasedByAll(after, { concurrent, sent: failed, ended }, "requests that failed");
    },
    { as: "failure" },
  ),
  check(
    "LIM-17",
    failedStreamsBeyondSlots,
    ({ concurrent = 0, before, failed, after }) => {
      if (!isSuccess(before)) return unproven(`the request before got ${outcomeOf(before)}`);
      const ended = failed.filter((each) => isSuccess(each) && endsIn(each, "error")).length;
      return ended === 0
        ? unproven("no stream ended in an error")
        : judgeReleasedByAll(after, { concurrent, sent: failed, ended }, "streams that ended in an error");
    },
    { as: "streams that fail" },
  ),
  check(
    "LIM-17",
    streamsHeld,
    ({ streams, after }) => {
      const ended = streams.filter(isSuccess).length;
      return ended === 0 ? unproven("no stream was opened") : judgeReleased(after, `after ${ended} streams that ended`);
    },
    { as: "streams" },
  ),
  check(
    "LIM-6",
    streamsHeld,
    ({ concurrent, streams, after }) => {
      const refused = refusals(streams);
      const opened = streams.filter(isSuccess).length;
      if (refused.length === 0)
        return opened === concurrent ? holds() : unproven(`only ${opened} of ${concurrent} streams opened`);
      return judgeTooFew({ concurrent, admitted: opened, refused, after }, "streams");
    },
    { as: "streams" },
  ),
  check(
    "LIM-5",
    streamsHeld,
    ({ concurrent, streams, extras, more, after }) => {
      const open = streams.filter(isSuccess);
      if (open.length < concurrent)
        return unproven(`of ${concurrent} streams at once, only ${open.length} were opened`);
      if (findAdmittedExtra(open, extras) === undefined) return unprovenIfRefused(after) ?? holds();
      const beyond = more.filter(
        (each) => isSuccess(each) && open.every((stream) => continuesAfter(stream, firstEventMs(each))),
      );
      const refused = more.find(isRefusedForSlots);
      if (refused === undefined || beyond.length === 0)
        return unproven(
          "a request beyond the streams was admitted; no further stream shows whether streams hold slots",
        );
      return (
        unprovenIfRefused(after) ??
        breach(
          `at most ${concurrent} requests at once: one more is refused with 429, or waits`,
          `${concurrent + beyond.length} streams went on at once; the next was refused`,
          ...beyond,
          refused,
        )
      );
    },
    { as: "streams" },
  ),
  check("LIM-18", streamsHeld, ({ concurrent, streams, extras, after }) => {
    const open = streams.filter(isSuccess);
    if (open.length < concurrent)
      return unproven(
        `of ${concurrent} streams at once, only ${open.length} were opened (${outcomeOf(streams.find((each) => !isSuccess(each)) ?? after)})`,
      );
    const slipped = findAdmittedExtra(open, extras);
    if (slipped !== undefined)
      return breach(
        `a request beyond ${concurrent} open streams is refused with 429, or waits`,
        `${outcomeOf(slipped)} while all ${concurrent} streams went on`,
        slipped,
      );
    return unprovenIfRefused(after) ?? holds();
  }),
];

const endsIn = ({ answer }: Exchange, name: string): boolean =>
  answer.kind === "answered" && answer.events.at(-1)?.name === name;

interface EndedRequests {
  readonly concurrent: number;
  readonly sent: readonly Exchange[];
  /** Number of requests in `sent` that ended in the way that the check is about. */
  readonly ended: number;
}

/**
 * Like {@link judgeReleased}. If an admitted request could also mean that some slots were never in use, the result is
 * `unproven`: too few requests ended, and no 429 showed that all slots were in use.
 */
function judgeReleasedByAll(after: Exchange, { concurrent, sent, ended }: EndedRequests, what: string): Finding<never> {
  if (isSuccess(after) && ended < concurrent && !sent.some(isRefusedForSlots))
    return unproven(`${ended} ${what} cannot use up ${concurrent} slots`);
  return judgeReleased(after, `after ${ended} ${what}`);
}

/** Judges LIM-17: once earlier requests have ended, the target admits a new request. */
export function judgeReleased(after: Exchange, when: string): Finding<never> {
  if (isSuccess(after)) return holds();
  if (!hasStatus(after, 429)) return unproven(`the request ${when} got ${outcomeOf(after)}`);
  if (sampleOf(after).remaining === 0) return unproven(`the request ${when} was refused for the rate`);
  if (announcesWaitOverHour(sampleOf(after))) return unproven(tokensExplain);
  return breach(`a request ${when} is admitted: their slots are released`, "429", after);
}
