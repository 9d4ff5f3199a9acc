import type { HealthStatus } from "../../spec/events.ts";
import type { Operation } from "../api-error.ts";

/** A header: name and value. */
export type Header = readonly [name: string, value: string];

/** The request and status that a response head belongs to. */
export interface HeadInput {
  readonly operation: Operation;
  readonly status: number;
}

/** An encoded body, with the headers that its encoding needs. */
export interface EncodedBody {
  readonly bytes: string | Uint8Array;
  readonly headers: readonly Header[];
}

/** Decisions about HTTP itself. Source: Endpoints, "Common request rules". */
export interface TransportBehaviour {
  contentType(kind: "json" | "events", head: HeadInput): string;
  /** The text of a JSON body. */
  jsonText(value: unknown, head: HeadInput): string;
  /** The final headers of a response. */
  headers(headers: readonly Header[], head: HeadInput): readonly Header[];
  encode(text: string, acceptEncoding: string): EncodedBody;
  framing(): "length" | "chunked";
  /** Turns of the event loop to wait before a response is made. */
  turnsBeforeResponse(head: { readonly operation: Operation }): number;
  /**
   * Milliseconds on the server's clock to wait before a response is made. `isLimited`: a limit has refused the request.
   */
  responseDelayMs(head: { readonly operation: Operation; readonly isLimited: boolean }): number;
  /** Whether a request body of this `Content-Type` is read as JSON. The type is empty if the header is absent. */
  acceptsContentType(contentType: string, operation: Operation): boolean;
  /** Whether the text of a request body is accepted before it is parsed. */
  readsText(text: string): boolean;
  /** Maps the requested path to the path to serve. */
  servedPath(path: string): string;
  /** The status of success. `health` is the agent's health for a health report. */
  successStatus(operation: Operation, health: HealthStatus | null): number;
  /** Whether an operation has a media type that `Accept` allows. `accept` is empty if the header is absent. */
  supportsAccept(operation: Operation, accept: string): boolean;
  /** The largest request body that is read, in bytes. */
  maxBodyBytes(): number;
  /** A page for an unknown path, or `null` for the usual error body. */
  unknownPathPage(): { readonly contentType: string; readonly text: string } | null;
}

function creates(operation: Operation): boolean {
  return operation === "createWebhook" || operation === "createAlert" || operation === "batch";
}

export const standardTransport: TransportBehaviour = {
  contentType: (kind) => (kind === "json" ? "application/json; charset=utf-8" : "text/event-stream; charset=utf-8"),
  jsonText: (value) => JSON.stringify(value),
  headers: (headers) => headers,
  encode: (text) => ({ bytes: text, headers: [] }),
  framing: () => "length",
  turnsBeforeResponse: () => 0,
  responseDelayMs: () => 0,
  acceptsContentType: (contentType) => /^application\/json\s*(;|$)/i.test(contentType),
  readsText: () => true,
  servedPath: (path) => path,
  successStatus: (operation) => (creates(operation) ? 201 : 200),
  supportsAccept: () => true,
  maxBodyBytes: () => 1024 * 1024,
  unknownPathPage: () => null,
};
