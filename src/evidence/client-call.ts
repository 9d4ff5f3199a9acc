import { createHash } from "node:crypto";
import type { Exchange, SentRequest } from "./exchange.ts";

/** A request of a client under test, and its response. Times are milliseconds since the start of the run. */
export interface ClientCall {
  /**
   * `sentMs` is the time when the harness received the request's head. `endMs` is the time just before the harness
   * wrote the response's last byte.
   */
  readonly exchange: Exchange;
  /** The failure that the harness injected, such as `429`; `null` if the client got the server's own response. */
  readonly trouble: string | null;
  /** The time at which the client disconnected early; `null` if the client stayed connected. */
  readonly leftMs: number | null;
  readonly receivedUnixMs: number;
}

export type CommandEnd =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "killed"; readonly signal: string }
  | { readonly kind: "timed out"; readonly afterMs: number }
  | { readonly kind: "interrupted" };

/** A run of a client: normal, with legal but unusual responses, or with injected failures such as 503. */
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
