import {
  otherJsonStyles,
  replaceAt,
  type JsonStyle,
  jsonText,
  plainJson,
  type JsonPath,
  jsonPathsOf,
  valueAt,
} from "../../mutants/edits.ts";
import { isObject, tryParseJson } from "../../../base/json.ts";
import type { ClauseId } from "../../../spec/clauses.ts";
import { type EndpointName, endpointNames, publishedEndpoints } from "../../../spec/endpoints.ts";
import {
  type FieldRow,
  type FieldType,
  fieldTableNames,
  fieldTableOf,
  type MessageKind,
} from "../../../spec/fields.ts";
import type { DimensionValues, PrescribedResponse, WireResponse } from "../dimensions.ts";
import { isPrescribed, isSuccess, type Mutation, mutation } from "./mutation.ts";

const otherTypes: Readonly<Record<FieldType, Readonly<Record<string, unknown>>>> = {
  string: { "a number": 7, "an object": { text: "seven" } },
  integer: { "a string": "7", "a fraction": 7.5 },
  number: { "a string": "7", true: true },
  object: { "a string": "seven", "a list": [{ text: "seven" }] },
  array: { "an object": { first: "seven" }, "a string": "seven" },
  timestamp: { "Unix seconds": 1_772_600_767, words: "yesterday" },
  "UTC timestamp": { "Unix seconds": 1_772_600_767, "another zone": "2026-03-04T05:06:07+05:00" },
  "operation path": { "a number": 7, "another path": "/v1/jobs/7" },
};

export interface FieldChange {
  readonly class: string;
  readonly what: string;
  readonly breaks: readonly ClauseId[];
  readonly requires: DimensionValues;
  /**
   * Returns the new value as `{ value }`; `{ value: undefined }` removes the field. Returns `null` if the change does
   * not apply.
   */
  readonly to: (value: unknown) => { readonly value: unknown } | null;
}

/**
 * A change from seconds to milliseconds applies only if the result exceeds this. A smaller result could be a correct
 * number of seconds.
 */
const maxPlausibleSeconds = 100;

export function fieldChanges(row: FieldRow): FieldChange[] {
  const { clause, path, type, isRequired, unit, oneOf } = row;
  const isPartOfMap = /\*$|\[\]$/.test(path);
  const change = (name: string, what: string, value: unknown, breaks: readonly ClauseId[] = [clause]): FieldChange => ({
    class: name,
    what: `${path}: ${what}`,
    breaks,
    // Requires a degraded agent, because only its health report has warnings.
    requires: path.startsWith("warnings") ? { agent: "degraded" } : {},
    to: () => ({ value }),
  });
  return [
    ...(isPartOfMap
      ? []
      : [
          isRequired
            ? change("drop a field", "left out", undefined)
            : change("legal: fields", "left out", undefined, []),
        ]),
    ...Object.entries(otherTypes[type]).map(([what, value]) => change("wrong type", `${what} for ${type}`, value)),
    ...(oneOf === null ? [] : [change("another value", "a value that is not of the list", "unheard-of")]),
    // Excludes `retry_after`, because a server is allowed to ask for a longer wait than needed.
    ...(unit === "seconds" && !path.endsWith("retry_after")
      ? [
          {
            class: "wrong unit",
            what: `${path}: milliseconds for seconds`,
            breaks: [clause],
            // Most agents have an `execution_time` of 0, which is the same in every unit. The slow one takes 2 s.
            requires: path.endsWith("execution_time") ? ({ agent: "slow" } as const) : {},
            to: (value: unknown) =>
              typeof value === "number" && value * 1000 > maxPlausibleSeconds ? { value: value * 1000 } : null,
          },
        ]
      : []),
  ];
}

/** Fields that are usually optional, but required in some cases. The legal mutations never remove these fields. */
const conditionallyRequired: ReadonlySet<string> = new Set(["warnings", "error.details", "retry_after"]);

export const jsonOf = ({ body }: WireResponse): unknown => tryParseJson(body.toString("utf8"));

export const withJsonBody = (response: WireResponse, value: unknown, style: JsonStyle = plainJson): WireResponse => ({
  ...response,
  body: Buffer.from(jsonText(value, style)),
});

function rootsOf(body: unknown): readonly JsonPath[] {
  const isEnvelope = isObject(body) && body["status"] === "success" && isObject(body["data"]);
  return isEnvelope ? [["data", "result"], ["data"], []] : [[]];
}

function changeField(response: WireResponse, path: string, to: FieldChange["to"]): WireResponse | null {
  const body = jsonOf(response);
  for (const root of rootsOf(body)) {
    const [found] = jsonPathsOf(valueAt(body, root), path);
    if (found === undefined) continue;
    const steps = [...root, ...found];
    const value = valueAt(body, steps);
    const changed = value === null ? null : to(value);
    return changed === null ? null : withJsonBody(response, replaceAt(body, steps, changed.value));
  }
  return null;
}

const outcomeByStatus: Readonly<Record<number, PrescribedResponse>> = {
  400: "400",
  401: "401",
  404: "404",
  429: "429",
  500: "5xx",
};

/**
 * Returns the endpoints for which the document lists the status. For 404 and 500, returns only the endpoints for which
 * the document also describes the error.
 */
const endpointsWith = (status: number): EndpointName[] =>
  endpointNames.filter((name) => {
    const statuses: readonly number[] = publishedEndpoints[name].statuses;
    if (status === 404) return name === "invoke" || name === "stream" || name === "health";
    if (status === 500) return name === "invoke";
    return statuses.includes(status);
  });

function describedResponses(
  message: MessageKind,
): { readonly endpoints: readonly EndpointName[]; readonly prescribed: PrescribedResponse; readonly at: string }[] {
  if (message.kind === "answer")
    return [
      {
        endpoints: [message.endpoint],
        prescribed: "success",
        at: `${message.endpoint} ${message.statuses.join(", ")}`,
      },
    ];
  // Skips `form-b` errors, because the reference server sends only errors of `form-a`.
  if (message.kind !== "error" || message.form !== "form-a") return [];
  const statuses = message.status === null ? [400, 401, 404, 429, 500] : [message.status];
  return statuses.flatMap((status) => {
    const prescribed = outcomeByStatus[status];
    return prescribed === undefined ? [] : [{ endpoints: endpointsWith(status), prescribed, at: String(status) }];
  });
}

const fieldMutations: readonly Mutation[] = fieldTableNames.flatMap((name) => {
  const { message, fields } = fieldTableOf(name);
  return describedResponses(message).flatMap(({ endpoints, prescribed, at }) =>
    (fields ?? []).flatMap((row) =>
      fieldChanges(row)
        .filter(({ breaks }) => breaks.length > 0 || !conditionallyRequired.has(row.path))
        .map(({ class: group, what, breaks, requires, to }) =>
          mutation({
            class: group,
            description: `${what} (${at})`,
            endpoints,
            prescribed,
            breaks,
            requires,
            appliesTo: isPrescribed(prescribed),
            change: { kind: "body", of: (response) => changeField(response, row.path, to) },
          }),
        ),
    ),
  );
});

const swapFields = (endpoint: EndpointName, one: string, other: string, breaks: readonly ClauseId[]): Mutation =>
  mutation({
    class: "swap two values",
    description: `${one} and ${other} swapped (${endpoint})`,
    endpoints: [endpoint],
    prescribed: "success",
    breaks,
    appliesTo: isSuccess,
    change: {
      kind: "body",
      of: (response) => {
        const body = jsonOf(response);
        const [first, second] = [jsonPathsOf(body, one)[0], jsonPathsOf(body, other)[0]];
        if (first === undefined || second === undefined) return null;
        const swapped = replaceAt(replaceAt(body, first, valueAt(body, second)), second, valueAt(body, first));
        return withJsonBody(response, swapped);
      },
    },
  });

const legalBody = (description: string, of: (response: WireResponse, body: unknown) => WireResponse | null): Mutation =>
  mutation({
    class: "legal: bodies",
    description,
    endpoints: endpointNames,
    change: {
      kind: "body",
      of: (response) => {
        const body = jsonOf(response);
        return body === undefined ? null : of(response, body);
      },
    },
  });

export const bodyMutations: readonly Mutation[] = [
  ...fieldMutations,
  swapFields("health", "status", "version", ["HLT-2"]),
  swapFields("usage", "period", "requests", ["USE-2", "USE-3"]),
  swapFields("list", "data", "pagination", ["LST-2", "LST-3"]),
  swapFields("invoke", "result", "metadata.request_id", ["INV-2", "INV-6"]),
  mutation({
    class: "drop a field",
    description: "warnings left out (health of a degraded agent)",
    endpoints: ["health"],
    prescribed: "success",
    requires: { agent: "degraded" },
    appliesTo: isSuccess,
    breaks: ["HLT-14"],
    change: { kind: "body", of: (response) => changeField(response, "warnings", () => ({ value: undefined })) },
  }),
  ...Object.entries(otherJsonStyles).map(([description, style]) =>
    legalBody(description, (response, body) => withJsonBody(response, body, style)),
  ),
  legalBody("unknown fields", (response, body) =>
    isObject(body) ? withJsonBody(response, { x_text: "more", x_null: null, ...body, x_last: [1, "two"] }) : null,
  ),
];
