import { createHash } from "node:crypto";
import type { Exchange, SentRequest } from "./exchange.ts";

/**
 * A request of a client under test, and its response. Times, except `receivedUnixMs`, are milliseconds since the start
 * of the whole test, which can run the client's command several times.
 */
export interface ClientCall {
  /**
   * `sentMs` is the time when the harness received the request's head. `endMs` is the time just before the harness
   * wrote the response's last byte, or when the connection ended without it.
   */
  readonly exchange: Exchange;
  /**
   * Name of the error or unusual response that the harness injected, such as `429` or `crlf`; `null` if it injected
   * none.
   */
  readonly trouble: string | null;
  /**
   * Time at which the connection closed before the end of the response; `null` if it did not. The client closed it, or
   * the harness did after the client's command had ended.
   */
  readonly leftMs: number | null;
  readonly receivedUnixMs: number;
}

export type CommandEnd =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "killed"; readonly signal: string }
  | { readonly kind: "timed out"; readonly afterMs: number }
  | { readonly kind: "interrupted" };

/**
 * Kind of a run of the client's command. `plain`: the client gets the server's own responses. `legal`: some responses
 * are unusual but legal. `failing`: some are injected errors, such as 503.
 */
export type RunStage = "plain" | "legal" | "failing";

export interface CommandRun {
  readonly stage: RunStage;
  readonly calls: readonly ClientCall[];
  readonly end: CommandEnd;
}

/** Returns the path and query of a request, exactly as the client sent them. */
export const requestTarget = ({ url }: Pick<SentRequest, "url">): string => url.replace(/^[a-z]+:\/\/[^/?#]*/i, "");

export function requestIdentity(request: SentRequest): string {
  const { method, body } = request;
  const content = body.kind === "text" ? body.text : body.kind === "base64" ? body.base64 : "";
  const hash = body.kind === "cut" ? body.sha256 : createHash("sha256").update(content).digest("hex");
  return `${method} ${requestTarget(request)} ${hash}`;
}
