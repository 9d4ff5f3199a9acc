import type { FastifyError, FastifyInstance } from "fastify";
import type { Behaviour } from "../behaviour/behaviour.ts";
import { fieldError, apiError, type ApiError } from "../api-error.ts";
import type { Endpoint } from "../endpoint.ts";
import type { ServerState } from "./state.ts";

/** Makes the server parse every request body as JSON and keep the body's bytes for the signature. */
export function addBodyParser(app: FastifyInstance, state: ServerState): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (request, bytes, done) => {
    request.rawBody = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
    try {
      const { endpoint = "unknown" } = request.routeOptions.config;
      done(null, readJson(state.behaviour, request.headers["content-type"] ?? "", endpoint, bytes.toString()));
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

/** An API error that is thrown inside Fastify. {@link apiErrorOf} takes it out again. */
class ThrownApiError extends Error {
  readonly apiError: ApiError;

  constructor(thrown: ApiError) {
    super(thrown.message);
    this.apiError = thrown;
  }
}

/**
 * Parses a JSON body; `undefined` for an empty body.
 *
 * @throws {ThrownApiError} if the body is not JSON
 */
function readJson(behaviour: Behaviour, contentType: string, endpoint: Endpoint, text: string): unknown {
  if (text === "") return undefined;
  if (!behaviour.acceptsContentType(contentType, endpoint)) {
    throw new ThrownApiError(fieldError("content-type", "body", "must be application/json"));
  }
  if (!behaviour.acceptsBodyText(text))
    throw new ThrownApiError(fieldError("malformed-json", "body", "cannot be read"));
  try {
    return JSON.parse(text);
  } catch {
    throw new ThrownApiError(fieldError("malformed-json", "body", "is not JSON"));
  }
}

/** Reads a query string. Turns digits into numbers, because the schema has integers for `page` and `limit`. */
export function readQuery(text: string): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  if (text === "") return fields;
  for (const [name, value] of new URLSearchParams(text)) {
    fields[name] = /^-?\d{1,16}$/.test(value) ? Number(value) : value;
  }
  return fields;
}

const apiErrorByFastifyCode: Readonly<Record<string, ApiError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: apiError("too-large", "The body is larger than this server reads."),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: fieldError("content-type", "body", "must be application/json"),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: apiError("malformed-http", "The length of the body differs from Content-Length."),
};

/** Returns the API error for an error that Fastify has caught. */
export function apiErrorOf(error: FastifyError): ApiError {
  if (error instanceof ThrownApiError) return error.apiError;
  return apiErrorByFastifyCode[error.code] ?? apiError("crash", "The server failed.");
}
