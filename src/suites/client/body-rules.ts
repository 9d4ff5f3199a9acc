import { isObject } from "../../base/json.ts";

/** A type of the tables: its name, and whether a value has it. */
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

/** Returns the first field that has another type. An absent field, or one that is `null`, has none. */
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

/** The problem of the body of an invoke, a stream or a batch item, as to `query`. `undefined` stands for no body. */
export function problemOfExecution(body: unknown): string | null {
  if (!isObject(body)) return body === undefined ? "no body" : "a body that is no object";
  if (body["query"] === undefined) return "no `query`";
  return string.has(body["query"]) ? null : "a `query` that is no string";
}

/** The problem of the optional fields of such a body. */
export const problemOfParameters = (body: unknown): string | null =>
  problemOfFields(body, executionFields) ??
  problemOfFields(isObject(body) ? body["parameters"] : null, parameterFields, "parameters.");

const problemOfCreation =
  (fields: Fields) =>
  (body: unknown): string | null =>
    isObject(body) ? problemOfFields(body, fields) : "a body that is no object";

export const problemOfWebhook = problemOfCreation(webhookFields);
export const problemOfAlert = problemOfCreation(alertFields);
