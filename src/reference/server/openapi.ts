import type { SwaggerTransformObject } from "@fastify/swagger";
import { rateHeaderOf, rateHeaderKeys } from "../../spec/headers.ts";

export const jsonMediaType = "application/json";

export const stringSchema = { type: "string" } as const;
export const integerSchema = { type: "integer" } as const;
export const numberSchema = { type: "number" } as const;
export const timeSchema = { type: "string", format: "date-time" } as const;
export const secondsSchema = { ...numberSchema, description: "Seconds." } as const;
export const nullableStringSchema = { type: ["string", "null"] } as const;

export function objectSchema(properties: object, required: readonly string[] = Object.keys(properties)) {
  return { type: "object", properties, ...(required.length === 0 ? {} : { required }) };
}

export const fieldsWith = (schema: object, ...names: readonly string[]): Record<string, object> =>
  Object.fromEntries(names.map((name) => [name, schema]));

export const optionalObjectSchema = (properties: object) => objectSchema(properties, []);

export const arraySchema = (items: object, rest: object = {}) => ({ type: "array", items, ...rest });

type ErrorRow = readonly [status: number, description: string];

const unauthorizedRow: ErrorRow = [401, "The key is missing, wrong or expired."];
const forbiddenRow: ErrorRow = [403, "The key may not do this, or not from this address."];
const notAcceptableRow: ErrorRow = [406, "No media type of the response matches `Accept`."];

export const errorResponses = {
  badRequest: [400, "A field is missing or invalid."],
  noAgent: [404, "No agent has this id."],
  tooLarge: [413, "The body is larger than the server reads."],
  limited: [429, "A limit is used up; wait `retry_after` seconds."],
  crashed: [500, "The agent failed."],
} as const satisfies Record<string, ErrorRow>;

const errorBodySchema = objectSchema({
  error: objectSchema(
    { code: stringSchema, message: stringSchema, status: integerSchema, retry_after: integerSchema },
    ["code", "message"],
  ),
});

const rateLimitHeaders = Object.fromEntries(
  rateHeaderKeys
    .map(rateHeaderOf)
    .map(({ header, says, value }) => [
      header,
      { ...(typeof value === "string" ? integerSchema : { ...stringSchema, enum: value }), description: says },
    ]),
);

/**
 * Makes response schemas for the OpenAPI document. The server does not serialize responses by these schemas, because
 * that would drop fields that a fault adds.
 */
export function responseSchemas(
  description: string,
  content: Readonly<Record<string, object>>,
  errorRows: readonly ErrorRow[],
  status = 200,
): Record<number, object> {
  const withHeaders = (text: string, bodies: Readonly<Record<string, object>>) => ({
    description: text,
    headers: rateLimitHeaders,
    content: Object.fromEntries(Object.entries(bodies).map(([type, schema]) => [type, { schema }])),
  });
  const rows = [unauthorizedRow, forbiddenRow, notAcceptableRow, ...errorRows];
  return {
    [status]: withHeaders(description, content),
    ...Object.fromEntries(rows.map(([code, text]) => [code, withHeaders(text, { [jsonMediaType]: errorBodySchema })])),
  };
}

export const jsonResponse = (
  description: string,
  schema: object,
  errorRows: readonly ErrorRow[],
  status = 200,
): Record<number, object> => responseSchemas(description, { [jsonMediaType]: schema }, errorRows, status);

interface DescribedOperation {
  readonly responses?: Readonly<Record<string, { readonly headers?: Readonly<Record<string, object>> }>>;
}

/** Marks response headers as required in the OpenAPI document. The schemas of routes cannot express that. */
const transformObject: SwaggerTransformObject = (document) => {
  if (!("openapiObject" in document)) return document.swaggerObject;
  const paths: Readonly<Record<string, unknown>> = document.openapiObject.paths ?? {};
  for (const item of Object.values(paths)) {
    for (const { responses: described = {} } of Object.values(item as Readonly<Record<string, DescribedOperation>>)) {
      for (const { headers = {} } of Object.values(described)) {
        for (const header of Object.values(headers)) Object.assign(header, { required: true });
      }
    }
  }
  return document.openapiObject;
};

const openApiInfo = { title: "Agent Hosting Service Interface", description: "The reference server.", version: "v1" };
const openApiComponents = { securitySchemes: { key: { type: "http", scheme: "bearer" } } } as const;

export const openApiOptions = {
  openapi: { openapi: "3.1.0", info: openApiInfo, components: openApiComponents, security: [{ key: [] }] },
  transformObject,
};
