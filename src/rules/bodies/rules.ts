import { formatValue, getPath, isObject } from "../../base/json.ts";
import {
  codeStatusMismatch,
  detailsMismatch,
  errorIn,
  type ErrorResponse,
  errorFormIn,
  formMismatch,
  limitCodeMismatch,
  type Mismatch,
  retryAfterMismatch,
  statusMismatch,
  codeOrMessageMismatch,
} from "./errors.ts";
import type { ClauseId } from "../../spec/clauses.ts";
import { errorStatuses, healthStatuses } from "../../spec/events-and-errors.ts";
import { type FieldTableName, rowsOf } from "../../spec/fields.ts";
import { compileFieldTest, fieldMismatch } from "./fields.ts";

// k6 scripts import this file, so it uses no Buffer, no URL and no npm package: k6 has none of them.

export type LoadedEndpoint = "invoke" | "stream" | "health" | "usage" | "list";

export interface EndpointResponse extends ErrorResponse {
  readonly endpoint: LoadedEndpoint;
  readonly status: number;
  readonly text: string;
  readonly contentType: string | null;
}

export interface BodyRule {
  readonly clause: ClauseId;
  readonly appliesTo: (endpoint: LoadedEndpoint, status: number) => boolean;
  /** Returns the mismatch, `null` if the response follows the rule, `undefined` if the rule does not apply. */
  readonly judge: (response: EndpointResponse) => Mismatch | null | undefined;
}

const isError = (status: number): boolean => errorStatuses.includes(status);

/** Whether to judge the whole body as JSON. A successful stream consists of events, which have their own rules. */
const hasJsonBody = (endpoint: LoadedEndpoint, status: number): boolean =>
  (status === 200 && endpoint !== "stream") || isError(status);

const jsonType = /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

export const mayBeJson = (contentType: string | null): boolean => contentType === null || jsonType.test(contentType);

const jsonRule: BodyRule = {
  clause: "SVC-1",
  appliesTo: hasJsonBody,
  judge: ({ status, json, text }) =>
    json !== undefined || text === ""
      ? null
      : {
          expected: "a JSON body",
          actual: `${status} with a body that is not JSON: ${formatValue(text.slice(0, 80))}`,
        },
};

const contentTypeRule: BodyRule = {
  clause: "REQ-4",
  appliesTo: hasJsonBody,
  judge: ({ json, contentType }) => {
    if (json === undefined || mayBeJson(contentType)) return null;
    return { expected: "an answer with `Content-Type: application/json`", actual: formatValue(contentType) };
  },
};

/** Whether a response is a health report. The document allows a health report with an error status. */
const isHealthReport = ({ endpoint, json }: EndpointResponse): boolean =>
  endpoint === "health" &&
  (isObject(getPath(json, "checks")) || healthStatuses.some((each) => each === getPath(json, "status")));

const ofErrors = (
  clause: ClauseId,
  judge: BodyRule["judge"],
  covers: BodyRule["appliesTo"] = (_, status) => isError(status),
): BodyRule => ({
  clause,
  appliesTo: (endpoint, status) => isError(status) && covers(endpoint, status),
  // Skips health reports, which may have an error status without an error body. Also skips bodies that are not JSON,
  // because they already break SVC-1.
  judge: (response) =>
    isHealthReport(response) || (response.json === undefined && response.text !== "") ? undefined : judge(response),
});

/** Limits a rule to bodies with an `error` object. Bodies without this object break ERR-2, ERR-3 or ERR-4. */
const onlyWithErrorObject =
  (judge: BodyRule["judge"]): BodyRule["judge"] =>
  (response) =>
    errorIn(response) === null ? undefined : judge(response);

const isRefusal: BodyRule["appliesTo"] = (_, status) => status === 429;

const errorRules: readonly BodyRule[] = [
  ofErrors("ERR-2", formMismatch, (endpoint) => endpoint === "invoke"),
  ofErrors("ERR-3", formMismatch, (endpoint) => endpoint === "stream"),
  ofErrors("ERR-4", formMismatch, (endpoint) => endpoint !== "invoke" && endpoint !== "stream"),
  ofErrors("ERR-5", onlyWithErrorObject(codeOrMessageMismatch)),
  ofErrors("ERR-6", (response) => (hasForm(response, "form-a") ? statusMismatch(response) : null)),
  ofErrors("ERR-7", (response) => (hasForm(response, "form-b") ? detailsMismatch(response) : null)),
  ofErrors("ERR-8", onlyWithErrorObject(retryAfterMismatch), isRefusal),
  ofErrors("ERR-9", onlyWithErrorObject(limitCodeMismatch), isRefusal),
  ofErrors("ERR-10", codeStatusMismatch),
];

function hasForm(response: EndpointResponse, form: "form-a" | "form-b"): boolean {
  const found = errorFormIn(response);
  return found === form || found === "both";
}

function fieldsOf(table: FieldTableName & LoadedEndpoint, clause: ClauseId): BodyRule {
  const tests = rowsOf(table, clause).map(compileFieldTest);
  return {
    clause,
    appliesTo: (endpoint, status) => endpoint === table && status === 200,
    judge: ({ json }) => {
      if (json === undefined || tests.every((test) => test(json))) return null;
      return fieldMismatch(table, clause, json);
    },
  };
}

const invokeClauses = ["INV-2", "INV-3", "INV-4", "INV-5", "INV-6"] as const;
export const healthBodyClauses = [
  "HLT-2",
  "HLT-3",
  "HLT-4",
  "HLT-5",
  "HLT-6",
  "HLT-7",
  "HLT-8",
  "HLT-9",
  "HLT-10",
] as const;

export const bodyRules: readonly BodyRule[] = [
  jsonRule,
  contentTypeRule,
  ...errorRules,
  ...invokeClauses.map((clause) => fieldsOf("invoke", clause)),
  ...healthBodyClauses.map((clause) => fieldsOf("health", clause)),
];

interface BodyMismatch extends Mismatch {
  readonly clause: ClauseId;
}

const rulesByEndpoint: Partial<Record<LoadedEndpoint, Map<number, readonly BodyRule[]>>> = {};

function rulesFor(endpoint: LoadedEndpoint, status: number): readonly BodyRule[] {
  const ofEndpoint = (rulesByEndpoint[endpoint] ??= new Map<number, readonly BodyRule[]>());
  const found = ofEndpoint.get(status) ?? bodyRules.filter(({ appliesTo }) => appliesTo(endpoint, status));
  ofEndpoint.set(status, found);
  return found;
}

const noMismatches: readonly BodyMismatch[] = [];

/** Cache of the latest result. Under load, thousands of refusals in sequence have the same body. */
let last: { readonly response: EndpointResponse; readonly flaws: readonly BodyMismatch[] } | null = null;

const isAlike = (one: EndpointResponse, other: EndpointResponse): boolean =>
  one.text === other.text &&
  one.status === other.status &&
  one.endpoint === other.endpoint &&
  one.contentType === other.contentType;

export function bodyMismatches(response: EndpointResponse): readonly BodyMismatch[] {
  if (last !== null && isAlike(last.response, response)) return last.flaws;
  let flaws = noMismatches;
  rulesFor(response.endpoint, response.status).forEach((rule) => {
    const wrong = rule.judge(response);
    if (wrong !== null && wrong !== undefined) flaws = [...flaws, { clause: rule.clause, ...wrong }];
  });
  last = { response, flaws };
  return flaws;
}
