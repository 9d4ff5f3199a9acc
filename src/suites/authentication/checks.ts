import { formatValue } from "../../base/json.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, check, type EvidenceOf, observe, suite } from "../../run/judge/check.ts";
import { breach, type Finding, follows, holds, observed, type Unproven, unproven } from "../../run/judge/finding.ts";
import type { EndpointName } from "../../spec/endpoints.ts";
import type { ReadingOf } from "../../spec/clauses.ts";
import type { RejectedKeyKind } from "../../spec/dimensions.ts";
import { alertCrossed } from "../alerts/probes.ts";
import { invoked } from "../invoke/probes.ts";
import { keyUsageRead, webhookCreated } from "../keys/probes.ts";
import { cachedResponseChecks } from "../keys/indirect-use.ts";
import { sameEndCheck, unusualKeysCheck } from "./unusual-keys.ts";
import { startChecksOfAuthentication } from "../keys/operation-start.ts";
import { spellingChecksOfAuthentication } from "../keys/path-spellings.ts";
import { expiredKeySignedCheck } from "../keys/signed-use.ts";
import { signedEverywhereChecks } from "./signed-everywhere.ts";
import { batchSubmitted } from "../operations/probes.ts";
import { allExchanges, endpointOf, endpointsWithControl, hasValidKey } from "../shared/all-exchanges.ts";
import {
  checkKeys,
  type JudgedRequest,
  judgeRequests,
  judgeRequestsBy,
  judgeOnCheckingEndpoints,
  keyKindsOf,
  type KeyVerdict,
} from "../shared/key-requests/key-checks.ts";
import { exchangeOn, type RejectedKeyRequest, type KeyRequests } from "../shared/key-requests/send-requests.ts";
import { codeOf, errorOf, hasStatus, isInconclusive, isSuccess, outcomeOf } from "../shared/response.ts";
import { streamed } from "../stream/probes.ts";
import { everyKeyUsed, expiredKeySent, unauthenticatedSent } from "./probes.ts";
import { keyCornerChecks, restrictedKeysCheck } from "../coverage/checks.ts";
import { signingChecks } from "./signing.ts";

export const keyCheckProbes = { unauthenticated: unauthenticatedSent, all: allExchanges } as const;
type KeyEvidence = EvidenceOf<typeof keyCheckProbes>;

const coreControlProbes = { ...keyCheckProbes, invoked, streamed, read: keyUsageRead } as const;
/** Probes that show which endpoints work with a valid key. */
export const positiveControls = {
  also: [invoked, streamed, keyUsageRead, webhookCreated, alertCrossed, batchSubmitted],
} as const;

const requiredEndpoints = [
  "invoke",
  "stream",
  "health",
  "list",
  "usage",
  "keyUsage",
] as const satisfies readonly EndpointName[];

const requestsOf = ({ requests }: KeyRequests, ...kinds: readonly RejectedKeyKind[]): RejectedKeyRequest[] =>
  requests.filter(({ kind }) => kinds.includes(kind));

const got401 = ({ exchange }: RejectedKeyRequest): boolean => hasStatus(exchange, 401);

const firstConclusiveRequest = (
  requests: readonly RejectedKeyRequest[],
  withControl: ReadonlySet<EndpointName>,
): RejectedKeyRequest | undefined =>
  requests.find((request) => withControl.has(request.endpoint) && !isInconclusive(request.exchange));

function judgeAltered({ unauthenticated, all }: KeyEvidence, kinds: readonly RejectedKeyKind[]): JudgedRequest[] {
  const rejecting = new Set(
    requestsOf(unauthenticated, "a wrong key")
      .filter(got401)
      .map(({ endpoint }) => endpoint),
  );
  return judgeRequests(
    requestsOf(unauthenticated, ...kinds).filter(({ endpoint }) => rejecting.has(endpoint)),
    endpointsWithControl(all),
  );
}

const checkAlteredKeysRejected = (clause: "AUTH-5" | "AUTH-6", expected: string): Check =>
  checkKeys(clause, keyCheckProbes, {
    kinds: keyKindsOf(clause),
    expected: () => expected,
    judged: (evidence) => judgeAltered(evidence, keyKindsOf(clause)),
  });

/** Judges the error code of a 401 to an altered key. The code must not say that the key has expired. */
function judgeAlteredCode(evidence: KeyEvidence): Finding<never> {
  const rejected = judgeAltered(evidence, keyKindsOf("AUTH-5")).filter(({ request }) =>
    hasStatus(request.exchange, 401),
  );
  const expired = rejected.find(({ request }) => codeOf(request.exchange) === "EXPIRED_API_KEY");
  if (expired !== undefined)
    return breach(
      "a code of a wrong key",
      `${expired.request.kind} on ${expired.request.endpoint}: EXPIRED_API_KEY`,
      expired.request.exchange,
    );
  return rejected.length === 0 ? unproven("no altered key was refused with 401") : holds();
}

function judgeOtherCase(evidence: KeyEvidence): Finding<ReadingOf<"AUTH-17">> {
  const judged = judgeAltered(evidence, keyKindsOf("AUTH-17"));
  const accepted = judged.find(({ request }) => isSuccess(request.exchange));
  if (accepted !== undefined)
    return breach("401, as for any wrong key", outcomeOf(accepted.request.exchange), accepted.request.exchange);
  if (judged.some(({ verdict }) => verdict === "correct")) return follows("case-matters");
  const hasBothCases = requestsOf(evidence.unauthenticated, "a key in other letter case").length > 0;
  return hasBothCases
    ? follows("both-cases")
    : unproven("no request with the key in the other letter case got a conclusive response");
}

function unprovenOnSomeEndpoint(
  requests: readonly RejectedKeyRequest[],
  correct: readonly RejectedKeyRequest[],
  notOffered: readonly EndpointName[] = [],
): Unproven | null {
  const proven = new Set(correct.map(({ endpoint }) => endpoint));
  const expected = new Set<EndpointName>([...requiredEndpoints, ...requests.map(({ endpoint }) => endpoint)]);
  const missing = [...expected].filter((endpoint) => !proven.has(endpoint) && !notOffered.includes(endpoint));
  if (missing.length === 0) return null;
  return unproven(
    `not proven on ${missing.join(", ")}: no request with a valid key succeeded there, or a 429 came first`,
    missing.includes("stream") ? "`agents.streaming` in the target file" : null,
  );
}

type InvalidKey = "a wrong key" | "no key";

function judgeInvalidKey(
  { unauthenticated, all }: KeyEvidence,
  kind: InvalidKey,
  afterRejection: (request: RejectedKeyRequest) => KeyVerdict,
): JudgedRequest[] {
  const requests = requestsOf(unauthenticated, kind);
  const withControl = endpointsWithControl(all);
  const first = firstConclusiveRequest(requests, withControl);
  if (first === undefined) return judgeRequestsBy(requests, () => "inconclusive");
  return judgeRequests(requests, withControl).map(({ request, verdict }) => ({
    request,
    verdict: verdict === "violation" && got401(first) ? afterRejection(request) : verdict,
  }));
}

function isFirstRejected({ unauthenticated, all }: KeyEvidence, kind: InvalidKey): boolean {
  const first = firstConclusiveRequest(requestsOf(unauthenticated, kind), endpointsWithControl(all));
  return first !== undefined && got401(first);
}

/**
 * Creates an AUTH-8 check: every endpoint responds 401 to this kind of key. If the first conclusive response is no 401,
 * AUTH-2 or AUTH-3 judges it instead.
 */
const checkRejectedEverywhere = (kind: InvalidKey, as: string): Check =>
  checkKeys("AUTH-8", coreControlProbes, {
    ...positiveControls,
    as,
    kinds: [kind],
    expected: () => "401 on every endpoint",
    judged: (evidence) =>
      isFirstRejected(evidence, kind)
        ? // Any 401 is correct here, because AUTH-3 judges its error code.
          judgeInvalidKey(evidence, kind, (request) => (got401(request) ? "correct" : "violation"))
        : [],
    alsoRequire: ({ unauthenticated, all }, correct) =>
      unprovenOnSomeEndpoint(requestsOf(unauthenticated, kind), correct, all.notOffered),
    whenEmpty: (evidence) =>
      isFirstRejected(evidence, kind) ? null : unproven(`${kind} does not get a 401 at all (AUTH-2, AUTH-3)`),
  });

export const keyRequiredCheck: Check = checkKeys("REQ-2", coreControlProbes, {
  ...positiveControls,
  kinds: ["no key"],
  expected: () => "a request without a key is rejected",
  judged: ({ unauthenticated, all }) => {
    const withControl = endpointsWithControl(all);
    return judgeRequestsBy(requestsOf(unauthenticated, "no key"), ({ endpoint, exchange }) => {
      if (isSuccess(exchange)) return "violation";
      return withControl.has(endpoint) && !isInconclusive(exchange) ? "correct" : "inconclusive";
    });
  },
  alsoRequire: ({ unauthenticated, all }, correct) =>
    unprovenOnSomeEndpoint(requestsOf(unauthenticated, "no key"), correct, all.notOffered),
});

export const authentication = suite("Authentication", [
  check("AUTH-1", { all: allExchanges, everyKeyUsed }, ({ all, everyKeyUsed: { answers } }) => {
    const withKey = all.exchanges.filter((each) => endpointOf(each) !== null && hasValidKey(each, all));
    const rejected = withKey.find((each) => hasStatus(each, 401)) ?? answers.find((each) => hasStatus(each, 401, 403));
    if (rejected !== undefined)
      return breach(`the valid key ${formatValue(rejected.key)} is accepted`, outcomeOf(rejected), rejected);
    return withKey.some(isSuccess) ? holds() : unproven("no request with a valid key succeeded");
  }),
  checkKeys("AUTH-2", keyCheckProbes, {
    kinds: keyKindsOf("AUTH-2"),
    expected: () => "401",
    judged: (evidence) => judgeInvalidKey(evidence, "no key", () => "inconclusive"),
  }),
  checkKeys("AUTH-3", keyCheckProbes, {
    kinds: keyKindsOf("AUTH-3"),
    expected: () => "401 with the code `INVALID_API_KEY`",
    judged: (evidence) =>
      judgeInvalidKey(evidence, "a wrong key", (request) => (got401(request) ? "violation" : "inconclusive")),
    whenEmpty: (evidence) =>
      isFirstRejected(evidence, "a wrong key") ? unproven("the 401 has no readable error code (ERR-2 to ERR-5)") : null,
  }),
  checkKeys(
    "AUTH-4",
    { ...keyCheckProbes, expired: expiredKeySent },
    {
      ...positiveControls,
      kinds: keyKindsOf("AUTH-4"),
      expected: () => "401 with the code `EXPIRED_API_KEY`",
      judged: ({ expired, ...evidence }) => judgeOnCheckingEndpoints(expired, evidence),
    },
  ),
  checkAlteredKeysRejected("AUTH-5", "401, as for any wrong key"),
  check("AUTH-5", keyCheckProbes, judgeAlteredCode, { as: "code", since: "1.1" }),
  check("AUTH-17", keyCheckProbes, judgeOtherCase),
  checkAlteredKeysRejected("AUTH-6", "only a key after `Bearer` is accepted"),
  observe("AUTH-7", unauthenticatedSent, (unauthenticated) => {
    const { lowerCase } = unauthenticated;
    const control = exchangeOn(unauthenticated, "health", "a wrong key");
    if (lowerCase === null || control === null || !hasStatus(control, 401))
      return unproven("a wrong key on health did not get the 401 to compare with");
    return observed(isSuccess(lowerCase) ? "`bearer` is accepted" : `\`bearer\` gets ${outcomeOf(lowerCase)}`);
  }),
  checkRejectedEverywhere("a wrong key", "wrong"),
  checkRejectedEverywhere("no key", "missing"),
  observe("AUTH-9", unauthenticatedSent, (unauthenticated) => {
    const rejected = requestsOf(unauthenticated, "no key").filter(
      (each) => got401(each) && errorOf(each.exchange) !== null,
    );
    const codes = new Set(rejected.map(({ exchange }) => formatValue(codeOf(exchange) ?? undefined)));
    return codes.size > 0
      ? observed(`a missing key has the code ${[...codes].join(" or ")}`)
      : unproven("no request without a key got a 401 with an error body");
  }),
  check(
    "AUTH-16",
    keyCheckProbes,
    (evidence) => {
      const conclusive = evidence.unauthenticated.keyAndBodyMissing.filter((each) => !isInconclusive(each));
      if (conclusive.length === 0)
        return unproven("no request without a key and with an empty body got a conclusive response");
      if (!isFirstRejected(evidence, "no key")) return unproven("a request without a key gets no 401 at all (AUTH-2)");
      const bodyFirst = conclusive.find((each) => hasStatus(each, 400, 422));
      return bodyFirst === undefined
        ? holds()
        : breach("401, although fields are absent", outcomeOf(bodyFirst), bodyFirst);
    },
    { as: "no key" },
  ),
  check("AUTH-16", unauthenticatedSent, (unauthenticated) => {
    const { allWrong, keyAndBodyWrong } = unauthenticated;
    const control = exchangeOn(unauthenticated, "invoke", "a wrong key");
    if (control === null || !hasStatus(control, 401))
      return unproven("a wrong key alone does not get 401 on invoke (AUTH-3, AUTH-8)");
    const isConclusive = (exchange: Exchange | null): exchange is Exchange =>
      exchange !== null && !isInconclusive(exchange);
    if (isConclusive(keyAndBodyWrong) && !hasStatus(keyAndBodyWrong, 401))
      return breach("401, although `query` is absent", outcomeOf(keyAndBodyWrong), keyAndBodyWrong);
    if (!isConclusive(allWrong)) return unproven("the request with all mistakes at once got a 429, or no response");
    if (hasStatus(allWrong, 401)) return follows("key-first");
    if (hasStatus(allWrong, 404)) return follows("agent-first");
    return breach("401, or 404 as the agent does not exist", outcomeOf(allWrong), allWrong);
  }),
  ...cachedResponseChecks,
  sameEndCheck,
  ...startChecksOfAuthentication,
  ...spellingChecksOfAuthentication,
  expiredKeySignedCheck,
  unusualKeysCheck,
  restrictedKeysCheck,
  ...signedEverywhereChecks,
  ...signingChecks,
  ...keyCornerChecks,
]);
