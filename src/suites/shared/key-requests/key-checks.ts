import { joinWithOr } from "../../../base/text.ts";
import {
  type Check,
  checkEvery,
  type CheckOptions,
  type EvidenceOf,
  type ProbesByName,
} from "../../../run/judge/check.ts";
import {
  breach,
  type CoverageMatrix,
  type MatrixCell,
  type Finding,
  holds,
  type Unproven,
  unproven,
} from "../../../run/judge/finding.ts";
import type { Exchange } from "../../../evidence/exchange.ts";
import type { Probe } from "../../../run/probe.ts";
import { type Enabler, need } from "../../../run/skip-reason.ts";
import type { ClauseId, JudgedId, ReadingOf } from "../../../spec/clauses.ts";
import { type EndpointName, endpointNames } from "../../../spec/endpoints.ts";
import { type RejectedKeyKind, restrictedOrInvalidKeyKinds } from "../../../spec/dimensions.ts";
import { type AllExchanges, endpointsWithControl } from "../all-exchanges.ts";
import { fixtureNeeds } from "../cases.ts";
import { codeOf, describeStatus, hasStatus, isInconclusive, isSuccess, outcomeOf } from "../response.ts";
import type { RejectedKeyRequest, KeyRequests } from "./send-requests.ts";

/** The response that an invalid or restricted key must get. `code: null` allows every error code. */
type Expectation =
  | { readonly status: 401; readonly code: "INVALID_API_KEY" | "EXPIRED_API_KEY" | null }
  | { readonly status: "no success" };

interface KeyExpectation {
  readonly clause: ClauseId;
  readonly expects: Expectation;
  readonly on: readonly EndpointName[];
  readonly reach: Enabler | null;
}

const expectation = (
  clause: ClauseId,
  expects: Expectation,
  { on = endpointNames, reach = null }: Partial<Pick<KeyExpectation, "on" | "reach">> = {},
): KeyExpectation => ({ clause, expects, on, reach });

const anyCode = { status: 401, code: null } as const;
const invalid = { status: 401, code: "INVALID_API_KEY" } as const;
const expired = { status: 401, code: "EXPIRED_API_KEY" } as const;
const noSuccess = { status: "no success" } as const;
/** For kinds of keys that a run sends to few endpoints if the limit per minute is low. A test clock enables the rest. */
const needsClock = { reach: need("clock") };

export const keyExpectations: Readonly<Record<RejectedKeyKind, KeyExpectation>> = {
  "no key": expectation("AUTH-2", anyCode),
  "a wrong key": expectation("AUTH-3", invalid),
  "a key with another last character": expectation("AUTH-5", anyCode, needsClock),
  "a key that is cut off": expectation("AUTH-5", anyCode, needsClock),
  "a key that is lengthened": expectation("AUTH-5", anyCode, needsClock),
  "a key in other letter case": expectation("AUTH-5", anyCode, needsClock),
  "a key of one letter case in the other": expectation("AUTH-17", anyCode, { on: ["health", "list"], ...needsClock }),
  "a key under another scheme": expectation("AUTH-6", noSuccess, needsClock),
  "a scheme without a key": expectation("AUTH-6", noSuccess, needsClock),
  "an expired key": expectation("AUTH-4", expired),
  "a temporary key after its life": expectation("KEY-3", expired),
  "a read-only key": expectation("KEY-5", noSuccess, { on: ["webhooks", "alerts"] }),
  // Requests to these endpoints name an agent. The probe also tests `batch` if its path contains `{agent_id}`.
  "a key of another agent": expectation("KEY-6", noSuccess, { on: ["invoke", "stream", "health", "webhooks"] }),
  "a key of another address": expectation("KEY-7", noSuccess),
  // The probe sends the key twice: a defective server might check only the first request.
  "a key of another address, for the second time": expectation("KEY-7", noSuccess, {
    on: ["health", "list", "usage", "keyUsage"],
  }),
};

export const keyKindsOf = (clause: ClauseId): RejectedKeyKind[] =>
  (Object.keys(restrictedOrInvalidKeyKinds) as RejectedKeyKind[]).filter(
    (kind) => keyExpectations[kind].clause === clause,
  );

function keyMatrix(kinds: readonly RejectedKeyKind[]): CoverageMatrix {
  const endpoints = new Set(kinds.flatMap((kind) => keyExpectations[kind].on));
  const where = endpoints.size === endpointNames.length ? "every published endpoint" : [...endpoints].join(", ");
  return {
    description: `every request with ${joinWithOr(kinds)} to ${where}`,
    cells: kinds.flatMap((kind) =>
      keyExpectations[kind].on.map((endpoint): MatrixCell => ({
        of: endpoint,
        kind,
        reach: fixtureNeeds[endpoint] ?? keyExpectations[kind].reach,
      })),
    ),
    coverageProbe: null,
  };
}

export type KeyVerdict = "correct" | "violation" | "inconclusive";

/**
 * Whether the server accepted the key: it answered 2xx. If the clause does not require 401, a stream must also have a
 * `chunk` or `done` event, because the server may reject the key in an `error` event.
 */
function isAccepted({ kind, endpoint, exchange }: RejectedKeyRequest): boolean {
  const { expects } = keyExpectations[kind];
  if (!isSuccess(exchange) || exchange.answer.kind !== "answered") return false;
  if (endpoint !== "stream" || expects.status === 401) return true;
  return exchange.answer.events.some(({ name }) => name === "chunk" || name === "done");
}

function judgeRequest(request: RejectedKeyRequest, withControl: ReadonlySet<EndpointName>): KeyVerdict {
  const { expects } = keyExpectations[request.kind];
  const hasControl = withControl.has(request.endpoint);
  if (isInconclusive(request.exchange)) return "inconclusive";
  if (isAccepted(request)) return "violation";
  if (expects.status === "no success") return hasControl ? "correct" : "inconclusive";
  if (!hasStatus(request.exchange, expects.status)) return hasControl ? "violation" : "inconclusive";
  const code = codeOf(request.exchange);
  // For an expired key, the error code of the 401 decides, even if no valid key succeeded on this endpoint.
  if (expects.code === "EXPIRED_API_KEY" && code !== null) return code === expects.code ? "correct" : "violation";
  if (!hasControl || (expects.code !== null && code === null)) return "inconclusive";
  return expects.code === null || code === expects.code ? "correct" : "violation";
}

export interface JudgedRequest {
  readonly request: RejectedKeyRequest;
  readonly verdict: KeyVerdict;
}

export const judgeRequestsBy = (
  requests: readonly RejectedKeyRequest[],
  verdict: (request: RejectedKeyRequest) => KeyVerdict,
): JudgedRequest[] => requests.map((request) => ({ request, verdict: verdict(request) }));

export const judgeRequests = (
  requests: readonly RejectedKeyRequest[],
  withControl: ReadonlySet<EndpointName>,
): JudgedRequest[] => judgeRequestsBy(requests, (request) => judgeRequest(request, withControl));

interface KeyCheckOptions<E, R extends string> extends CheckOptions {
  readonly kinds: readonly RejectedKeyKind[];
  readonly expected: (evidence: E) => string;
  readonly judged: (evidence: E) => readonly JudgedRequest[];
  readonly alsoRequire?: (evidence: E, correct: readonly RejectedKeyRequest[]) => Finding<R> | null;
  readonly whenEmpty?: (evidence: E) => Unproven | null;
}

export const checkKeys = <const K extends JudgedId, const P extends Probe | ProbesByName>(
  clause: K,
  on: P,
  { kinds, expected, judged, alsoRequire, whenEmpty, ...options }: KeyCheckOptions<EvidenceOf<P>, ReadingOf<K>>,
): Check =>
  checkEvery(clause, on, {
    ...options,
    matrix: keyMatrix(kinds),
    noun: "requests",
    members: (evidence) =>
      judged(evidence).map((each) => ({
        cell: { of: each.request.endpoint, kind: each.request.kind },
        proof: each.request.exchange,
        subject: { ...each, expected: expected(evidence) },
      })),
    judge: ({ request, verdict, expected: wanted }) => {
      if (verdict === "inconclusive") return undefined;
      return verdict === "correct"
        ? null
        : { expected: wanted, actual: `${request.kind} on ${describeRequest(request)}` };
    },
    summarize: (violations) => describeViolations(violations.map(({ request }) => request)),
    judgeAcross: (correct, evidence) =>
      alsoRequire?.(
        evidence,
        correct.map(({ request }) => request),
      ) ?? holds(),
    whenEmpty: (evidence) =>
      whenEmpty?.(evidence) ??
      alsoRequire?.(evidence, []) ??
      explainNoVerdict(judged(evidence).map(({ request }) => request)),
  });

/** Judges a request whose key must be refused. A breach shows the `control` requests as well. */
export function judgeRefusal(exchange: Exchange, expected: string, ...control: readonly Exchange[]): Finding<never> {
  if (isInconclusive(exchange)) return unproven(`the key was neither accepted nor rejected (${outcomeOf(exchange)})`);
  return isSuccess(exchange) ? breach(expected, outcomeOf(exchange), exchange, ...control) : holds();
}

const maxNamed = 8;

function describeViolations(violations: readonly RejectedKeyRequest[]): string {
  const named = violations.slice(0, maxNamed);
  const rest = violations.length > named.length ? `, and ${violations.length - named.length} more` : "";
  const texts = [...Map.groupBy(named, ({ kind }) => kind)].map(
    ([kind, requests]) => `${kind} on ${requests.map(describeRequest).join(", ")}`,
  );
  return `${texts.join("; ")}${rest}`;
}

const describeRequest = ({ endpoint, exchange }: RejectedKeyRequest): string =>
  `${endpoint} (${isSuccess(exchange) ? outcomeOf(exchange) : describeStatus(exchange)})`;

function explainNoVerdict(requests: readonly RejectedKeyRequest[]): Unproven {
  const limited = requests.some(({ exchange }) => hasStatus(exchange, 429));
  if (limited) return unproven("the requests met a 429 before any other response", "an address that is not limited");
  const [first] = requests;
  return first === undefined
    ? unproven("no request could be sent to any endpoint")
    : unproven(`no endpoint accepted a valid key, so a rejection proves nothing (${describeRequest(first)})`);
}

export const acceptingEndpoints = (requests: readonly RejectedKeyRequest[]): ReadonlySet<EndpointName> =>
  new Set(requests.filter(isAccepted).map(({ endpoint }) => endpoint));

/** Judges key requests, except on `excused` endpoints, and on those that accept any key (AUTH-3 judges these). */
export function judgeOnCheckingEndpoints(
  { requests }: KeyRequests,
  { unauthenticated, all }: { readonly unauthenticated: KeyRequests; readonly all: AllExchanges },
  excused: ReadonlySet<EndpointName> = new Set(),
): JudgedRequest[] {
  const acceptingAny = acceptingEndpoints(unauthenticated.requests.filter(({ kind }) => kind === "a wrong key"));
  return judgeRequests(
    requests.filter(({ endpoint }) => !acceptingAny.has(endpoint) && !excused.has(endpoint)),
    endpointsWithControl(all),
  );
}
