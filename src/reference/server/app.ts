import { AjvCompiler } from "@fastify/ajv-compiler";
import swagger from "@fastify/swagger";
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { headerNames } from "../../spec/headers.ts";
import { signingSecret } from "../keys.ts";
import { normalizeAddress, clientAddress } from "../addresses.ts";
import { apiError, type ApiError } from "../behaviour/errors.ts";
import type { Endpoint } from "../endpoint.ts";
import { fieldsOf, textOrNull } from "../json-edit.ts";
import {
  addBodyParser,
  apiErrorOf,
  createListener,
  failed,
  ok,
  readQuery,
  respondToMalformed,
  sendResult,
  type TlsCertificate,
} from "./http.ts";
import { addControlRoutes, testControlOffError, validateControlToken } from "./control.ts";
import { plannedError, type ServerState } from "./state.ts";
import { openApiOptions } from "./openapi.ts";
import { admitRequest, type RequestContext } from "./admission.ts";
import { addRoutes } from "./routes.ts";

/**
 * A line of the request log: one request and its response. `key` is the name of the API key, never its secret text.
 * `left`: the client disconnected before the response was complete.
 */
export interface RequestLine {
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly key: string | null;
  readonly durationMs: number;
  readonly left: boolean;
}

type RequestLogger = (line: RequestLine) => void;

const maxPathPartLength = 4096;
/** Compiles JSON schemas to validators. All servers of a process share the compiler, because compiling is slow. */
const buildValidator = AjvCompiler();

export async function createApp(
  state: ServerState,
  log: RequestLogger | null = null,
  tls: TlsCertificate | null = null,
): Promise<FastifyInstance> {
  const app = fastify({
    forceCloseConnections: true,
    serverFactory: (handler) => createListener(handler, tls),
    bodyLimit: state.behaviour.maxBodyBytes(),
    routerOptions: { maxParamLength: maxPathPartLength, querystringParser: readQuery },
    ajv: { customOptions: { allErrors: true, coerceTypes: false, removeAdditional: false, useDefaults: false } },
    schemaController: { compilersFactory: { buildValidator } },
    frameworkErrors: (_error, request, reply) => {
      const context = openContext(state, log, request, reply, "unknown");
      const unreadable = context.error ?? apiError("malformed-http", "The path cannot be read.");
      sendResult(request, reply, failed(unreadable));
    },
    rewriteUrl: ({ url = "" }) => state.behaviour.servedPath(url),
    clientErrorHandler: (error, socket) => respondToMalformed(state, error, socket),
  });
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  app.decorateRequest("requestContext", null);
  app.decorateRequest("rawBody", null);
  // Handles a request with an unknown `Expect` header like any other request. Node's own 417 response would lack the
  // server's headers.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  addBodyParser(app, state);
  app.addHook("onRequest", (request, reply, done) => {
    const context = admit(state, log, request, reply);
    if (context !== null) applyPlannedTrouble(context, request, reply, done);
  });
  app.addHook("preValidation", (request, reply, done) => {
    if (hasValidSignature(state, request)) done();
    else sendResult(request, reply, failed(apiError("bad-signature", "The signature is invalid.")));
  });
  app.setNotFoundHandler((request, reply) => sendResult(request, reply, failed(unknownRoute(request))));
  app.setErrorHandler<FastifyError>((error, request, reply) => sendResult(request, reply, failed(apiErrorOf(error))));
  await app.register(swagger, openApiOptions);
  app.after(() => {
    addRoutes(app);
    addControlRoutes(app, state);
  });
  app.get("/openapi.json", { config: { endpoint: "description" }, schema: { hide: true } }, (request, reply) =>
    sendResult(request, reply, ok(app.swagger())),
  );
  await app.ready();
  return app;
}

function admit(
  state: ServerState,
  log: RequestLogger | null,
  request: FastifyRequest,
  reply: FastifyReply,
): RequestContext | null {
  const endpoint = request.is404 ? "unknown" : (request.routeOptions.config.endpoint ?? "unknown");
  const context = openContext(state, log, request, reply, endpoint);
  const error =
    testControlOffError(state, request) ??
    context.error ??
    validateControlToken(endpoint, request.headers, state.controlToken) ??
    (request.is404
      ? (context.deferredError ?? unknownRoute(request))
      : (hostError(request) ?? acceptError(state, request, endpoint)));
  if (error === null) return context;
  sendResult(request, reply, failed(error));
  return null;
}

function applyPlannedTrouble(
  { state, endpoint, account }: RequestContext,
  request: FastifyRequest,
  reply: FastifyReply,
  proceed: () => void,
): void {
  const planned = state.trouble.take(endpoint, agentIdOf(request.params));
  if (planned === null) return proceed();
  if (planned.kind === "delay") {
    // Waits in real time, because a virtual clock stands still until a test advances it.
    const timer = setTimeout(proceed, planned.seconds * 1000);
    reply.raw.once("close", () => clearTimeout(timer));
    return undefined;
  }
  if (planned.kind !== "drop") {
    const window = state.behaviour.advertisedWindow(account.windows(state.clock.now()));
    return sendResult(request, reply, failed(plannedError(planned, window)));
  }
  reply.hijack();
  request.raw.destroy();
  return undefined;
}

function openContext(
  state: ServerState,
  log: RequestLogger | null,
  request: FastifyRequest,
  reply: FastifyReply,
  endpoint: Endpoint,
): RequestContext {
  const authorization =
    request.headers.authorization ??
    state.behaviour.authorizationElsewhere(request.headers, request.originalUrl, endpoint);
  const address = addressOf(state, request);
  const context = admitRequest(state, {
    endpoint,
    authorization,
    address,
    agentId: agentIdOf(request.params),
    isSigned: request.headers["x-signature"] !== undefined,
  });
  request.requestContext = context;
  reply.raw.sendDate = false;
  reply.raw.on("close", () => {
    const left = !reply.raw.writableFinished;
    if (left && state.behaviour.noticesDisconnect() === "at once") {
      context.onResponseEvent("left", { endpoint, status: reply.raw.statusCode });
    }
    if (left) context.client.disconnect();
    log?.(requestLine(request, reply, context, left));
  });
  return context;
}

function addressOf({ trustedProxies, behaviour }: ServerState, { socket, headers }: FastifyRequest): string {
  if (headers.forwarded === undefined && headers["x-forwarded-for"] === undefined)
    return normalizeAddress(socket.remoteAddress ?? "");
  const forwardedFor = [headers["x-forwarded-for"] ?? []].flat().join(",");
  const hops = { peer: socket.remoteAddress ?? "", forwarded: headers.forwarded ?? "", forwardedFor };
  return clientAddress(hops, behaviour.trustedProxiesOf(trustedProxies));
}

const agentIdOf = (params: unknown): string | null => textOrNull(fieldsOf(params)["agent_id"]);

function requestLine(
  request: FastifyRequest,
  reply: FastifyReply,
  context: RequestContext,
  left: boolean,
): RequestLine {
  const nowMs = context.state.clock.now();
  return {
    at: new Date(nowMs).toISOString(),
    method: request.method,
    path: request.originalUrl,
    status: reply.raw.statusCode,
    key: context.key?.name ?? null,
    durationMs: nowMs - context.arrivedMs,
    left,
  };
}

const emptyBody = Buffer.alloc(0);
const signatureName = headerNames.signature.toLowerCase();
const timestampName = headerNames.timestamp.toLowerCase();

function hasValidSignature({ behaviour, clock }: ServerState, request: FastifyRequest): boolean {
  const { method, originalUrl: path, rawBody, headers } = request;
  const body = rawBody ?? emptyBody;
  const signature = String(headers[signatureName] ?? "");
  const timestamp = String(headers[timestampName] ?? "");
  const signed = { method, path, timestamp, signature, body };
  return behaviour.acceptsSignature(signed, () => behaviour.signedBytes(signed), signingSecret, clock.now());
}

/** Returns the error for an HTTP/1.1 request without `Host`; otherwise `null`. Source: RFC 9112, section 3.2. */
function hostError(request: FastifyRequest): ApiError | null {
  if (request.raw.httpVersion !== "1.1" || request.headers.host !== undefined) return null;
  return apiError("malformed-http", "The Host header is missing.");
}

function acceptError(state: ServerState, request: FastifyRequest, endpoint: Endpoint): ApiError | null {
  const isSupported = state.behaviour.supportsAccept(endpoint, request.headers.accept ?? "");
  return isSupported ? null : apiError("not-acceptable", "This endpoint has no media type that Accept allows.");
}

const definedPaths: readonly RegExp[] = [
  /^\/v1\/(agents|usage|keys\/usage|webhooks|alerts)$/,
  /^\/v1\/agents\/[^/]+(\/(invoke|stream|health|batch))?$/,
  /^\/v1\/webhooks\/[^/]+\/(deliveries|metrics)$/,
  /^\/v1\/operations\/[^/]+$/,
  /^\/api\/v1\/agents\/[^/]+\/execute\/[^/]+$/,
];

function unknownRoute(request: FastifyRequest): ApiError {
  const [path = ""] = request.url.split("?");
  return definedPaths.some((defined) => defined.test(path))
    ? apiError("unknown-method", `The method ${request.method} is not defined here.`)
    : apiError("unknown-path", "This path is not defined.");
}
