import { z } from "zod";

import { mayBeJson } from "../../bodies/rules.ts";
import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { statusCodes } from "../../interface/errors.ts";
import { check, observe, suite } from "../../run/check.ts";
import {
  type Breach,
  breach,
  type Finding,
  follows,
  holds,
  observed,
  type Unproven,
  unproven,
} from "../../run/finding.ts";
import { universal } from "../../run/universal.ts";
import { keyRequired } from "../authentication/checks.ts";
import { codeOf } from "../answers/error-body.ts";
import { answersOf, isEnveloped, type OpenEndpoint, shapeOf } from "../answers/envelope.ts";
import { membersOf } from "../answers/field-checks.ts";
import { answersUniverse, cellsWith } from "../answers/universes.ts";
import { endpointOf, everything, type Everything, hasValidKey, boundIn, mediaTypeOf } from "../answers/recorded.ts";
import {
  invokedOddly,
  invokedWithNoJson,
  isAnsweredWell,
  lookedAt,
  type Spelling,
  type Spelt,
  invokedAtLength,
  longBodyBytes,
} from "./probes.ts";
import { hasStatus, isSuccess, member, misshapen, outcomeOf, show } from "../answers/shape.ts";
import { streamed } from "../stream/probes.ts";
import { addressCheck } from "./transport-security.ts";

/** Judges one spelling of a request: accepted where a plain one is. */
export function judgeSpelling(
  { together, plain, apart }: Spelt,
  spelling: Spelling,
  says: string,
): { readonly kind: "holds" } | Breach | Unproven {
  if (isAnsweredWell(together)) return holds();
  if (plain === null || !isAnsweredWell(plain))
    return unproven(`a plain invoke did not succeed either (${outcomeOf(plain ?? together)})`);
  const alone = apart[spelling];
  if (alone === undefined || hasStatus(alone, 401, 429))
    return unproven(`the request came to no verdict (${outcomeOf(alone ?? together)})`);
  return isAnsweredWell(alone) ? holds() : breach(says, outcomeOf(alone), alone, plain);
}

const isDeclaredPlainly = ({ request: { headers, body } }: Exchange): boolean =>
  body.kind !== "none" &&
  headers.some(([name, value]) => name.toLowerCase() === "content-type" && value.trim() === "application/json");

const asksForEvents = ({ request }: Exchange): boolean =>
  request.headers.some(([name, value]) => name.toLowerCase() === "accept" && value.includes("text/event-stream"));

/** Every answer of an endpoint in one of the two shapes, and always in the same. */
const oneShape =
  (endpoint: OpenEndpoint) =>
  ({ all }: { readonly all: Everything }): Finding<"top-level" | "envelope"> => {
    const answers = answersOf(endpoint, all);
    const [first] = answers;
    if (first === undefined) return unproven(`${endpoint} gave no answer of 200 with a JSON body`);
    const shape = shapeOf(endpoint, first);
    const other = answers.find((each) => shapeOf(endpoint, each) !== shape);
    if (shape === null) return unproven(`the fields of ${endpoint} are not found in its answer`);
    if (shape === "elsewhere")
      return breach(
        "the endpoint's fields at the top level, or in `data` of `{status, data}`",
        show(bodyJson(first)),
        first,
      );
    if (other === undefined) return follows(shape);
    return breach(`one shape throughout (${shape})`, show(bodyJson(other)), first, other);
  };

const envelopeStatus = z.enum(["success", "error"]);
const envelopeMetadata = z.looseObject({ execution_time: z.number().optional(), tokens_used: z.int().optional() });

/** The envelope's own fields, each judged where it is there. */
function misshapenEnvelope(exchange: Exchange): Breach | null {
  const body = bodyJson(exchange);
  const metadata = member(body, "data", "metadata");
  return (
    misshapen(envelopeStatus, member(body, "status"), "`status`", exchange) ??
    (metadata === undefined ? null : misshapen(envelopeMetadata, metadata, "`data.metadata`", exchange))
  );
}

export const requests = suite("Common request rules", [
  addressCheck,
  keyRequired,
  check("REQ-3", { all: everything, invokedOddly }, ({ all }) => {
    const sent = all.exchanges.filter((each) => hasValidKey(each, all) && isDeclaredPlainly(each));
    const refused = sent.find((each) => hasStatus(each, 415));
    if (refused !== undefined) return breach("a body declared as `application/json` is accepted", "415", refused);
    return sent.some(isSuccess) ? holds() : unproven("no request with a body succeeded");
  }),
  observe("REQ-10", invokedOddly, ({ together, plain, apart: { charset } }) => {
    if (isAnsweredWell(together)) return observed("`application/json; charset=utf-8` is accepted");
    if (plain === null || !isAnsweredWell(plain) || charset === undefined || hasStatus(charset, 401, 429))
      return unproven(`the request came to no verdict (${outcomeOf(charset ?? together)})`);
    return observed(`\`application/json; charset=utf-8\`: ${answerTo(charset)}`);
  }),
  universal(
    "REQ-4",
    { all: everything, invokedOddly },
    {
      as: "json",
      universe: answersUniverse(
        "every answer of every published endpoint whose body is JSON, with a status of the document",
        cellsWith(statusCodes),
      ),
      members: ({ all }) =>
        membersOf(
          boundIn(all).filter(
            (each) => statusCodes.some((status) => status === statusOf(each)) && bodyJson(each) !== undefined,
          ),
          all,
        ),
      say: (exchange) =>
        mayBeJson(mediaTypeOf(exchange))
          ? null
          : { expected: "an answer with `Content-Type: application/json`", actual: show(mediaTypeOf(exchange)) },
      none: unproven("no answer had a body that is JSON"),
    },
  ),
  universal(
    "REQ-4",
    { all: everything, streamed },
    {
      as: "stream",
      universe: answersUniverse(
        "every answer 200 of stream, asked for as an event stream",
        cellsWith([200], ["stream"]),
      ),
      members: ({ all }) =>
        membersOf(
          all.exchanges.filter((each) => endpointOf(each) === "stream" && hasStatus(each, 200) && asksForEvents(each)),
          all,
        ),
      say: (exchange) =>
        mediaTypeOf(exchange) === "text/event-stream"
          ? null
          : {
              expected: "an answer with `Content-Type: text/event-stream`",
              actual: show(mediaTypeOf(exchange) ?? undefined),
            },
      none: unproven("no stream was opened", "`agents.streaming` in the target file"),
    },
  ),
  check(
    "REQ-5",
    invokedOddly,
    (evidence) =>
      judgeSpelling(evidence, "whiteSpace", "accepted: white space between JSON tokens means nothing (RFC 8259, 2)"),
    { as: "white-space" },
  ),
  check(
    "REQ-5",
    invokedOddly,
    (evidence) =>
      judgeSpelling(evidence, "keyOrder", "accepted: the order of an object's keys means nothing (RFC 8259, 4)"),
    { as: "key-order" },
  ),
  observe("REQ-6", invokedWithNoJson, ({ malformed, plainText }) =>
    observed(`a body that is not JSON: ${answerTo(malformed)}; JSON declared as text/plain: ${answerTo(plainText)}`),
  ),
  check("REQ-7", { all: everything, lookedAt }, oneShape("list"), { as: "list" }),
  check("REQ-7", { all: everything, lookedAt }, oneShape("usage"), { as: "usage" }),
  check("REQ-8", { all: everything, lookedAt }, ({ all }) => {
    const answers = [...answersOf("list", all), ...answersOf("usage", all)];
    if (answers.length === 0) return unproven("neither list nor usage gave an answer of 200 with a JSON body");
    const enveloped = answers.filter((each) => isEnveloped(bodyJson(each)));
    for (const each of enveloped) {
      const wrong = misshapenEnvelope(each);
      if (wrong !== null) return wrong;
    }
    return follows(enveloped.length === 0 ? "absent" : "envelope");
  }),
  observe("LIM-22", invokedAtLength, ({ answer }) =>
    observed(`a body of ${longBodyBytes / 1024} KiB: ${outcomeOf(answer)}`),
  ),
  observe("REQ-9", lookedAt, ({ listing, usage }) =>
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
