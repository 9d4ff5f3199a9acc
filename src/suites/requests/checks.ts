import { z } from "zod";

import { mayBeJson } from "../../rules/bodies/rules.ts";
import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { statusCodes } from "../../spec/errors.ts";
import { check, observe, suite } from "../../run/judge/check.ts";
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
import { checkEvery } from "../../run/judge/check-every.ts";
import { keyRequired } from "../authentication/checks.ts";
import { codeOf, hasStatus, isSuccess, outcomeOf, schemaMismatch } from "../shared/response.ts";
import { responsesOf, isEnveloped, type OpenEndpoint, shapeOf } from "./envelope.ts";
import { responseCases } from "../shared/cases.ts";
import { responseMatrix, responseCells } from "../shared/matrices.ts";
import {
  endpointOf,
  allExchanges,
  type AllExchanges,
  hasValidKey,
  specifiedExchanges,
  mediaTypeOf,
} from "../shared/all-exchanges.ts";
import {
  invokedInOtherSpellings,
  invokedWithoutJson,
  isCompleteSuccess,
  discoveryReads,
  type Spelling,
  type SpellingResult,
  invokedWithLongBody,
  longBodyBytes,
} from "./probes.ts";
import { formatValue } from "../../base/format-value.ts";
import { getPath } from "../../base/json.ts";
import { streamed } from "../stream/probes.ts";
import { addressCheck } from "./transport-security.ts";

/** Judges that one spelling of a request is accepted if a plain request is. */
export function judgeSpelling(
  { together, plain, apart }: SpellingResult,
  spelling: Spelling,
  says: string,
): { readonly kind: "holds" } | Breach | Unproven {
  if (isCompleteSuccess(together)) return holds();
  if (plain === null || !isCompleteSuccess(plain))
    return unproven(`a plain invoke did not succeed either (${outcomeOf(plain ?? together)})`);
  const alone = apart[spelling];
  if (alone === undefined || hasStatus(alone, 401, 429))
    return unproven(`the request came to no verdict (${outcomeOf(alone ?? together)})`);
  return isCompleteSuccess(alone) ? holds() : breach(says, outcomeOf(alone), alone, plain);
}

const isDeclaredPlainly = ({ request: { headers, body } }: Exchange): boolean =>
  body.kind !== "none" &&
  headers.some(([name, value]) => name.toLowerCase() === "content-type" && value.trim() === "application/json");

const asksForEvents = ({ request }: Exchange): boolean =>
  request.headers.some(([name, value]) => name.toLowerCase() === "accept" && value.includes("text/event-stream"));

/** Judges that all responses of an endpoint have the same one of the two shapes. */
const oneShape =
  (endpoint: OpenEndpoint) =>
  ({ all }: { readonly all: AllExchanges }): Finding<"top-level" | "envelope"> => {
    const answers = responsesOf(endpoint, all);
    const [first] = answers;
    if (first === undefined) return unproven(`${endpoint} gave no answer of 200 with a JSON body`);
    const shape = shapeOf(endpoint, first);
    const other = answers.find((each) => shapeOf(endpoint, each) !== shape);
    if (shape === null) return unproven(`the fields of ${endpoint} are not found in its answer`);
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

/** Judges the fields of the envelope that are present. */
function misshapenEnvelope(exchange: Exchange): Breach | null {
  const body = bodyJson(exchange);
  const metadata = getPath(body, "data", "metadata");
  return (
    schemaMismatch(envelopeStatus, getPath(body, "status"), "`status`", exchange) ??
    (metadata === undefined ? null : schemaMismatch(envelopeMetadata, metadata, "`data.metadata`", exchange))
  );
}

export const requests = suite("Common request rules", [
  addressCheck,
  keyRequired,
  check("REQ-3", { all: allExchanges, invokedOddly: invokedInOtherSpellings }, ({ all }) => {
    const sent = all.exchanges.filter((each) => hasValidKey(each, all) && isDeclaredPlainly(each));
    const refused = sent.find((each) => hasStatus(each, 415));
    if (refused !== undefined) return breach("a body declared as `application/json` is accepted", "415", refused);
    return sent.some(isSuccess) ? holds() : unproven("no request with a body succeeded");
  }),
  observe("REQ-10", invokedInOtherSpellings, ({ together, plain, apart: { charset } }) => {
    if (isCompleteSuccess(together)) return observed("`application/json; charset=utf-8` is accepted");
    if (plain === null || !isCompleteSuccess(plain) || charset === undefined || hasStatus(charset, 401, 429))
      return unproven(`the request came to no verdict (${outcomeOf(charset ?? together)})`);
    return observed(`\`application/json; charset=utf-8\`: ${answerTo(charset)}`);
  }),
  checkEvery(
    "REQ-4",
    { all: allExchanges, invokedOddly: invokedInOtherSpellings },
    {
      as: "json",
      matrix: responseMatrix(
        "every answer of every published endpoint whose body is JSON, with a status of the document",
        responseCells(statusCodes),
      ),
      members: ({ all }) =>
        responseCases(
          specifiedExchanges(all).filter(
            (each) => statusCodes.some((status) => status === statusOf(each)) && bodyJson(each) !== undefined,
          ),
          all,
        ),
      judge: (exchange) =>
        mayBeJson(mediaTypeOf(exchange))
          ? null
          : { expected: "an answer with `Content-Type: application/json`", actual: formatValue(mediaTypeOf(exchange)) },
      whenEmpty: unproven("no answer had a body that is JSON"),
    },
  ),
  checkEvery(
    "REQ-4",
    { all: allExchanges, streamed },
    {
      as: "stream",
      matrix: responseMatrix(
        "every answer 200 of stream, asked for as an event stream",
        responseCells([200], ["stream"]),
      ),
      members: ({ all }) =>
        responseCases(
          all.exchanges.filter((each) => endpointOf(each) === "stream" && hasStatus(each, 200) && asksForEvents(each)),
          all,
        ),
      judge: (exchange) =>
        mediaTypeOf(exchange) === "text/event-stream"
          ? null
          : {
              expected: "an answer with `Content-Type: text/event-stream`",
              actual: formatValue(mediaTypeOf(exchange) ?? undefined),
            },
      whenEmpty: unproven("no stream was opened", "`agents.streaming` in the target file"),
    },
  ),
  check(
    "REQ-5",
    invokedInOtherSpellings,
    (evidence) =>
      judgeSpelling(evidence, "whiteSpace", "accepted: white space between JSON tokens means nothing (RFC 8259, 2)"),
    { as: "white-space" },
  ),
  check(
    "REQ-5",
    invokedInOtherSpellings,
    (evidence) =>
      judgeSpelling(evidence, "keyOrder", "accepted: the order of an object's keys means nothing (RFC 8259, 4)"),
    { as: "key-order" },
  ),
  observe("REQ-6", invokedWithoutJson, ({ malformed, plainText }) =>
    observed(`a body that is not JSON: ${answerTo(malformed)}; JSON declared as text/plain: ${answerTo(plainText)}`),
  ),
  check("REQ-7", { all: allExchanges, lookedAt: discoveryReads }, oneShape("list"), { as: "list" }),
  check("REQ-7", { all: allExchanges, lookedAt: discoveryReads }, oneShape("usage"), { as: "usage" }),
  check("REQ-8", { all: allExchanges, lookedAt: discoveryReads }, ({ all }) => {
    const answers = [...responsesOf("list", all), ...responsesOf("usage", all)];
    if (answers.length === 0) return unproven("neither list nor usage gave an answer of 200 with a JSON body");
    const enveloped = answers.filter((each) => isEnveloped(bodyJson(each)));
    for (const each of enveloped) {
      const wrong = misshapenEnvelope(each);
      if (wrong !== null) return wrong;
    }
    return follows(enveloped.length === 0 ? "absent" : "envelope");
  }),
  observe("LIM-22", invokedWithLongBody, ({ answer }) =>
    observed(`a body of ${longBodyBytes / 1024} KiB: ${outcomeOf(answer)}`),
  ),
  observe("REQ-9", discoveryReads, ({ listing, usage }) =>
    observed(`list: ${shapeSaid("list", listing)}; usage: ${shapeSaid("usage", usage)}`),
  ),
]);

function answerTo(exchange: Exchange): string {
  const code = codeOf(exchange);
  return isSuccess(exchange) ? "accepted" : `${outcomeOf(exchange)}${code === null ? "" : ` ${code}`}`;
}

function shapeSaid(endpoint: OpenEndpoint, exchange: Exchange): string {
  if (!hasStatus(exchange, 200)) return `not seen (${outcomeOf(exchange)})`;
  return shapeOf(endpoint, exchange) ?? "its fields were not found";
}
