import type { Row } from "../../base/covering-array.ts";
import { isObject } from "../../base/json.ts";
import { type Exchange, sentJson } from "../../evidence/exchange.ts";
import { type Check, checkEvery, type ClauseCase, type EvidenceOf } from "../../run/judge/check.ts";
import { unproven } from "../../run/judge/finding.ts";
import type { JudgedId } from "../../spec/clauses.ts";
import { publishedEndpoints } from "../../spec/endpoints.ts";
import type { RequirementSet } from "../../spec/clause.ts";
import { dimensions } from "../../spec/dimensions.ts";
import {
  type AllExchanges,
  allExchanges,
  endpointOf,
  endpointsWithControl,
  hasOrdinaryJsonBody,
  hasValidKey,
  exchangesOf,
} from "../shared/all-exchanges.ts";
import { responseCases, emptyMatrix } from "../shared/cases.ts";
import { codeOf, describeStatus, hasStatus, isInconclusive, isSuccess } from "../shared/response.ts";
import { noValueFailsCheck, hasValidTierKey, isDocumented, isLegalCall, isOneOf } from "./legal-calls.ts";
import { plainFields } from "./plan.ts";
import { pairRequestsSent, type GeneratedRequest, hasOtherMistake } from "./probe.ts";

const cornersAndExchanges = { corners: pairRequestsSent, all: allExchanges };
type GeneratedEvidence = EvidenceOf<typeof cornersAndExchanges>;

interface GeneratedRequestRule {
  readonly as: string;
  readonly requests: string;
  readonly isCovered: (row: Row, evidence: GeneratedEvidence) => boolean;
  readonly expected: string;
  readonly isKept: (exchange: Exchange, row: Row) => boolean;
  /** The first requirement set that contains the check. Default: 1.1. */
  readonly since?: RequirementSet;
}

const checkGenerated = (clause: JudgedId, rule: GeneratedRequestRule): Check =>
  checkEvery(clause, cornersAndExchanges, {
    as: rule.as,
    since: rule.since ?? "1.1",
    noun: "requests",
    matrix: emptyMatrix(rule.requests),
    members: (evidence) =>
      generatedWithControl(evidence)
        .filter(({ row }) => rule.isCovered(row, evidence))
        .map(memberOf),
    judge: ({ row, exchange }) =>
      rule.isKept(exchange, row)
        ? null
        : { expected: rule.expected, actual: `${describeStatus(exchange)} to ${describeRow(row)}` },
    whenEmpty: unproven("no such request was answered"),
  });

const generatedWithControl = ({ corners, all }: GeneratedEvidence): GeneratedRequest[] => {
  const accepting: ReadonlySet<string> = endpointsWithControl(all);
  return corners.generated.filter(
    ({ row, exchange }) => accepting.has(row["endpoint"] ?? "") && !isInconclusive(exchange),
  );
};

const memberOf = (request: GeneratedRequest): ClauseCase<GeneratedRequest> => ({
  cell: { of: request.row["endpoint"] ?? "", kind: request.row["key"] ?? "" },
  proof: request.exchange,
  subject: request,
});

const plainValues: readonly string[] = ["none", "absent", "documented", "fresh"];

const describeRow = (row: Row): string =>
  Object.entries(row)
    .filter(([, value]) => !plainValues.includes(value))
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");

const elsewhere = ["in a cookie", "in another header", "in the query"] as const;
const otherSchemes = ["other scheme", "in Basic credentials"] as const;

const isRejectedThere = ({ corners }: GeneratedEvidence, { endpoint }: Row, kind: string): boolean =>
  ["wrong", kind].every((key) => corners.rejecting.some((each) => each.endpoint === endpoint && each.key === key));

const checkKeyKinds = (clause: JudgedId, kinds: readonly string[], since: RequirementSet = "1.1"): Check =>
  checkGenerated(clause, {
    as: "in every corner",
    since,
    requests: `every generated request with a key of these kinds: ${kinds.join(", ")}`,
    isCovered: (row, evidence) =>
      isDocumented(row) &&
      !hasOtherMistake(row) &&
      isOneOf(row["key"], ...kinds) &&
      isRejectedThere(evidence, row, kinds[0] ?? ""),
    expected: `401, as to another request with ${kinds[0] ?? ""} as its key`,
    isKept: (exchange) => hasStatus(exchange, 401),
  });

const checkKeyCode = (
  clause: JudgedId,
  kinds: readonly string[],
  isRight: (code: string) => boolean,
  since: RequirementSet = "1.1",
): Check =>
  checkGenerated(clause, {
    as: "code in every corner",
    since,
    requests: `every generated request with a key of these kinds: ${kinds.join(", ")}`,
    isCovered: (row) => isDocumented(row) && isOneOf(row["key"], ...kinds),
    expected: `the code of ${kinds.join(", ")}, if the status is 401`,
    isKept: (exchange) => {
      const code = codeOf(exchange);
      // An error without a code passes here: clauses ERR-2 to ERR-5 judge missing codes.
      return code === null || !hasStatus(exchange, 401) || isRight(code);
    },
  });

export const keyCornerChecks: readonly Check[] = [
  checkKeyKinds("AUTH-2", ["missing", ...elsewhere]),
  checkKeyKinds("AUTH-3", ["wrong"]),
  checkKeyKinds("AUTH-4", ["expired"]),
  checkKeyKinds("AUTH-5", ["altered", "other prefix"]),
  checkKeyCode("AUTH-3", ["wrong"], (code) => code === "INVALID_API_KEY"),
  checkKeyCode("AUTH-4", ["expired"], (code) => code === "EXPIRED_API_KEY"),
  checkKeyCode("AUTH-5", ["altered", "other prefix"], (code) => code !== "EXPIRED_API_KEY"),
  checkGenerated("AUTH-6", {
    as: "in every corner",
    requests: "every generated request with a key under another scheme",
    isCovered: (row, evidence) =>
      isDocumented(row) && isOneOf(row["key"], ...otherSchemes) && isRejectedThere(evidence, row, "missing"),
    expected: "no success",
    isKept: (exchange) => !isSuccess(exchange),
  }),
  checkGenerated("AUTH-16", {
    as: "with every other mistake",
    requests: "every generated request without a valid key and with another mistake",
    isCovered: (row, evidence) =>
      isDocumented(row) &&
      hasOtherMistake(row) &&
      row["agent"] !== "unknown" &&
      !isOneOf(row["key"], "other address", ...otherSchemes) &&
      dimensions.key.refused.some((each) => each === row["key"]) &&
      isRejectedThere(evidence, row, isOneOf(row["key"], ...elsewhere) ? "missing" : (row["key"] ?? "")),
    expected: "401 before any other refusal",
    isKept: (exchange) => hasStatus(exchange, 401),
  }),
];

export const outlivedKeyChecks: readonly Check[] = [
  checkKeyKinds("KEY-3", ["outlived"], "1.2"),
  checkKeyCode("KEY-3", ["outlived"], (code) => code === "EXPIRED_API_KEY", "1.2"),
];

function hasNoObject(exchange: Exchange, all: AllExchanges): boolean {
  const endpoint = endpointOf(exchange, all);
  if (endpoint === null || publishedEndpoints[endpoint].method !== "POST") return false;
  if (!hasOrdinaryJsonBody(exchange) || !hasValidKey(exchange, all)) return false;
  return endpointsWithControl(all).has(endpoint) && !isObject(sentJson(exchange.request));
}

/** For each kind of restricted key, the endpoints that the key should be allowed to use. */
const openToRestrictedKeys: Readonly<Record<string, readonly string[]>> = {
  // Leaves out the endpoint `usage`, because a vendor may show usage only to the owner of the account.
  "read-only": ["list", "health"],
  "one agent": ["invoke", "stream", "health"],
};

const isOpenToKey = ({ endpoint = "", key = "", agent, body, session }: Row): boolean =>
  openToRestrictedKeys[key]?.includes(endpoint) === true &&
  isOneOf(agent, "none", "answering") &&
  isOneOf(body, "none", "valid") &&
  session !== "not ASCII";

export const restrictedKeysCheck: Check = checkGenerated("AUTH-1", {
  as: "restricted keys",
  since: "1.2",
  requests: "every generated request with a restricted key to read, or to the key's own agent",
  isCovered: (row, { corners }) =>
    isDocumented(row) &&
    isOpenToKey(row) &&
    corners.generated.some(
      (each) => each.row["key"] === row["key"] && isOpenToKey(each.row) && isSuccess(each.exchange),
    ),
  expected: "accepted, as another request that the key may send",
  isKept: (exchange) => !hasStatus(exchange, 401, 403),
});

export const bodyCornerChecks: readonly Check[] = [
  checkEvery("REQ-11", cornersAndExchanges, {
    matrix: emptyMatrix("every POST with a valid key and a body that is no JSON object"),
    noun: "requests",
    members: ({ all }) => responseCases(all, all.exchanges, (each) => hasNoObject(each, all)),
    // Ignores statuses, such as 401, that a server or gateway may send before it reads the body.
    judge: (exchange) => {
      if (isInconclusive(exchange) || hasStatus(exchange, 401, 403, 404, 406, 502, 503, 504)) return undefined;
      return hasStatus(exchange, 400) ? null : { expected: "400", actual: describeStatus(exchange) };
    },
    whenEmpty: unproven("no such request was answered"),
  }),
];

const fieldDimensions = [
  "temperature",
  "maxTokens",
  "context",
  "unknownParameter",
  "streamParameters",
  "body",
  "key",
] as const;
const isAcceptedApart = ({ corners }: GeneratedEvidence, row: Row, names: readonly string[]): boolean => {
  const accepted = corners.accepted[row["endpoint"] ?? ""] ?? [];
  return [...names, "agent"].every((name) => accepted.includes(`${name}=${row[name]}`));
};

const acceptsCombination = (exchange: Exchange): boolean => !hasStatus(exchange, 400, 422);

const checkCombinations = (clause: JudgedId, endpoint: "invoke" | "stream"): Check =>
  checkGenerated(clause, {
    as: "with pairs of fields",
    requests: `every generated ${endpoint} with legal fields`,
    isCovered: (row, evidence) =>
      isLegalCall(row, endpoint) && isAcceptedApart(evidence, row, [...fieldDimensions, "session", "query"]),
    expected: "accepted, as each of its values is in another request",
    isKept: acceptsCombination,
  });

const isNotFound = (exchange: Exchange): boolean => hasStatus(exchange, 404) && codeOf(exchange) === "AGENT_NOT_FOUND";

const checkUnknownAgent = (clause: JudgedId, endpoint: "invoke" | "stream" | "health"): Check =>
  checkGenerated(clause, {
    as: "with every key",
    requests: `every generated ${endpoint} of an agent that does not exist`,
    isCovered: (row) =>
      row["endpoint"] === endpoint &&
      isDocumented(row) &&
      row["agent"] === "unknown" &&
      hasValidTierKey(row) &&
      // With an invalid body, a server may answer 400 before it looks up the agent.
      isOneOf(row["body"], "none", "valid") &&
      // A server can reject a non-ASCII session or long query without looking up the agent.
      row["session"] !== "not ASCII" &&
      row["query"] !== "long",
    expected: "404 with the code AGENT_NOT_FOUND",
    // Also accepts 401 and 403: clause AUTH-1 judges whether the server accepts a valid key.
    isKept: (exchange) => isNotFound(exchange) || hasStatus(exchange, 401, 403),
  });

export const invokeCornerChecks: readonly Check[] = [
  checkCombinations("INV-1", "invoke"),
  noValueFailsCheck("INV-1", "invoke"),
  checkGenerated("INV-20", {
    as: "of every kind",
    since: "1.2",
    requests: "every generated invoke and stream whose `query` is `null` or an array",
    isCovered: (row, evidence) =>
      isOneOf(row["endpoint"], "invoke", "stream") &&
      row["body"] === "query of another type" &&
      isLegalCall({ ...row, body: "valid" }, row["endpoint"] ?? "") &&
      isAcceptedApart(evidence, row, []),
    expected: "accepted, or rejected as invalid input",
    isKept: (exchange) => !hasStatus(exchange, 500),
  }),
  checkUnknownAgent("INV-11", "invoke"),
  checkGenerated("INV-17", {
    as: "of every kind",
    requests: "every generated invoke with a `session_id` of digits, or of a word",
    isCovered: (row, evidence) =>
      isLegalCall(row, "invoke") &&
      isOneOf(row["session"], "digits alone", "true") &&
      Object.entries(plainFields).every(([name, value]) => row[name] === value) &&
      isAcceptedApart(evidence, { ...row, session: "plain" }, [...fieldDimensions, "session"]),
    expected: "accepted, as another `session_id` is",
    isKept: acceptsCombination,
  }),
];

export const streamCornerChecks: readonly Check[] = [
  checkCombinations("SSE-1", "stream"),
  noValueFailsCheck("SSE-1", "stream"),
  checkUnknownAgent("SSE-21", "stream"),
];

const healthInStates = (all: AllExchanges): Exchange[] =>
  exchangesOf(all, "health").filter((each) => each.keyState !== undefined && each.key !== null);

export const healthCornerChecks: readonly Check[] = [
  checkUnknownAgent("HLT-18", "health"),
  checkEvery("HLT-15", allExchanges, {
    as: "in every state",
    since: "1.1",
    matrix: emptyMatrix("every health check while a limit of the key is used up"),
    members: (all) =>
      healthInStates(all)
        .filter((each) => each.answer.kind === "answered")
        .map((exchange) => ({
          cell: { of: "health", kind: exchange.keyState ?? "" },
          proof: exchange,
          subject: exchange,
        })),
    judge: (exchange) =>
      hasStatus(exchange, 429)
        ? { expected: "not refused by a limit", actual: `${describeStatus(exchange)}, with ${exchange.keyState ?? ""}` }
        : null,
    whenEmpty: unproven("no health check was sent while a limit was used up"),
  }),
];
