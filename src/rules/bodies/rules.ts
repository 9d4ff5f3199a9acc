import { isObject, getPath } from "../../base/json.ts";
import { formatValue } from "../../base/format-value.ts";
import type { Mismatch } from "../mismatch.ts";
import type { ClauseId } from "../../spec/clauses.ts";
import { errorStatuses } from "../../spec/errors.ts";
import { healthStatuses } from "../../spec/events.ts";
import { type FieldTableName, rowsOf } from "../../spec/fields.ts";
import {
  type ErrorResponse,
  errorIn,
  formIn,
  retryAfterMismatch,
  codeStatusMismatch,
  detailsMismatch,
  formMismatch,
  limitCodeMismatch,
  statusMismatch,
  textMismatch,
} from "./errors.ts";
import { compileFieldTest, fieldMismatch } from "./fields.ts";

// k6 scripts import this file, so it uses no Buffer, no URL and no npm package.

/** An endpoint to which load is sent. */
export type LoadedEndpoint = "invoke" | "stream" | "health" | "usage" | "list";

/** The body of a response as a whole, and its declared content type. */
export interface ResponseBody extends ErrorResponse {
  readonly endpoint: LoadedEndpoint;
  readonly status: number;
  readonly text: string;
  /** The value of the `Content-Type` header; `null` if the header is absent. */
  readonly contentType: string | null;
}

/** A rule that each response must follow on its own. */
export interface BodyRule {
  readonly clause: ClauseId;
  /** Whether the clause covers responses of this endpoint with this status. */
  readonly appliesTo: (endpoint: LoadedEndpoint, status: number) => boolean;
  /** Returns the mismatch, `null` if the response follows the rule, `undefined` if the rule does not apply. */
  readonly judge: (answer: ResponseBody) => Mismatch | null | undefined;
}

const isError = (status: number): boolean => errorStatuses.includes(status);

/** Whether a response has a body to judge. A successful stream has none: other rules judge its events one by one. */
const isBody = (endpoint: LoadedEndpoint, status: number): boolean =>
  (status === 200 && endpoint !== "stream") || isError(status);

const jsonType = /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** Whether a `Content-Type` permits a JSON body. An absent `Content-Type` permits it, too. */
export const mayBeJson = (contentType: string | null): boolean => contentType === null || jsonType.test(contentType);

const isJson: BodyRule = {
  clause: "SVC-1",
  appliesTo: isBody,
  judge: ({ status, json, text }) =>
    json !== undefined || text === ""
      ? null
      : {
          expected: "a JSON body",
          actual: `${status} with a body that is not JSON: ${formatValue(text.slice(0, 80))}`,
        },
};

const isDeclared: BodyRule = {
  clause: "REQ-4",
  appliesTo: isBody,
  judge: ({ json, contentType }) => {
    if (json === undefined || mayBeJson(contentType)) return null;
    return { expected: "an answer with `Content-Type: application/json`", actual: formatValue(contentType) };
  },
};

/** Whether an error status comes with a health report, which the document allows. */
const isReport = ({ endpoint, json }: ResponseBody): boolean =>
  endpoint === "health" &&
  (isObject(getPath(json, "checks")) || healthStatuses.some((each) => each === getPath(json, "status")));

const ofErrors = (
  clause: ClauseId,
  judge: BodyRule["judge"],
  speaksOf: BodyRule["appliesTo"] = (_, status) => isError(status),
): BodyRule => ({
  clause,
  appliesTo: (endpoint, status) => isError(status) && speaksOf(endpoint, status),
  // A body that is not JSON breaks SVC-1 (bodies are JSON), and is not reported a second time here.
  judge: (answer) =>
    isReport(answer) || (answer.json === undefined && answer.text !== "") ? undefined : judge(answer),
});

/** Makes a rule skip error bodies without the field `error`: ERR-2, ERR-3 or ERR-4 already reports such a body. */
const inError =
  (judge: BodyRule["judge"]): BodyRule["judge"] =>
  (answer) =>
    errorIn(answer) === null ? undefined : judge(answer);

const isLimit: BodyRule["appliesTo"] = (_, status) => status === 429;

const errorRules: readonly BodyRule[] = [
  ofErrors("ERR-2", formMismatch, (endpoint) => endpoint === "invoke"),
  ofErrors("ERR-3", formMismatch, (endpoint) => endpoint === "stream"),
  ofErrors("ERR-4", formMismatch, (endpoint) => endpoint !== "invoke" && endpoint !== "stream"),
  ofErrors("ERR-5", inError(textMismatch)),
  ofErrors("ERR-6", (answer) => (isOf(answer, "form-a") ? statusMismatch(answer) : null)),
  ofErrors("ERR-7", (answer) => (isOf(answer, "form-b") ? detailsMismatch(answer) : null)),
  ofErrors("ERR-8", inError(retryAfterMismatch), isLimit),
  ofErrors("ERR-9", inError(limitCodeMismatch), isLimit),
  ofErrors("ERR-10", codeStatusMismatch),
];

function isOf(answer: ResponseBody, form: "form-a" | "form-b"): boolean {
  const found = formIn(answer);
  return found === form || found === "both";
}

/** Creates the rule that a response with status 200 has the fields that one clause requires. */
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
/** Clauses about the fields of a health report. */
export const healthClauses = [
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
  isJson,
  isDeclared,
  ...errorRules,
  ...invokeClauses.map((clause) => fieldsOf("invoke", clause)),
  ...healthClauses.map((clause) => fieldsOf("health", clause)),
];

/** A mismatch, and the clause that the response breaks. */
export interface BodyMismatch extends Mismatch {
  readonly clause: ClauseId;
}

/** The rules that apply to each endpoint and status, computed when first needed. */
const rulesByEndpoint: Partial<Record<LoadedEndpoint, Map<number, readonly BodyRule[]>>> = {};

function rulesFor(endpoint: LoadedEndpoint, status: number): readonly BodyRule[] {
  const ofEndpoint = (rulesByEndpoint[endpoint] ??= new Map<number, readonly BodyRule[]>());
  const found = ofEndpoint.get(status) ?? bodyRules.filter(({ appliesTo }) => appliesTo(endpoint, status));
  ofEndpoint.set(status, found);
  return found;
}

const noMismatches: readonly BodyMismatch[] = [];

/**
 * The response that was judged last, and its mismatches. Thousands of refusals have the same body, which is then judged
 * only once.
 */
let last: { readonly answer: ResponseBody; readonly flaws: readonly BodyMismatch[] } | null = null;

const isAlike = (one: ResponseBody, other: ResponseBody): boolean =>
  one.text === other.text &&
  one.status === other.status &&
  one.endpoint === other.endpoint &&
  one.contentType === other.contentType;

/** Returns every mismatch of one response. */
export function bodyMismatches(answer: ResponseBody): readonly BodyMismatch[] {
  if (last !== null && isAlike(last.answer, answer)) return last.flaws;
  let flaws = noMismatches;
  rulesFor(answer.endpoint, answer.status).forEach((rule) => {
    const wrong = rule.judge(answer);
    if (wrong !== null && wrong !== undefined) flaws = [...flaws, { clause: rule.clause, ...wrong }];
  });
  last = { answer, flaws };
  return flaws;
}
