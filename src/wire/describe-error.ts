import { unconnectedCodes } from "../base/errors.ts";
import type { Unanswered } from "../evidence/exchange.ts";

interface HttpClientFailure {
  readonly code: string;
  readonly message: string;
  readonly bytesReadBefore: number;
}

const unreachableCodes = new Set([
  ...unconnectedCodes,
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CERT_HAS_EXPIRED",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "ERR_SSL_WRONG_VERSION_NUMBER",
]);

/** Turns an error of undici into an `Unanswered`. `stopped`: why the harness aborted the request, otherwise `null`. */
export function unansweredBy(error: unknown, stopped: string | null, endMs: number): Unanswered {
  if (stopped === "us") return { kind: "unanswered", reason: "broken", detail: closedByHarness, endMs };
  if (stopped !== null) return { kind: "unanswered", reason: "silent", detail: stopped, endMs };
  const { code, message } = readFailure(error);
  const ofProxy = proxyRefusal(message);
  if (ofProxy !== null) return { kind: "unanswered", reason: "unreachable", detail: ofProxy, endMs };
  const reason = unreachableCodes.has(code) ? "unreachable" : "broken";
  return { kind: "unanswered", reason, detail: describeFailure(code, message, "answer"), endMs };
}

export function describeBodyEnd(error: unknown): string {
  const { code, message } = readFailure(error);
  const isCut = code === "" && /^(terminated|aborted)$/.test(message);
  return describeFailure(isCut ? "UND_ERR_SOCKET" : code, message, "end of the body");
}

export const closedByHarness = "closed by the harness";
export const headTooLong = "the response's head is too long";

/** Descriptions by undici's error code. `awaited` names the missing part, such as "end of the body". */
const descriptionByCode: Readonly<Record<string, (awaited: string) => string>> = {
  UND_ERR_CONNECT_TIMEOUT: () => "no connection was made in time",
  UND_ERR_HEADERS_TIMEOUT: () => "no response head came in time",
  UND_ERR_BODY_TIMEOUT: () => "nothing more of the body came in time",
  UND_ERR_HEADERS_OVERFLOW: () => headTooLong,
  UND_ERR_SOCKET: (awaited) => `the connection was closed before the ${awaited}`,
  UND_ERR_ABORTED: (awaited) => `the request was given up before the ${awaited}`,
  UND_ERR_DESTROYED: (awaited) => `the run ended before the ${awaited}`,
  UND_ERR_CLOSED: (awaited) => `the run ended before the ${awaited}`,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: () => "the body is not as long as its `Content-Length` says",
};

function describeFailure(code: string, message: string, awaited: string): string {
  const ours = descriptionByCode[code]?.(awaited);
  if (ours !== undefined) return ours;
  if (code.startsWith("HPE_")) return `its answer is not HTTP (${code})`;
  return code === "" || message.includes(code) ? message : `${message} (${code})`;
}

function proxyRefusal(message: string): string | null {
  const status =
    /^Proxy response \((\d+)\)/.exec(message)?.[1] ?? /^Proxy Authentication Required \((\d+)\)/.exec(message)?.[1];
  if (status === undefined) return null;
  return status === "407"
    ? "the proxy wants a user and a password (407)"
    : `the proxy lets nothing through: it answers CONNECT with ${status}`;
}

/** Whether the request failed on a reused connection, which the server may have closed because it was idle. */
export function wasReusedConnection(error: unknown): boolean {
  const { code, bytesReadBefore } = readFailure(error);
  return (code === "UND_ERR_SOCKET" || code === "ECONNRESET" || code === "EPIPE") && bytesReadBefore > 0;
}

function readFailure(error: unknown): HttpClientFailure {
  if (!(error instanceof Error)) return { code: "", message: String(error), bytesReadBefore: 0 };
  const nested = error instanceof AggregateError ? (error.errors[0] as unknown) : error.cause;
  const inner = nested instanceof Error && !("code" in error) ? readFailure(nested) : null;
  const code = "code" in error ? String(error.code) : (inner?.code ?? "");
  const message = error.message === "" ? (inner?.message ?? code) : error.message.replace(/\s+/g, " ").trim();
  // A malformed status line makes an assertion in undici fail. Replaces its message, which quotes source code.
  if (code === "ERR_ASSERTION") return { code: "", message: "its answer is not HTTP", bytesReadBefore: 0 };
  return { code, message, bytesReadBefore: bytesRead(error) };
}

function bytesRead(error: Error): number {
  const socket: unknown = "socket" in error ? error.socket : null;
  return typeof socket === "object" && socket !== null && "bytesRead" in socket ? Number(socket.bytesRead) : 0;
}
