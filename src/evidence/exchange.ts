import { z } from "zod";
import { type DeepReadonly, getPath, tryParseJson } from "../base/json.ts";
import { parseBoundedJson } from "../base/parsing.ts";
import { memoizeByObject } from "../base/memoize.ts";

const bytes = z.int().nonnegative().describe("Length of the decoded body in bytes.");

const headersSchema = z
  .array(z.tuple([z.string(), z.string()]))
  .describe("Name and value of each header, in order, names in the sender's spelling.");

const bodySchema = z
  .discriminatedUnion("kind", [
    z.object({ kind: z.literal("none") }),
    z.object({ kind: z.literal("text"), text: z.string(), bytes }),
    z.object({ kind: z.literal("base64"), base64: z.string(), bytes }).describe("A body that is not UTF-8."),
    z
      .object({ kind: z.literal("cut"), head: z.string(), tail: z.string(), bytes, sha256: z.string() })
      .describe("A long body: its first and last part, its length, and the SHA-256 of the whole in hexadecimal."),
  ])
  .meta({ id: "body" });

const streamEventSchema = z.object({
  name: z.string().nullable().describe("The `event:` name; null where the event had none."),
  data: z.string(),
  atMs: z.number().describe("Milliseconds since the start of the run."),
});

const endingSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("complete") }),
  // The harness closed the connection on purpose, because it had read enough of the response.
  z.object({ kind: z.literal("closed by us") }),
  z.object({ kind: z.literal("broken"), detail: z.string() }),
  z.object({ kind: z.literal("deadline"), detail: z.string() }),
]);

const answeredSchema = z.object({
  kind: z.literal("answered"),
  status: z.int(),
  headers: headersSchema,
  headMs: z.number().describe("When the head had arrived, in milliseconds since the start of the run."),
  endMs: z.number(),
  body: bodySchema,
  ending: endingSchema,
  events: z.array(streamEventSchema),
});

const unansweredSchema = z.object({
  kind: z.literal("unanswered"),
  /** `unreachable`: no connection. `broken`: the connection ended too early. `silent`: a deadline passed. */
  reason: z.enum(["unreachable", "broken", "silent"]),
  detail: z.string(),
  endMs: z.number(),
});

export const requestSchema = z
  .object({ method: z.string(), url: z.string(), headers: headersSchema, body: bodySchema })
  .meta({ id: "request" });

export const exchangeSchema = z
  .object({
    id: z.string(),
    key: z.string().nullable().describe("Name of the target's key that was used; never the key itself."),
    request: requestSchema,
    sentMs: z.number().describe("Milliseconds since the start of the run."),
    clockMs: z.number().describe("How far the target's own clock had been moved by then, in milliseconds."),
    answer: z.discriminatedUnion("kind", [answeredSchema, unansweredSchema]),
    reconnect: z
      .enum(["accepted", "refused", "gateway"])
      .describe(
        "Whether the target accepted a new connection right after this one broke. `gateway`: a gateway answered in the place of the target. After `refused` and `gateway`, the exchange says nothing about the target. Absent for other exchanges, and in files of earlier versions.",
      )
      .exactOptional(),
    keyState: z
      .string()
      .describe(
        "The limit of the key that the run had used up before: `minute used up`, `hour used up`, `tokens spent` or `slots held`. Absent for other requests.",
      )
      .exactOptional(),
    since: z
      .string()
      .describe(
        "Requirement set of the probe that sent the request, if it is later than 1.0. Checks of earlier sets do not judge the exchange.",
      )
      .exactOptional(),
  })
  .meta({ id: "exchange" });

/** A header. The name is in the sender's spelling, e.g. `content-type` or `Content-Type`. */
export type Header = readonly [name: string, value: string];

/** A recorded body. If it is longer than 256 KiB, only its first and last 16 KiB are kept. */
export type Body = DeepReadonly<z.infer<typeof bodySchema>>;

export type SentRequest = DeepReadonly<z.infer<typeof requestSchema>>;

export type StreamEvent = DeepReadonly<z.infer<typeof streamEventSchema>>;

export type Ending = DeepReadonly<z.infer<typeof endingSchema>>;

export type Answered = DeepReadonly<z.infer<typeof answeredSchema>>;

export type Unanswered = DeepReadonly<z.infer<typeof unansweredSchema>>;

/** A request and its response, or the reason why there was no response. */
export type Exchange = DeepReadonly<z.infer<typeof exchangeSchema>>;

export const statusOf = (exchange: Exchange): number | null =>
  exchange.answer.kind === "answered" ? exchange.answer.status : null;

/** Returns all values of a header. Upper and lower case in header names count as equal. */
export function valuesOfHeader(headers: readonly Header[], name: string): string[] {
  const wanted = name.toLowerCase();
  return headers.filter(([each]) => each.toLowerCase() === wanted).map(([, value]) => value);
}

export const headerValue = (headers: readonly Header[], name: string): string | undefined =>
  valuesOfHeader(headers, name)[0];

export function headerValues(exchange: Exchange, name: string): string[] {
  if (exchange.answer.kind !== "answered") return [];
  return (byLowerName(exchange.answer.headers).get(name.toLowerCase()) ?? []).map(([, value]) => value);
}

/** Groups headers by lower-case name. Caches the result, because dozens of checks read the headers of each response. */
const byLowerName = memoizeByObject((headers: readonly Header[]) =>
  Map.groupBy(headers, ([name]) => name.toLowerCase()),
);

/** Returns the text of a response body; `null` if the body is missing, not UTF-8, or too long to be recorded whole. */
export function bodyText(exchange: Exchange): string | null {
  const { answer } = exchange;
  return answer.kind === "answered" && answer.body.kind === "text" ? answer.body.text : null;
}

export const sentJson: (request: SentRequest) => unknown = memoizeByObject(({ body }: SentRequest) =>
  body.kind === "text" ? tryParseJson(body.text) : undefined,
);

export const bodyJson: (exchange: Exchange) => unknown = memoizeByObject((exchange: Exchange) => {
  const text = bodyText(exchange);
  return text === null ? undefined : parseBoundedJson(text);
});

const isEnvelope = (body: unknown): boolean =>
  (getPath(body, "status") === "success" && getPath(body, "data") !== undefined) ||
  (getPath(body, "status") === "error" && getPath(body, "error") !== undefined);

/**
 * Returns the object in a response body that has at least one of the fields `known`: the body itself (unless it is an
 * envelope), its `data.result` or its `data`. Returns the body if none of the three has such a field.
 */
export function endpointFields(body: unknown, known: readonly string[]): unknown {
  if (known.some((name) => getPath(body, name) !== undefined && !isEnvelope(body))) return body;
  for (const inner of [getPath(body, "data", "result"), getPath(body, "data")])
    if (known.some((name) => getPath(inner, name) !== undefined)) return inner;
  return body;
}

/** Returns `data.result` or else `data` of a success envelope. Skips arrays. Returns the body if neither remains. */
export function envelopeContent(body: unknown): unknown {
  const data = getPath(body, "data");
  const result = getPath(data, "result");
  if (getPath(body, "status") !== "success" || Array.isArray(data)) return body;
  return result !== undefined && !Array.isArray(result) ? result : (data ?? body);
}

export const requestHeaderValues = ({ headers }: Pick<SentRequest, "headers">, name: string): string[] =>
  valuesOfHeader(headers, name);
