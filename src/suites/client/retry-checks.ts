import { check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, unproven } from "../../run/judge/finding.ts";
import { type Failure, failureOf } from "./failures.ts";
import { type Observed, ranPlainly, ranTroubled } from "./probes.ts";
import { earlyRepeat, failedCallsOf, type Group, groupsOf, isExplained, retryWaitsOf } from "./repeats.ts";

/** The evidence of both probes: runs without trouble, and runs with trouble. */
export interface Both {
  readonly plain: Observed;
  readonly troubled: Observed;
}

export const both = { plain: ranPlainly, troubled: ranTroubled } as const;

const groupsIn = ({ plain, troubled }: Both): Group[] => groupsOf(plain.runs, troubled.runs);

const hasFailure =
  (...kinds: readonly Failure["kind"][]) =>
  ({ calls }: Group): boolean =>
    calls.some((call) => {
      const failure = failureOf(call);
      return failure !== null && kinds.includes(failure.kind);
    });

/** Formats milliseconds as seconds with three decimals. */
const seconds = (ms: number): string => `${(ms / 1000).toFixed(3)} s`;

/** Judges whether repeats after a kind of failure wait as long as the failure asks for. */
const waitsAfter =
  (kind: "429" | "overload", name: string) =>
  (evidence: Both): Finding<never> => {
    const groups = groupsIn(evidence).filter(hasFailure(kind));
    if (groups.length === 0) return unproven(`no request of the client got ${name}`);
    const repeated = groups.filter(({ repeats }) => repeats > 0);
    if (repeated.length === 0) return unproven(`the client sent no request again after ${name}`);
    const early = repeated
      .filter((group) => !isExplained(group))
      .flatMap((group) =>
        failedCallsOf(group)
          .filter(({ failure }) => failure.kind === kind)
          .flatMap((failed) => {
            const call = earlyRepeat(group, failed);
            return call === undefined ? [] : [{ failed, call }];
          }),
      );
    const [first] = early;
    if (first === undefined) return holds();
    const waitedMs = first.call.exchange.sentMs - first.failed.failure.fromMs;
    return breach(
      `the request is sent again ${seconds(first.failed.failure.waitMs)} after ${name} or later, as its \`retry_after\` says`,
      `sent again after ${seconds(waitedMs)}`,
      ...early.flatMap(({ failed, call }) => [failed.call.exchange, call.exchange]),
    );
  };

function retries5xx(evidence: Both): Finding<never> {
  const groups = groupsIn(evidence).filter(hasFailure("5xx"));
  if (groups.length === 0) return unproven("the client got no 5xx response");
  if (groups.some(({ repeats }) => repeats > 0)) return holds();
  const failed = groups.flatMap(({ calls }) => calls.filter((call) => failureOf(call)?.kind === "5xx"));
  return breach(
    "a request that got a 5xx response is sent again",
    `none of ${failed.length} was`,
    ...failed.slice(0, 5).map(({ exchange }) => exchange),
  );
}

/** A retry within this time counts as immediate: the client and this machine take some time as well. */
const atOnceMs = 25;
/** A wait has grown if it is at least this many times an earlier one. */
const minGrowth = 1.25;

/** Whether some wait is clearly longer than an earlier one. */
const grows = (waits: readonly number[]): boolean =>
  waits.some((ms, at) => waits.slice(0, at).some((before) => ms >= before * minGrowth && ms - before >= atOnceMs));

/** Whether all waits are about the same. */
const isFlat = (waits: readonly number[]): boolean => {
  const [shortest, longest] = [Math.min(...waits), Math.max(...waits)];
  return longest < shortest * minGrowth || longest - shortest < atOnceMs;
};

/** Minimum number of waits to judge: random waits may be equal by chance. */
const minWaits = 4;
/**
 * The waits count as equal if at least this share of the series is. Single waits may be long because the machine is
 * slow.
 */
const flatShare = 0.75;

function waitsGrow(evidence: Both): Finding<never> {
  const groups = groupsIn(evidence).filter((group) => retryWaitsOf(group).length >= 2);
  const chains = groups.map(retryWaitsOf);
  const isEnough = chains.flat().length >= minWaits;
  if (isEnough && chains.filter(isFlat).length >= chains.length * flatShare) return growthBreach(chains, groups);
  if (chains.some(grows)) return holds();
  return unproven(
    isEnough
      ? "the waits before retries of 5xx responses vary without an order"
      : "the client retried too few 5xx responses to tell whether its waits grow",
  );
}

const growthBreach = (chains: readonly (readonly number[])[], groups: readonly Group[]): Finding<never> =>
  breach(
    "each wait before a retry of a 5xx is longer than the one before",
    `waits of ${chains.map((waits) => waits.map(seconds).join(", ")).join("; ")}`,
    ...groups.slice(0, 2).flatMap(({ calls }) => calls.slice(0, 5).map(({ exchange }) => exchange)),
  );

/** Number of 5xx responses to one request after which a client that still repeats it has not given up. */
const maxAttempts = 20;

function retriesEnd(evidence: Both): Finding<never> {
  const groups = groupsIn(evidence).filter((group) => hasFailure("5xx")(group) && group.repeats > 0);
  if (groups.length === 0) return unproven("the client retried no 5xx response");
  const endless = groups.find(
    (group) => failedCallsOf(group).filter(({ failure }) => failure.kind === "5xx").length >= maxAttempts,
  );
  if (endless === undefined) return holds();
  return breach(
    `a request is given up, or slowed down, before ${maxAttempts} attempts in 20 s`,
    `${maxAttempts} attempts`,
    ...endless.calls.slice(0, 5).map(({ exchange }) => exchange),
  );
}

const told: readonly Failure["kind"][] = ["429", "5xx", "overload"];
const untold: readonly Failure["kind"][] = ["lost", "stream error", "stream cut"];

function repeatsNothingUntold(evidence: Both): Finding<never> {
  const groups = groupsIn(evidence).filter(
    (group) => group.calls[0]?.exchange.request.method === "POST" && hasFailure(...untold)(group),
  );
  if (groups.length === 0) return unproven("the client got no failure after which a POST may have run");
  const repeated = groups.filter(
    (group) => group.repeats > failedCallsOf(group).filter(({ failure }) => told.includes(failure.kind)).length,
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

export const retryChecks = [
  check("CLI-12", both, waitsAfter("429", "a 429")),
  check("CLI-13", both, retries5xx),
  check("CLI-14", both, waitsGrow),
  check("CLI-15", both, retriesEnd),
  check("CLI-16", both, repeatsNothingUntold),
  check("CLI-17", both, waitsAfter("overload", "an `error` event with `retry_after`")),
];
