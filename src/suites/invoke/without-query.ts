import { z } from "zod";

import { memoizeByPair } from "../../base/memoize.ts";
import { type Exchange, sentJson, statusOf } from "../../evidence/exchange.ts";
import { type Check, checkEvery, type ClauseCase } from "../../run/judge/check.ts";
import { inapplicable, unproven } from "../../run/judge/finding.ts";
import {
  agentInPath,
  type AllExchanges,
  allExchanges,
  hasOrdinaryJsonBody,
  hasValidKey,
  exchangesOf,
} from "../shared/all-exchanges.ts";
import { pairRequestsSent } from "../coverage/probe.ts";
import { streamed } from "../stream/probes.ts";
import { responseCases, emptyMatrix } from "../shared/cases.ts";
import { codeOf, describeStatus, hasStatus, isSuccess } from "../shared/response.ts";

const leftOut = z.never().exactOptional();

type Endpoint = "invoke" | "stream";

const legalBodyWith = (streamParameters: Readonly<Record<string, z.ZodType>>) =>
  z.strictObject({
    query: z.string().min(1).exactOptional(),
    session_id: z
      .string()
      .regex(/^[!-~]{1,128}$/)
      .exactOptional(),
    parameters: z
      .looseObject({
        temperature: z.number().min(0).max(2).exactOptional(),
        max_tokens: z.int().positive().exactOptional(),
        context: z.record(z.string(), z.unknown()).exactOptional(),
        ...streamParameters,
      })
      .exactOptional(),
  });

const streamNames = ["resume_from_index", "stream_delay_ms", "chunk_size"] as const;

const fieldsWith = (type: z.ZodType) => Object.fromEntries(streamNames.map((name) => [name, type]));

const legalBodies = {
  invoke: legalBodyWith(fieldsWith(leftOut)),
  stream: legalBodyWith(fieldsWith(z.int().nonnegative().exactOptional())),
} as const;

interface LegalCall {
  readonly exchange: Exchange;
  readonly agent: string | null;
  readonly hasQuery: boolean;
  /** `session_id`, if sent, and the names of the parameters. A parameter not in the document appears as `unknown`. */
  readonly fields: ReadonlySet<string>;
}

const parameterNames: readonly string[] = ["temperature", "max_tokens", "context", ...streamNames];

const legalCalls = memoizeByPair((all: AllExchanges, endpoint: Endpoint): readonly LegalCall[] =>
  exchangesOf(all, endpoint).flatMap((exchange) => {
    if (!hasOrdinaryJsonBody(exchange) || !hasValidKey(exchange, all)) return [];
    const { success, data } = legalBodies[endpoint].safeParse(sentJson(exchange.request));
    if (!success) return [];
    const { query, session_id, parameters = {} } = data;
    const names = Object.keys(parameters).map((name) => (parameterNames.includes(name) ? name : "unknown"));
    const fields = new Set([...(session_id === undefined ? [] : ["session_id"]), ...names]);
    return [{ exchange, agent: agentInPath(exchange), hasQuery: query !== undefined, fields }];
  }),
);

function isRejected({ exchange }: LegalCall): boolean {
  const status = statusOf(exchange) ?? 0;
  return status >= 400 && status < 500 && status !== 429;
}

function callsWithoutQuery(all: AllExchanges, endpoint: Endpoint): ClauseCase<Exchange>[] {
  const calls = legalCalls(all, endpoint);
  const withQuery = calls.filter(({ hasQuery }) => hasQuery);
  const answered = withQuery.filter(({ exchange }) => isSuccess(exchange));
  const agents = new Set(answered.map(({ agent }) => agent));
  const rejected = new Set(
    withQuery.filter((each) => agents.has(each.agent) && isRejected(each)).flatMap(({ fields }) => [...fields]),
  );
  const isAnswered = ({ agent, fields }: LegalCall): boolean =>
    answered.some((each) => each.agent === agent && each.fields.isSubsetOf(fields));
  return responseCases(
    all,
    calls
      .filter((each) => !each.hasQuery && isAnswered(each) && rejected.isDisjointFrom(each.fields))
      .map(({ exchange }) => exchange),
  );
}

const requiredCode = "MISSING_REQUIRED_FIELD";

export const withoutQueryCheck: Check = checkEvery(
  "INV-10",
  { all: allExchanges },
  {
    as: "every",
    since: "1.1",
    matrix: emptyMatrix("every invoke with a valid key whose only mistake is that `query` is absent"),
    noun: "requests",
    members: ({ all }) => callsWithoutQuery(all, "invoke"),
    judge: (exchange) => {
      // Judges only a success, a 422, or a 400 with an error code. Another error, such as a 429, says nothing about the
      // absent `query`.
      if (!isSuccess(exchange) && !hasStatus(exchange, 400, 422)) return undefined;
      if (hasStatus(exchange, 400) && codeOf(exchange) === null) return undefined;
      return hasStatus(exchange, 400) && codeOf(exchange) === requiredCode
        ? null
        : { expected: `400 with the code ${requiredCode}`, actual: describeStatus(exchange) };
    },
    whenEmpty: unproven("no such request was answered"),
  },
);

export const streamWithoutQueryCheck: Check = checkEvery(
  "SSE-20",
  { all: allExchanges, plain: streamed, corners: pairRequestsSent },
  {
    as: "every",
    since: "1.2",
    matrix: emptyMatrix("every stream with a valid key whose only mistake is that `query` is absent"),
    noun: "requests",
    members: ({ all }) => callsWithoutQuery(all, "stream"),
    judge: (exchange) => {
      if (hasStatus(exchange, 400)) return null;
      return isSuccess(exchange) || hasStatus(exchange, 422)
        ? { expected: "400", actual: describeStatus(exchange) }
        : undefined;
    },
    whenEmpty: inapplicable("no stream whose only mistake is the absent `query` was answered"),
  },
);
