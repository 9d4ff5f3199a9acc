import type { Exchange } from "../../evidence/exchange.ts";
import type { EndpointName } from "../../spec/endpoints.ts";
import { type Check, check, observe, suite } from "../../run/judge/check.ts";
import { breach, follows, holds, observed, type Unproven, unproven } from "../../run/judge/finding.ts";
import type { KeyTrial, KeyTrials } from "../shared/key-trials/send-trials.ts";
import {
  checkKeys,
  type JudgedTrial,
  judgeTrialsBy,
  judgeTrials,
  judgeWhereWrongKeyRejected,
  type TrialVerdict,
} from "../shared/key-trials/key-checks.ts";
import type { RejectedKeyKind } from "../../spec/rejected-key-kinds.ts";
import { keyKindsOf } from "../shared/key-trials/expectations.ts";
import { alertCrossed } from "../alerts/probes.ts";
import { codeOf, errorOf, hasStatus, isInconclusive, isSuccess, outcomeOf } from "../shared/response.ts";
import {
  endpointOf,
  type AllExchanges,
  allExchanges,
  hasValidKey,
  endpointsWithControl,
} from "../shared/all-exchanges.ts";
import { formatValue } from "../../base/format-value.ts";
import { invoked } from "../invoke/probes.ts";
import { keyUsageRead, webhookCreated } from "../keys/probes.ts";
import { batchSubmitted } from "../operations/probes.ts";
import { streamed } from "../stream/probes.ts";
import { everyKeyUsed, expiredKeySent } from "./probes.ts";
import { signingChecks } from "./signing.ts";
import { type UnauthenticatedTrials, unauthenticatedSent } from "./unauthenticated-probe.ts";

/** All that was sent, with what came of strangers. */
interface Both {
  readonly strangers: UnauthenticatedTrials;
  readonly all: AllExchanges;
}

export const keyCheckProbes = { strangers: unauthenticatedSent, all: allExchanges } as const;

/** With a valid key's request to each endpoint that every target has, so that they have their positive controls. */
export const onEveryEndpoint = { ...keyCheckProbes, invoked, streamed, read: keyUsageRead } as const;
/** With a good key's requests to every endpoint, as far as the target has them. */
export const positiveControls = {
  also: [invoked, streamed, keyUsageRead, webhookCreated, alertCrossed, batchSubmitted],
} as const;

/** Endpoints that every target has: not to be shown on one of them is not to be shown. */
const everywhere = [
  "invoke",
  "stream",
  "health",
  "list",
  "usage",
  "keyUsage",
] as const satisfies readonly EndpointName[];

const ofKinds = ({ cells }: KeyTrials, ...kinds: readonly RejectedKeyKind[]): KeyTrial[] =>
  cells.filter(({ kind }) => kinds.includes(kind));

const at = (cells: readonly KeyTrial[], endpoint: EndpointName): Exchange | undefined =>
  cells.find((cell) => cell.endpoint === endpoint)?.exchange;

const isRefused = ({ exchange }: KeyTrial): boolean => hasStatus(exchange, 401);

/** The first cell that shows something: what it shows is AUTH-2's or AUTH-3's, on other endpoints AUTH-8's. */
const firstShown = (cells: readonly KeyTrial[], proven: ReadonlySet<EndpointName>): KeyTrial | undefined =>
  cells.find((cell) => proven.has(cell.endpoint) && !isInconclusive(cell.exchange));

/** A key that comes close to a good one is refused wherever a wrong key is. */
const nearMiss = (clause: "AUTH-5" | "AUTH-6", expected: string): Check =>
  checkKeys(clause, keyCheckProbes, {
    kinds: keyKindsOf(clause),
    expected: () => expected,
    judged: ({ strangers, all }) => {
      const refusing = new Set(
        ofKinds(strangers, "a wrong key")
          .filter(isRefused)
          .map(({ endpoint }) => endpoint),
      );
      const compared = ofKinds(strangers, ...keyKindsOf(clause)).filter(({ endpoint }) => refusing.has(endpoint));
      return judgeTrials(compared, endpointsWithControl(all));
    },
  });

/** Why it is not proven on every endpoint that every target has, and that was asked; `null` where it is. */
function notEverywhere(asked: readonly KeyTrial[], right: readonly KeyTrial[]): Unproven | null {
  const shown = new Set(right.map(({ endpoint }) => endpoint));
  const wanted = new Set<EndpointName>([...everywhere, ...asked.map(({ endpoint }) => endpoint)]);
  const open = [...wanted].filter((endpoint) => !shown.has(endpoint));
  if (open.length === 0) return null;
  return unproven(
    `not proven on ${open.join(", ")}: no request with a valid key succeeded there, or a 429 came first`,
    open.includes("stream") ? "`agents.streaming` in the target file" : null,
  );
}

type Stranger = "a wrong key" | "no key";

/** What such keys show where the first that shows anything is refused; where it is not, all that is not refused is wrong. */
function shownFrom(
  { strangers, all }: Both,
  kind: Stranger,
  whereRefused: (cell: KeyTrial) => TrialVerdict,
): JudgedTrial[] {
  const cells = ofKinds(strangers, kind);
  const proven = endpointsWithControl(all);
  const first = firstShown(cells, proven);
  if (first === undefined) return judgeTrialsBy(cells, () => "open");
  return judgeTrials(cells, proven).map(({ trial, verdict }) => ({
    trial,
    verdict: verdict === "wrong" && isRefused(first) ? whereRefused(trial) : verdict,
  }));
}

/** Whether the first that shows anything is a 401. */
function isFirstRefused({ strangers, all }: Both, kind: Stranger): boolean {
  const first = firstShown(ofKinds(strangers, kind), endpointsWithControl(all));
  return first !== undefined && isRefused(first);
}

/** 401 on every endpoint, as on the first one; where the first has none, this adds nothing to its breach. */
const uniform = (kind: Stranger, as: string): Check =>
  checkKeys("AUTH-8", onEveryEndpoint, {
    ...positiveControls,
    as,
    kinds: [kind],
    expected: () => "401 on every endpoint",
    judged: (evidence) =>
      isFirstRefused(evidence, kind)
        ? // The code is AUTH-3's.
          shownFrom(evidence, kind, (cell) => (isRefused(cell) ? "right" : "wrong"))
        : [],
    alsoRequire: ({ strangers }, right) => notEverywhere(ofKinds(strangers, kind), right),
    whenEmpty: (evidence) =>
      isFirstRefused(evidence, kind) ? null : unproven(`${kind} does not meet a 401 at all (AUTH-2, AUTH-3)`),
  });

/** REQ-2 is judged on the same evidence; it stands with the common request rules. */
export const keyRequired: Check = checkKeys("REQ-2", onEveryEndpoint, {
  ...positiveControls,
  kinds: ["no key"],
  expected: () => "a request without a key is not let in",
  judged: ({ strangers, all }) => {
    const proven = endpointsWithControl(all);
    return judgeTrialsBy(ofKinds(strangers, "no key"), ({ endpoint, exchange }) => {
      if (isSuccess(exchange)) return "wrong";
      return proven.has(endpoint) && !isInconclusive(exchange) ? "right" : "open";
    });
  },
  alsoRequire: ({ strangers }, right) => notEverywhere(ofKinds(strangers, "no key"), right),
});

export const authentication = suite("Authentication", [
  check("AUTH-1", { all: allExchanges, everyKeyUsed }, ({ all, everyKeyUsed: { answers } }) => {
    const keyed = all.exchanges.filter((each) => endpointOf(each) !== null && hasValidKey(each, all));
    const refused = keyed.find((each) => hasStatus(each, 401)) ?? answers.find((each) => hasStatus(each, 401, 403));
    if (refused !== undefined)
      return breach(`the valid key ${formatValue(refused.key)} is let in`, outcomeOf(refused), refused);
    return keyed.some(isSuccess) ? holds() : unproven("no request with a valid key succeeded");
  }),
  checkKeys("AUTH-2", keyCheckProbes, {
    kinds: keyKindsOf("AUTH-2"),
    expected: () => "401",
    // Another answer on another endpoint is AUTH-8's.
    judged: (evidence) => shownFrom(evidence, "no key", () => "open"),
  }),
  checkKeys("AUTH-3", keyCheckProbes, {
    kinds: keyKindsOf("AUTH-3"),
    expected: () => "401 with the code `INVALID_API_KEY`",
    // Another status on another endpoint is AUTH-8's.
    judged: (evidence) => shownFrom(evidence, "a wrong key", (cell) => (isRefused(cell) ? "wrong" : "open")),
    whenEmpty: (evidence) =>
      isFirstRefused(evidence, "a wrong key")
        ? unproven("the 401 has no error code that can be read (ERR-2 to ERR-5)")
        : null,
  }),
  checkKeys(
    "AUTH-4",
    { ...keyCheckProbes, expired: expiredKeySent },
    {
      ...positiveControls,
      kinds: keyKindsOf("AUTH-4"),
      expected: () => "401 with the code `EXPIRED_API_KEY`",
      judged: ({ expired, ...rest }) => judgeWhereWrongKeyRejected(expired, rest),
    },
  ),
  nearMiss("AUTH-5", "401, as for any wrong key"),
  nearMiss("AUTH-6", "only a key after `Bearer` lets in"),
  observe("AUTH-7", unauthenticatedSent, (strangers) => {
    const { lowerCase } = strangers;
    const wrong = at(ofKinds(strangers, "a wrong key"), "health");
    if (lowerCase === null || wrong === undefined || !hasStatus(wrong, 401))
      return unproven("a wrong key on health did not get the 401 against which to tell it");
    return observed(isSuccess(lowerCase) ? "`bearer` is accepted" : `\`bearer\` answers ${outcomeOf(lowerCase)}`);
  }),
  uniform("a wrong key", "wrong"),
  uniform("no key", "missing"),
  observe("AUTH-9", unauthenticatedSent, (strangers) => {
    const refused = ofKinds(strangers, "no key").filter((each) => isRefused(each) && errorOf(each.exchange) !== null);
    const codes = new Set(refused.map(({ exchange }) => formatValue(codeOf(exchange) ?? undefined)));
    return codes.size > 0
      ? observed(`a missing key has the code ${[...codes].join(" or ")}`)
      : unproven("no missing key met a 401 with an error body");
  }),
  check(
    "AUTH-16",
    keyCheckProbes,
    (evidence) => {
      const asked = evidence.strangers.keyAndBodyMissing.filter((each) => !isInconclusive(each));
      if (asked.length === 0) return unproven("no request without a key and with an empty body came to an answer");
      if (!isFirstRefused(evidence, "no key")) return unproven("no key does not meet a 401 at all (AUTH-2)");
      const told = asked.find((each) => hasStatus(each, 400, 422));
      return told === undefined ? holds() : breach("401, although fields are absent", outcomeOf(told), told);
    },
    { as: "no key" },
  ),
  check("AUTH-16", unauthenticatedSent, (strangers) => {
    const { allWrong, keyAndBodyWrong } = strangers;
    const wrong = at(ofKinds(strangers, "a wrong key"), "invoke");
    if (wrong === undefined || !hasStatus(wrong, 401))
      return unproven("a wrong key alone does not get 401 on invoke (AUTH-3, AUTH-8)");
    const isTold = (asked: Exchange | null): asked is Exchange => asked !== null && !isInconclusive(asked);
    if (isTold(keyAndBodyWrong) && !hasStatus(keyAndBodyWrong, 401))
      return breach("401, although `query` is absent", outcomeOf(keyAndBodyWrong), keyAndBodyWrong);
    if (!isTold(allWrong)) return unproven("the request with every mistake at once met a 429, or no answer");
    if (hasStatus(allWrong, 401)) return follows("key-first");
    if (hasStatus(allWrong, 404)) return follows("agent-first");
    return breach("401, or 404 as the agent does not exist", outcomeOf(allWrong), allWrong);
  }),
  ...signingChecks,
]);
