import type { SwaggerTransformObject } from "@fastify/swagger";

/** What a description starts with. */
const head = {
  openapi: "3.1.0",
  info: { title: "Agent Hosting Service Interface", description: "The reference server.", version: "v1" },
  components: { securitySchemes: { key: { type: "http", scheme: "bearer" } } },
} as const;

interface DescribedAnswer {
  readonly headers?: Readonly<Record<string, object>>;
}

interface DescribedOperation {
  readonly responses?: Readonly<Record<string, DescribedAnswer>>;
}

/** The routes' schemas have no word for a header that is always there. */
const transformObject: SwaggerTransformObject = (document) => {
  if (!("openapiObject" in document)) return document.swaggerObject;
  const paths: Readonly<Record<string, unknown>> = document.openapiObject.paths ?? {};
  for (const item of Object.values(paths)) {
    for (const { responses = {} } of Object.values(item as Readonly<Record<string, DescribedOperation>>)) {
      for (const { headers = {} } of Object.values(responses)) {
        for (const header of Object.values(headers)) Object.assign(header, { required: true });
      }
    }
  }
  return document.openapiObject;
};

/** How the server describes itself in OpenAPI. */
export const openApiOptions = { openapi: { ...head, security: [{ key: [] }] }, transformObject };
