import { z } from "zod";

import { formatValue, getPath, isObject } from "../../base/json.ts";
import { bodyJson, type Exchange, requestHeaderValues, statusOf } from "../../evidence/exchange.ts";
import { mayBeJson } from "../../rules/bodies/rules.ts";
import { type Check, check, checkEvery, observe, suite } from "../../run/judge/check.ts";
import {
  type Breach,
  breach,
  type Finding,
  follows,
  holds,
  observed,
  type Unproven,
  unproven,
} from "../../run/judge/finding.ts";
import { statusCodes } from "../../spec/events-and-errors.ts";
import { keyRequiredCheck } from "../authentication/checks.ts";
import {
  type AllExchanges,
  allExchanges,
  endpointOf,
  hasValidKey,
  mediaTypeOf,
  specifiedExchanges,
  exchangesOf,
} from "../shared/all-exchanges.ts";
import { responseCases, responseCells, responseMatrix } from "../shared/cases.ts";
import { describeVerdict, hasStatus, isSuccess, outcomeOf, schemaMismatch } from "../shared/response.ts";
import { keyUsageRead } from "../keys/probes.ts";
import { streamed } from "../stream/probes.ts";
import {
  discoveryReads,
  invokedInOtherSpellings,
  invokedWithLongBody,
  invokedWithoutJson,
  isCompleteSuccess,
  longBodyBytes,
  type Spelling,
  type UnusualInvokeResponses,
} from "./probes.ts";
import { addressCheck } from "./transport-security.ts";
import { bodyCornerChecks } from "../coverage/checks.ts";

/** Judges whether the target accepts one unusual spelling of an invoke. Unproven if a plain invoke fails, too. */
export function judgeSpelling(
  { together, plain, apart }: UnusualInvokeResponses,
  spelling: Spelling,
  expected: string,
): { readonly kind: "holds" } | Breach | Unproven {
  if (isCompleteSuccess(together)) return holds();
  if (plain === null || !isCompleteSuccess(plain))
    return unproven(`a plain invoke did not succeed either (${outcomeOf(plain ?? together)})`);
  const alone = apart[spelling];
  if (alone === undefined || hasStatus(alone, 401, 429))
    return unproven(`the request was neither accepted nor rejected (${outcomeOf(alone ?? together)})`);
  return isCompleteSuccess(alone) ? holds() : breach(expected, outcomeOf(alone), alone, plain);
}

const checkSpelling = (as: string, spelling: Spelling, expected: string): Check =>
  check("REQ-5", invokedInOtherSpellings, (evidence) => judgeSpelling(evidence, spelling, expected), { as });

const isDeclaredAsJson = ({ request }: Exchange): boolean =>
  request.body.kind !== "none" &&
  requestHeaderValues(request, "Content-Type").some((value) => value.trim() === "application/json");

const acceptsEventStream = ({ request }: Exchange): boolean =>
  requestHeaderValues(request, "Accept").some((value) => value.includes("text/event-stream"));

type ResponseShape = "top-level" | "envelope" | "elsewhere" | null;

const ownFields = {
  list: (value: unknown): boolean =>
    isObject(getPath(value, "pagination")) || Array.isArray(getPath(value, "data")) || Array.isArray(value),
  usage: (value: unknown): boolean => isObject(getPath(value, "requests")) || isObject(getPath(value, "tokens")),
} as const;

type OpenEndpoint = keyof typeof ownFields;

export const hasFieldsOf = (endpoint: OpenEndpoint, exchange: Exchange): boolean => {
  const shape = shapeOf(endpoint, exchange);
  return shape === "top-level" || shape === "envelope";
};

const responsesOf = (endpoint: OpenEndpoint, all: AllExchanges): Exchange[] =>
  exchangesOf(all, endpoint).filter((each) => hasStatus(each, 200) && bodyJson(each) !== undefined);

function shapeOf(endpoint: OpenEndpoint, exchange: Exchange): ResponseShape {
  const body = bodyJson(exchange);
  const isOwn = ownFields[endpoint];
  if (isEnveloped(body) && [getPath(body, "data", "result"), getPath(body, "data")].some(isOwn)) return "envelope";
  if (isObject(body) && isOwn(body)) return "top-level";
  return isWithin(body, isOwn) ? "elsewhere" : null;
}

const isWithin = (body: unknown, isOwn: (value: unknown) => boolean, levels = 2): boolean =>
  isObject(body) &&
  Object.values(body).some(
    (inner) => isObject(inner) && (isOwn(inner) || (levels > 1 && isWithin(inner, isOwn, levels - 1))),
  );

/**
 * Whether the body is an envelope `{status, data}`. A body with `pagination` is not an envelope, but the list
 * `{data, pagination}` with an extra `status`.
 */
const isEnveloped = (body: unknown): boolean =>
  typeof getPath(body, "status") === "string" &&
  getPath(body, "data") !== undefined &&
  getPath(body, "pagination") === undefined;

const judgeShape =
  (endpoint: OpenEndpoint) =>
  ({ all }: { readonly all: AllExchanges }): Finding<"top-level" | "envelope"> => {
    const answers = responsesOf(endpoint, all);
    const [first] = answers;
    if (first === undefined) return unproven(`${endpoint} has no response 200 with a JSON body`);
    const shape = shapeOf(endpoint, first);
    const other = answers.find((each) => shapeOf(endpoint, each) !== shape);
    if (shape === null) return unproven(`the fields of ${endpoint} were not found in its response`);
    if (shape === "elsewhere")
      return breach(
        "the endpoint's fields at the top level, or in `data` of `{status, data}`",
        formatValue(bodyJson(first)),
        first,
      );
    if (other === undefined) return follows(shape);
    return breach(`one shape throughout (${shape})`, formatValue(bodyJson(other)), first, other);
  };

const envelopeStatus = z.enum(["success", "error"]);
const envelopeMetadata = z.looseObject({ execution_time: z.number().optional(), tokens_used: z.int().optional() });

function envelopeMismatch(exchange: Exchange): Breach | null {
  const body = bodyJson(exchange);
  const metadata = getPath(body, "data", "metadata");
  return (
    schemaMismatch(envelopeStatus, getPath(body, "status"), "`status`", exchange) ??
    (metadata === undefined ? null : schemaMismatch(envelopeMetadata, metadata, "`data.metadata`", exchange))
  );
}

/**
 * Endpoints whose response the document does not show. If such a response is an envelope with `data.result`, its
 * `data.metadata` is judged.
 */
const otherEndpoints = ["webhooks", "deliveries", "alerts", "keyUsage", "batch", "operations"] as const;

const metadataOf = (body: unknown): unknown =>
  getPath(body, "status") === "success" && getPath(body, "data", "result") !== undefined
    ? getPath(body, "data", "metadata")
    : undefined;

export const requests = suite("Common request rules", [
  addressCheck,
  keyRequiredCheck,
  check("REQ-3", { all: allExchanges, invokedOddly: invokedInOtherSpellings }, ({ all }) => {
    const sent = all.exchanges.filter((each) => hasValidKey(each, all) && isDeclaredAsJson(each));
    const refused = sent.find((each) => hasStatus(each, 415));
    if (refused !== undefined) return breach("a body declared as `application/json` is accepted", "415", refused);
    return sent.some(isSuccess) ? holds() : unproven("no request with a body succeeded");
  }),
  observe("REQ-10", invokedInOtherSpellings, ({ together, plain, apart: { charset } }) => {
    if (isCompleteSuccess(together)) return observed("`application/json; charset=utf-8` is accepted");
    if (plain === null || !isCompleteSuccess(plain) || charset === undefined || hasStatus(charset, 401, 429))
      return unproven(`the request was neither accepted nor rejected (${outcomeOf(charset ?? together)})`);
    return observed(`\`application/json; charset=utf-8\`: ${describeVerdict(charset)}`);
  }),
  checkEvery(
    "REQ-4",
    { all: allExchanges, invokedOddly: invokedInOtherSpellings },
    {
      as: "json",
      matrix: responseMatrix(
        "every response of every published endpoint with a JSON body and a status of the document",
        responseCells(statusCodes),
      ),
      members: ({ all }) =>
        responseCases(
          all,
          specifiedExchanges(all),
          (each) => statusCodes.some((status) => status === statusOf(each)) && bodyJson(each) !== undefined,
        ),
      judge: (exchange) =>
        mayBeJson(mediaTypeOf(exchange))
          ? null
          : {
              expected: "a response with `Content-Type: application/json`",
              actual: formatValue(mediaTypeOf(exchange)),
            },
      whenEmpty: unproven("no response has a JSON body"),
    },
  ),
  checkEvery(
    "REQ-4",
    { all: allExchanges, streamed },
    {
      as: "stream",
      matrix: responseMatrix(
        "every response 200 of stream to a request that accepts an event stream",
        responseCells([200], ["stream"]),
      ),
      members: ({ all }) =>
        responseCases(
          all,
          all.exchanges,
          (each) => endpointOf(each) === "stream" && hasStatus(each, 200) && acceptsEventStream(each),
        ),
      judge: (exchange) =>
        mediaTypeOf(exchange) === "text/event-stream"
          ? null
          : {
              expected: "a response with `Content-Type: text/event-stream`",
              actual: formatValue(mediaTypeOf(exchange) ?? undefined),
            },
      whenEmpty: unproven("no stream was opened", "`agents.streaming` in the target file"),
    },
  ),
  checkSpelling("white-space", "whiteSpace", "accepted: white space between JSON tokens means nothing (RFC 8259, 2)"),
  checkSpelling("key-order", "keyOrder", "accepted: the order of an object's keys means nothing (RFC 8259, 4)"),
  observe("REQ-6", invokedWithoutJson, ({ malformed, plainText }) =>
    observed(
      `a body that is not JSON: ${describeVerdict(malformed)}; JSON declared as text/plain: ${describeVerdict(plainText)}`,
    ),
  ),
  check("REQ-7", { all: allExchanges, lookedAt: discoveryReads }, judgeShape("list"), { as: "list" }),
  check("REQ-7", { all: allExchanges, lookedAt: discoveryReads }, judgeShape("usage"), { as: "usage" }),
  check("REQ-8", { all: allExchanges, lookedAt: discoveryReads }, ({ all }) => {
    const answers = [...responsesOf("list", all), ...responsesOf("usage", all)];
    if (answers.length === 0) return unproven("neither list nor usage has a response 200 with a JSON body");
    const enveloped = answers.filter((each) => isEnveloped(bodyJson(each)));
    for (const each of enveloped) {
      const mismatch = envelopeMismatch(each);
      if (mismatch !== null) return mismatch;
    }
    return follows(enveloped.length === 0 ? "absent" : "envelope");
  }),
  check(
    "REQ-8",
    { all: allExchanges, keyUsage: keyUsageRead },
    ({ all }) => {
      const answers = otherEndpoints.flatMap((endpoint) =>
        exchangesOf(all, endpoint).filter((each) => hasValidKey(each, all) && isCompleteSuccess(each)),
      );
      const metadata = answers.map((exchange) => ({ exchange, value: metadataOf(bodyJson(exchange)) }));
      const mismatches = metadata.map(({ exchange, value }) =>
        value === undefined || value === null
          ? null
          : schemaMismatch(envelopeMetadata, value, "`data.metadata`", exchange),
      );
      return mismatches.find((each) => each !== null) ?? holds();
    },
    { as: "other endpoints", since: "1.2" },
  ),
  observe("LIM-22", invokedWithLongBody, ({ answer }) =>
    observed(`a body of ${longBodyBytes / 1024} KiB: ${outcomeOf(answer)}`),
  ),
  observe("REQ-9", discoveryReads, ({ listing, usage }) =>
    observed(`list: ${describeShape("list", listing)}; usage: ${describeShape("usage", usage)}`),
  ),
  ...bodyCornerChecks,
]);

function describeShape(endpoint: OpenEndpoint, exchange: Exchange): string {
  if (!hasStatus(exchange, 200)) return `not seen (${outcomeOf(exchange)})`;
  return shapeOf(endpoint, exchange) ?? "its fields were not found";
}
