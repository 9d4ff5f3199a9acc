import { isObject } from "../../base/json.ts";

/** A type that a field of a body can have: its name in messages, and a function that tests a value. */
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

/** Describes the first field with a value of a wrong type, else returns `null`. Absent and `null` fields pass. */
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

/** Describes what is wrong with the `query` of a body, else returns `null`. */
export function problemOfQuery(body: unknown): string | null {
  if (!isObject(body)) return body === undefined ? "no body" : "a body that is no object";
  if (body["query"] === undefined) return "no `query`";
  return string.has(body["query"]) ? null : "a `query` that is no string";
}

/** Describes what is wrong with the optional fields of a body that runs an agent, else returns `null`. */
export const problemOfParameters = (body: unknown): string | null =>
  problemOfFields(body, executionFields) ??
  problemOfFields(isObject(body) ? body["parameters"] : null, parameterFields, "parameters.");

const problemOfCreation =
  (fields: Fields) =>
  (body: unknown): string | null =>
    isObject(body) ? problemOfFields(body, fields) : "a body that is no object";

export const problemOfWebhook = problemOfCreation(webhookFields);
export const problemOfAlert = problemOfCreation(alertFields);
