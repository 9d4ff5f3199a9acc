import { check, suite, type Suite } from "../../run/judge/check.ts";
import { breach, type Finding, holds, noted, unproven } from "../../run/judge/finding.ts";
import {
  areRepeatsExplained,
  type EqualRequests,
  failedCallsOf,
  type Failure,
  failureOf,
  firstEarlyRepeat,
  groupEqualRequests,
  type ObservedRuns,
  plainAndTroubled,
  type PlainAndTroubledRuns,
  ranPlainly,
  ranTroubled,
  waitsBeforeRetries,
} from "./probes.ts";
import { type RequestRule, requestRules } from "./request-rules.ts";
import { responseHandlingChecks } from "./response-handling-checks.ts";

const equalRequestsIn = ({ plain, troubled }: PlainAndTroubledRuns): EqualRequests[] =>
  groupEqualRequests(plain.runs, troubled.runs);

const hasFailure =
  (...kinds: readonly Failure["kind"][]) =>
  ({ calls }: EqualRequests): boolean =>
    calls.some((call) => {
      const failure = failureOf(call);
      return failure !== null && kinds.includes(failure.kind);
    });

const formatSeconds = (ms: number): string => `${(ms / 1000).toFixed(3)} s`;

const judgeWaitsAfter =
  (kind: "429" | "overload", name: string) =>
  (evidence: PlainAndTroubledRuns): Finding<never> => {
    const groups = equalRequestsIn(evidence).filter(hasFailure(kind));
    if (groups.length === 0) return unproven(`no request of the client got ${name}`);
    const repeated = groups.filter(({ repeats }) => repeats > 0);
    if (repeated.length === 0) return unproven(`the client sent no request again after ${name}`);
    const early = repeated
      .filter((group) => !areRepeatsExplained(group))
      .flatMap((group) =>
        failedCallsOf(group)
          .filter(({ failure }) => failure.kind === kind)
          .flatMap((failed) => {
            const call = firstEarlyRepeat(group, failed);
            return call === undefined ? [] : [{ failed, call }];
          }),
      );
    const [first] = early;
    if (first === undefined) return holds();
    const waitedMs = first.call.exchange.sentMs - first.failed.failure.fromMs;
    return breach(
      `the request is sent again ${formatSeconds(first.failed.failure.waitMs)} after ${name} or later, as its \`retry_after\` says`,
      `sent again after ${formatSeconds(waitedMs)}`,
      ...early.flatMap(({ failed, call }) => [failed.call.exchange, call.exchange]),
    );
  };

function judge5xxRetried(evidence: PlainAndTroubledRuns): Finding<never> {
  const groups = equalRequestsIn(evidence).filter(hasFailure("5xx"));
  if (groups.length === 0) return unproven("the client got no 5xx response");
  if (groups.some(({ repeats }) => repeats > 0)) return holds();
  // Leaves out interrupted runs: the client may have been waiting for its next retry.
  const ended = groups.filter(({ run }) => run.end.kind !== "interrupted");
  if (ended.length === 0) return unproven("the run was interrupted before the client could send the request again");
  const failed = ended.flatMap(({ calls }) => calls.filter((call) => failureOf(call)?.kind === "5xx"));
  return breach(
    "a request that got a 5xx response is sent again",
    `none of ${failed.length} was`,
    ...failed.slice(0, 5).map(({ exchange }) => exchange),
  );
}

/** Waits before retries count as equal if they differ by less than 25 ms or by less than 25 %: timers are inexact. */
const minGrowthMs = 25;
const minGrowthFactor = 1.25;

const hasGrowingWait = (waits: readonly number[]): boolean =>
  waits.some((ms, at) =>
    waits.slice(0, at).some((before) => ms >= before * minGrowthFactor && ms - before >= minGrowthMs),
  );

const areEqual = (waits: readonly number[]): boolean => {
  const [shortest, longest] = [Math.min(...waits), Math.max(...waits)];
  return longest < shortest * minGrowthFactor || longest - shortest < minGrowthMs;
};

/** Minimum number of retry waits, over all requests, to report that waits do not grow. Fewer can be equal by chance. */
const minWaitCount = 4;
/** Waits do not grow if they are equal for this share of the requests that the client retried at least twice. */
const equalWaitsShare = 0.75;

function judgeWaitsGrow(evidence: PlainAndTroubledRuns): Finding<never> {
  const groups = equalRequestsIn(evidence).filter((group) => waitsBeforeRetries(group).length >= 2);
  const chains = groups.map(waitsBeforeRetries);
  const isEnough = chains.flat().length >= minWaitCount;
  if (isEnough && chains.filter(areEqual).length >= chains.length * equalWaitsShare)
    return growthBreach(chains, groups);
  if (chains.some(hasGrowingWait)) return holds();
  return unproven(
    isEnough
      ? "the waits before retries of 5xx responses vary without an order"
      : "the client retried too few 5xx responses to tell whether its waits grow",
  );
}

const growthBreach = (chains: readonly (readonly number[])[], groups: readonly EqualRequests[]): Finding<never> =>
  breach(
    "each wait before a retry of a 5xx is longer than the one before",
    `waits of ${chains.map((waits) => waits.map(formatSeconds).join(", ")).join("; ")}`,
    ...groups.slice(0, 2).flatMap(({ calls }) => calls.slice(0, 5).map(({ exchange }) => exchange)),
  );

/** A client that gets this many 5xx to one request retries without end. An injected outage sends at most 20. */
const endlessAttempts = 20;

function judgeRetriesEnd(evidence: PlainAndTroubledRuns): Finding<never> {
  const groups = equalRequestsIn(evidence).filter((group) => hasFailure("5xx")(group) && group.repeats > 0);
  if (groups.length === 0) return unproven("the client retried no 5xx response");
  // Several planned sends of one request can all get a 5xx. Only the calls beyond these are retries.
  const attemptsOf = (group: EqualRequests): number =>
    failedCallsOf(group).filter(({ failure }) => failure.kind === "5xx").length - (group.planned - 1);
  const endless = groups.find((group) => attemptsOf(group) >= endlessAttempts);
  if (endless === undefined) return holds();
  return breach(
    `a request is given up, or slowed down, before ${endlessAttempts} attempts in 20 s`,
    `${endlessAttempts} attempts`,
    ...endless.calls.slice(0, 5).map(({ exchange }) => exchange),
  );
}

const retryableKinds: readonly Failure["kind"][] = ["429", "5xx", "overload"];
/** Failures after which a POST may have had its effect, and no response tells the client to send it again. */
const ambiguousKinds: readonly Failure["kind"][] = ["lost", "stream error", "stream cut"];

function judgeAmbiguousFailures(evidence: PlainAndTroubledRuns): Finding<never> {
  const groups = equalRequestsIn(evidence).filter(
    (group) => group.calls[0]?.exchange.request.method === "POST" && hasFailure(...ambiguousKinds)(group),
  );
  if (groups.length === 0) return unproven("the client got no failure after which a POST may have run");
  const repeated = groups.filter(
    (group) =>
      group.repeats > failedCallsOf(group).filter(({ failure }) => retryableKinds.includes(failure.kind)).length,
  );
  const [first] = repeated;
  if (first === undefined) return holds();
  const kinds = new Set(repeated.flatMap(failedCallsOf).map(({ failure }) => failure.kind));
  return breach(
    "a POST that may have run is not sent again unless a response says so",
    `sent again after: ${[...kinds].map((kind) => nameOf[kind]).join(", ")}`,
    ...first.calls.slice(0, 4).map(({ exchange }) => exchange),
  );
}

const nameOf: Readonly<Record<Failure["kind"], string>> = {
  "429": "a 429",
  "5xx": "a 5xx",
  lost: "a connection that broke",
  overload: "an `error` event with `retry_after`",
  "stream error": "an `error` event without `retry_after`",
  "stream cut": "a stream without its end",
};

const retryChecks = [
  check("CLI-12", plainAndTroubled, judgeWaitsAfter("429", "a 429")),
  check("CLI-13", plainAndTroubled, judge5xxRetried),
  check("CLI-14", plainAndTroubled, judgeWaitsGrow),
  check("CLI-15", plainAndTroubled, judgeRetriesEnd),
  check("CLI-16", plainAndTroubled, judgeAmbiguousFailures),
  check("CLI-17", plainAndTroubled, judgeWaitsAfter("overload", "an `error` event with `retry_after`")),
];

const maxListedRequests = 5;

const judgeRequests =
  ({ expected, noneReason, isAlwaysBreach, problemOf }: RequestRule) =>
  ({ isStrict, runs }: ObservedRuns): Finding<never> => {
    const judged = runs
      .flatMap(({ calls }) => calls)
      .map((call) => ({ call, problem: problemOf(call) }))
      .filter(({ problem }) => problem !== undefined);
    if (judged.length === 0) return unproven(noneReason);
    const wrong = judged.filter(({ problem }) => problem !== null);
    if (wrong.length === 0) return holds();
    const problems = [...new Set(wrong.map(({ problem }) => problem ?? ""))].slice(0, maxListedRequests);
    const found = breach(
      expected,
      `${problems.join("; ")} (${wrong.length} of ${judged.length} requests)`,
      ...wrong.slice(0, maxListedRequests).map(({ call }) => call.exchange),
    );
    return isAlwaysBreach === true || isStrict ? found : noted(found);
  };

const ruleChecks = Object.entries(requestRules).flatMap(([id, rule]) => [
  check(id as keyof typeof requestRules, ranPlainly, judgeRequests(rule)),
  check(id as keyof typeof requestRules, ranTroubled, judgeRequests(rule), { as: "under trouble" }),
]);

export const clientCalls: Suite = suite("Calling the service", [
  ...ruleChecks,
  ...retryChecks,
  ...responseHandlingChecks,
]);
