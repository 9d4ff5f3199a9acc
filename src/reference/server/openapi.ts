import type { SwaggerTransformObject } from "@fastify/swagger";

/** The head of the OpenAPI description. */
const head = {
  openapi: "3.1.0",
  info: { title: "Agent Hosting Service Interface", description: "The reference server.", version: "v1" },
  components: { securitySchemes: { key: { type: "http", scheme: "bearer" } } },
} as const;

interface DescribedResponse {
  readonly headers?: Readonly<Record<string, object>>;
}

interface DescribedOperation {
  readonly responses?: Readonly<Record<string, DescribedResponse>>;
}

/** Marks response headers as required, which the schemas of routes cannot express. */
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

/** Options of the plugin that generates the OpenAPI description. */
export const openApiOptions = { openapi: { ...head, security: [{ key: [] }] }, transformObject };
