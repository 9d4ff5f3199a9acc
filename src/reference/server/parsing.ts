import type { FastifyError, FastifyInstance } from "fastify";
import type { Behaviour } from "../behaviour/behaviour.ts";
import { fieldError, apiError, type Operation, type ApiError } from "../api-error.ts";
import type { ServerState } from "./state.ts";

/** Reads every body as JSON, and keeps its bytes for signatures. */
export function addBodyParser(app: FastifyInstance, state: ServerState): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (request, bytes, done) => {
    request.rawBody = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
    try {
      const { operation = "unknown" } = request.routeOptions.config;
      done(null, readJson(state.behaviour, request.headers["content-type"] ?? "", operation, bytes.toString()));
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

/** A trouble on its way through the framework. */
class TroubleError extends Error {
  readonly trouble: ApiError;

  constructor(found: ApiError) {
    super(found.message);
    this.trouble = found;
  }
}

/** The value of a JSON body; `undefined` for an empty one. Throws `TroubleError` where it is not JSON. */
function readJson(behaviour: Behaviour, contentType: string, operation: Operation, text: string): unknown {
  if (text === "") return undefined;
  if (!behaviour.acceptsContentType(contentType, operation)) {
    throw new TroubleError(fieldError("content-type", "body", "must be application/json"));
  }
  if (!behaviour.readsText(text)) throw new TroubleError(fieldError("malformed-json", "body", "cannot be read"));
  try {
    return JSON.parse(text);
  } catch {
    throw new TroubleError(fieldError("malformed-json", "body", "is not JSON"));
  }
}

/** `page` and `limit` are integers in a schema and digits in a URL. */
export function readQuery(text: string): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  if (text === "") return fields;
  for (const [name, value] of new URLSearchParams(text)) {
    fields[name] = /^-?\d{1,16}$/.test(value) ? Number(value) : value;
  }
  return fields;
}

const troubleByFrameworkCode: Readonly<Record<string, ApiError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: apiError("too-large", "The body is larger than this server reads."),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: fieldError("content-type", "body", "must be application/json"),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: apiError("malformed-http", "The body is not as long as Content-Length says."),
};

/** The trouble behind an error that the framework met. */
export function apiErrorOf(error: FastifyError): ApiError {
  if (error instanceof TroubleError) return error.trouble;
  return troubleByFrameworkCode[error.code] ?? apiError("crash", "The server failed.");
}
