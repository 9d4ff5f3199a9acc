import { isObject, tryParseJson } from "../../base/json.ts";
import { requestHeaderValues } from "../../evidence/exchange.ts";
import { requestTarget } from "../../evidence/client-call.ts";
import { endpointOfRequest, type EndpointName } from "../../spec/endpoints.ts";
import { headerNames } from "../../spec/headers.ts";
import type { JudgedId } from "../../spec/clauses.ts";
import type { SignedCall } from "./probes.ts";

interface FieldType {
  readonly name: string;
  readonly has: (value: unknown) => boolean;
}

const string: FieldType = { name: "a string", has: (value) => typeof value === "string" };
const object: FieldType = { name: "an object", has: isObject };
const number: FieldType = { name: "a number", has: (value) => typeof value === "number" };
const integer: FieldType = { name: "an integer", has: Number.isInteger };
const url: FieldType = { name: "a URL", has: (value) => typeof value === "string" && URL.canParse(value) };
const strings: FieldType = {
  name: "an array of strings",
  has: (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
};
const temperature: FieldType = {
  name: "a number from 0.0 to 2.0",
  has: (value) => typeof value === "number" && value >= 0 && value <= 2,
};

type Fields = Readonly<Record<string, FieldType>>;

const executionFields: Fields = { session_id: string, parameters: object };
const parameterFields: Fields = { temperature, max_tokens: integer, context: object };
const webhookFields: Fields = { url, events: strings, agent_id: string, secret: string };
const alertFields: Fields = { type: string, threshold: number, webhook_url: url };

function problemOfFields(value: unknown, fields: Fields, prefix = ""): string | null {
  if (!isObject(value)) return null;
  const wrong = Object.entries(fields).find(([name, type]) => {
    const field = value[name] ?? null;
    return field !== null && !type.has(field);
  });
  if (wrong === undefined) return null;
  const [name, type] = wrong;
  return `\`${prefix}${name}\` is ${JSON.stringify(value[name]).slice(0, 60)}, not ${type.name}`;
}

function problemOfQuery(body: unknown): string | null {
  if (!isObject(body)) return body === undefined ? "no body" : "a body that is no object";
  if (body["query"] === undefined) return "no `query`";
  return string.has(body["query"]) ? null : "a `query` that is no string";
}

const problemOfParameters = (body: unknown): string | null =>
  problemOfFields(body, executionFields) ??
  problemOfFields(isObject(body) ? body["parameters"] : null, parameterFields, "parameters.");

const problemOfCreation = (body: unknown, fields: Fields): string | null =>
  isObject(body) ? problemOfFields(body, fields) : "a body that is no object";

export interface RequestRule {
  readonly expected: string;
  readonly noneReason: string;
  /** Whether a violation is a breach in every run. If absent, it is a breach only in a strict run, otherwise a note. */
  readonly isAlwaysBreach?: true;
  /** Returns what is wrong with a request, or `null`. `undefined` means that the rule does not cover the request. */
  readonly problemOf: (call: SignedCall) => string | null | undefined;
}

const valuesOf = ({ exchange }: SignedCall, name: string): string[] => requestHeaderValues(exchange.request, name);

const endpointOf = ({ exchange: { request } }: SignedCall): EndpointName | null =>
  endpointOfRequest(request.method, request.url)?.endpoint ?? null;

const mediaTypes = (values: readonly string[]): string[] =>
  values.flatMap((value) => value.split(",")).map((each) => (each.split(";")[0] ?? "").trim().toLowerCase());

const quote = (text: string): string => JSON.stringify(text.slice(0, 60));

const bodyOf = ({ exchange: { request } }: SignedCall): unknown =>
  request.body.kind === "text" ? tryParseJson(request.body.text) : undefined;

/** Returns one body per agent execution: the request's body, or each item of a batch. */
function executionsIn(call: SignedCall): readonly unknown[] {
  const endpoint = endpointOf(call);
  const body = bodyOf(call);
  if (endpoint === "invoke" || endpoint === "stream") {
    const { kind } = call.exchange.request.body;
    return body === undefined && kind !== "none" ? [] : [body];
  }
  const batch = isObject(body) && call.exchange.request.method === "POST" ? body["batch"] : undefined;
  return Array.isArray(batch) ? (batch as readonly unknown[]) : [];
}

const judgeEachExecution =
  (problemIn: (body: unknown) => string | null): RequestRule["problemOf"] =>
  (call) => {
    const executions = executionsIn(call);
    if (executions.length === 0) return undefined;
    return executions.map(problemIn).find((problem) => problem !== null) ?? null;
  };

const pageParameters = ["page", "limit"] as const;

const queryOf = ({ exchange: { request } }: SignedCall): URLSearchParams =>
  new URLSearchParams(requestTarget(request).split("?").slice(1).join("?"));

const isSigned = (call: SignedCall): boolean =>
  valuesOf(call, headerNames.signature).length + valuesOf(call, headerNames.timestamp).length > 0;

/** Tolerated difference between `X-Timestamp` and the request's arrival: a client may queue a signed request. */
const maxSkewSeconds = 120;

export const requestRules = {
  "CLI-1": {
    expected: "a path with the segment `/v1` once",
    noneReason: "the client sent no request",
    isAlwaysBreach: true,
    problemOf: ({ exchange: { request } }) =>
      /^\/+v1\/+v1(?:[/?]|$)/.test(requestTarget(request)) ? `the path ${quote(requestTarget(request))}` : null,
  },
  "CLI-2": {
    expected: "`Authorization: Bearer <API_KEY>` with the key that the client was given",
    noneReason: "the client sent no request",
    problemOf: (call) => {
      // A browser sends a CORS preflight request on its own, and never with a key. Source: Fetch standard.
      if (call.exchange.request.method === "OPTIONS") return undefined;
      const values = valuesOf(call, "authorization");
      if (values.length !== 1)
        return values.length === 0 ? "no `Authorization`" : `${values.length} \`Authorization\`s`;
      if (!/^Bearer \S/i.test(values[0] ?? "")) return "an `Authorization` that is not `Bearer <API_KEY>`";
      return call.exchange.key === null ? "another key" : null;
    },
  },
  "CLI-3": {
    expected: "`Content-Type: application/json` on a request with a body",
    noneReason: "the client sent no body",
    problemOf: (call) => {
      if (call.exchange.request.body.kind === "none") return undefined;
      const types = mediaTypes(valuesOf(call, "content-type"));
      if (types.length === 1 && types[0] === "application/json") return null;
      return types.length === 0 ? "no `Content-Type`" : `\`Content-Type\` ${quote(types.join(", "))}`;
    },
  },
  "CLI-4": {
    expected: "`Accept` names `application/json`, and `text/event-stream` for a stream",
    noneReason: "the client called no endpoint of the document",
    problemOf: (call) => {
      const endpoint = endpointOf(call);
      if (endpoint === null) return undefined;
      const values = valuesOf(call, "accept");
      const wanted = endpoint === "stream" ? "text/event-stream" : "application/json";
      if (mediaTypes(values).includes(wanted)) return null;
      return values.length === 0 ? "no `Accept`" : `\`Accept: ${values.join(", ").slice(0, 60)}\` on ${endpoint}`;
    },
  },
  "CLI-5": {
    expected: "a body that is JSON",
    noneReason: "the client sent no body",
    problemOf: ({ exchange: { request } }) => {
      if (request.body.kind === "none" || request.body.kind === "cut") return undefined;
      const isJson = request.body.kind === "text" && tryParseJson(request.body.text) !== undefined;
      return isJson ? null : "a body that is not JSON";
    },
  },
  "CLI-6": {
    expected: "the string `query` in the body of an invoke, a stream or a batch item",
    noneReason: "the client sent no invoke, stream or batch",
    problemOf: judgeEachExecution(problemOfQuery),
  },
  "CLI-7": {
    expected: "`session_id` and `parameters` of their types, `temperature` from 0.0 to 2.0",
    noneReason: "the client sent no invoke, stream or batch",
    problemOf: judgeEachExecution(problemOfParameters),
  },
  "CLI-8": {
    expected: "`page` and `limit` are integers",
    noneReason: "the client sent no list request with `page` or `limit`",
    problemOf: (call) => {
      if (endpointOf(call) !== "list") return undefined;
      const given = pageParameters.flatMap((name) =>
        queryOf(call)
          .getAll(name)
          .map((value) => ({ name, value })),
      );
      if (given.length === 0) return undefined;
      const wrong = given.find(({ value }) => !/^-?\d+$/.test(value));
      return wrong === undefined ? null : `\`${wrong.name}\` is ${quote(wrong.value)}`;
    },
  },
  "CLI-9": {
    expected: "`page` and `limit` on a list request",
    noneReason: "the client sent no list request",
    problemOf: (call) => {
      if (endpointOf(call) !== "list") return undefined;
      const absent = pageParameters.filter((name) => !queryOf(call).has(name));
      return absent.length === 0 ? null : `no ${absent.map((name) => `\`${name}\``).join(" and no ")}`;
    },
  },
  "CLI-10": {
    expected: "`X-Signature` is the signature of method, path, timestamp and body",
    noneReason: "the client signed no request",
    problemOf: (call) => {
      if (!isSigned(call) || call.exchange.request.body.kind === "cut") return undefined;
      const [signatures, timestamps] = [headerNames.signature, headerNames.timestamp].map((name) =>
        valuesOf(call, name),
      );
      if (timestamps?.length !== 1) return "no single `X-Timestamp`";
      const [signature] = signatures ?? [];
      if (signature === undefined || signatures?.length !== 1) return "no single `X-Signature`";
      if (call.computedSignatures.includes(signature)) return null;
      const isUpper = call.computedSignatures.includes(signature.toLowerCase());
      return isUpper ? "a signature in upper case" : "a signature that does not match what was sent";
    },
  },
  "CLI-11": {
    expected: "`X-Timestamp` is the current Unix time in seconds",
    noneReason: "the client signed no request",
    problemOf: (call) => {
      const [timestamp] = valuesOf(call, headerNames.timestamp);
      if (timestamp === undefined) return undefined;
      if (!/^\d+$/.test(timestamp)) return `\`X-Timestamp\` is ${quote(timestamp)}`;
      const skewSeconds = Math.round(Number(timestamp) - call.receivedUnixMs / 1000);
      if (Math.abs(skewSeconds) <= maxSkewSeconds) return null;
      return `\`X-Timestamp\` is ${Math.abs(skewSeconds)} s ${skewSeconds > 0 ? "ahead" : "late"}`;
    },
  },
  "CLI-23": {
    expected: "the fields of a webhook or an alert have the types of the tables",
    noneReason: "the client created no webhook and no alert",
    problemOf: (call) => {
      const [endpoint, body] = [endpointOf(call), bodyOf(call)];
      if (body === undefined) return undefined;
      if (endpoint === "webhooks") return problemOfCreation(body, webhookFields);
      return endpoint === "alerts" ? problemOfCreation(body, alertFields) : undefined;
    },
  },
} as const satisfies Partial<Readonly<Record<JudgedId, RequestRule>>>;
