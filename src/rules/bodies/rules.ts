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

// Scripts of k6 import this file: it has no Buffer, no URL and no package of others.

/** An endpoint that load is put on. */
export type LoadedEndpoint = "invoke" | "stream" | "health" | "usage" | "list";

/** An answer's body, as it came whole, and what it is declared as. */
export interface ResponseBody extends ErrorResponse {
  readonly endpoint: LoadedEndpoint;
  readonly status: number;
  readonly text: string;
  /** As sent; `null` where it is absent. */
  readonly contentType: string | null;
}

/** What one answer says by itself, whatever came before it: judged on every answer, when it comes. */
export interface BodyRule {
  readonly clause: ClauseId;
  /** The answers that the clause speaks of, by where they come from. */
  readonly appliesTo: (endpoint: LoadedEndpoint, status: number) => boolean;
  /** What is wrong with one, `null` where nothing is, `undefined` where the clause says nothing of it. */
  readonly judge: (answer: ResponseBody) => Mismatch | null | undefined;
}

const isError = (status: number): boolean => errorStatuses.includes(status);

/** Events are looked at on their own. */
const isBody = (endpoint: LoadedEndpoint, status: number): boolean =>
  (status === 200 && endpoint !== "stream") || isError(status);

const jsonType = /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** Whether a body's `Content-Type` declares it as JSON; one that is absent says nothing else. */
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

/** A report under an error's status is a report. */
const isReport = ({ endpoint, json }: ResponseBody): boolean =>
  endpoint === "health" &&
  (isObject(getPath(json, "checks")) || healthStatuses.some((each) => each === getPath(json, "status")));

const ofErrors = (
  clause: ClauseId,
  say: BodyRule["judge"],
  speaksOf: BodyRule["appliesTo"] = (_, status) => isError(status),
): BodyRule => ({
  clause,
  appliesTo: (endpoint, status) => isError(status) && speaksOf(endpoint, status),
  // What is no JSON is SVC-1's to say.
  judge: (answer) => (isReport(answer) || (answer.json === undefined && answer.text !== "") ? undefined : say(answer)),
});

/** Where there is no `error` at all, that is said once, by the clause of the form. */
const inError =
  (say: BodyRule["judge"]): BodyRule["judge"] =>
  (answer) =>
    errorIn(answer) === null ? undefined : say(answer);

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

/** The rows of a table that a clause states, on answers 200. */
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
const healthClauses = ["HLT-2", "HLT-3", "HLT-4", "HLT-5", "HLT-6", "HLT-7", "HLT-8", "HLT-9", "HLT-10"] as const;

export const bodyRules: readonly BodyRule[] = [
  isJson,
  isDeclared,
  ...errorRules,
  ...invokeClauses.map((clause) => fieldsOf("invoke", clause)),
  ...healthClauses.map((clause) => fieldsOf("health", clause)),
];

/** What is wrong with an answer by one clause. */
export interface BodyMismatch extends Mismatch {
  readonly clause: ClauseId;
}

/** The rules that speak of an endpoint's answers with a status. */
const known: Partial<Record<LoadedEndpoint, Map<number, readonly BodyRule[]>>> = {};

function rulesFor(endpoint: LoadedEndpoint, status: number): readonly BodyRule[] {
  const ofEndpoint = (known[endpoint] ??= new Map<number, readonly BodyRule[]>());
  const found = ofEndpoint.get(status) ?? bodyRules.filter(({ appliesTo }) => appliesTo(endpoint, status));
  ofEndpoint.set(status, found);
  return found;
}

const sound: readonly BodyMismatch[] = [];

/** Thousands of refusals have the same body: it is judged once. */
let last: { readonly answer: ResponseBody; readonly flaws: readonly BodyMismatch[] } | null = null;

const isAlike = (one: ResponseBody, other: ResponseBody): boolean =>
  one.text === other.text &&
  one.status === other.status &&
  one.endpoint === other.endpoint &&
  one.contentType === other.contentType;

/** All that is wrong with an answer by itself. */
export function bodyMismatches(answer: ResponseBody): readonly BodyMismatch[] {
  if (last !== null && isAlike(last.answer, answer)) return last.flaws;
  let flaws = sound;
  rulesFor(answer.endpoint, answer.status).forEach((rule) => {
    const wrong = rule.judge(answer);
    if (wrong !== null && wrong !== undefined) flaws = [...flaws, { clause: rule.clause, ...wrong }];
  });
  last = { answer, flaws };
  return flaws;
}
