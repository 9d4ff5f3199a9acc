import { createHash } from "node:crypto";

import type { Exchange, Header, SentRequest } from "./exchange.ts";

/** A request of a client under test, and its response. Times are milliseconds since the start of the run. */
export interface ClientCall {
  /** `sentMs`: when the request's head had arrived. `endMs`: just before the response's last byte was written. */
  readonly exchange: Exchange;
  /** The trouble that the harness made, such as `429`; `null` if the client got the server's own response. */
  readonly trouble: string | null;
  /** When the client closed the connection before the end of the response; `null` if it did not. */
  readonly leftMs: number | null;
  /** When the request arrived, in Unix milliseconds. */
  readonly receivedUnixMs: number;
}

/** How a run of a command ended. */
export type CommandEnd =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "killed"; readonly signal: string }
  /** The command ran longer than allowed, so the harness ended it. */
  | { readonly kind: "timed out"; readonly afterMs: number }
  /** The user ended the harness, and so the command. */
  | { readonly kind: "interrupted" };

/** A run of a client without trouble, with legal but unusual responses, or with failures such as 503. */
export type RunStage = "plain" | "legal" | "failing";

/** One run of a client's command. */
export interface CommandRun {
  readonly stage: RunStage;
  readonly calls: readonly ClientCall[];
  readonly end: CommandEnd;
}

/** Returns the values of all request headers with a name, in order. Ignores letter case. */
export function requestHeaderValues({ headers }: Pick<SentRequest, "headers">, name: string): string[] {
  const wanted = name.toLowerCase();
  return headers.filter(([each]: Header) => each.toLowerCase() === wanted).map(([, value]) => value);
}

/** Returns the path and query of a request, exactly as the client sent them. */
export const requestTarget = ({ url }: Pick<SentRequest, "url">): string => url.replace(/^[a-z]+:\/\/[^/?#]*/i, "");

/** Returns a text that is equal for two requests exactly if their method, path, query and body are equal. */
export function requestIdentity(request: SentRequest): string {
  const { method, body } = request;
  const content = body.kind === "text" ? body.text : body.kind === "base64" ? body.base64 : "";
  const hash = body.kind === "cut" ? body.sha256 : createHash("sha256").update(content).digest("hex");
  return `${method} ${requestTarget(request)} ${hash}`;
}
