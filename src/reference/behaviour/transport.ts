import type { HealthStatus } from "../../spec/events.ts";
import type { Operation } from "../api-error.ts";

/** A header: name and value. */
export type Header = readonly [name: string, value: string];

/** The request that a response head answers, and the status of the response. */
export interface HeadInput {
  readonly operation: Operation;
  readonly status: number;
}

/** An encoded body, with the headers that its encoding needs. */
export interface EncodedBody {
  readonly bytes: string | Uint8Array;
  readonly headers: readonly Header[];
}

function creates(operation: Operation): boolean {
  return operation === "createWebhook" || operation === "createAlert" || operation === "batch";
}

/** The server's decisions about HTTP itself. Source: Endpoints, "Common request rules". */
export const standardTransport = {
  contentType: (kind: "json" | "events", _head: HeadInput): string =>
    kind === "json" ? "application/json; charset=utf-8" : "text/event-stream; charset=utf-8",
  /** Writes a value as the text of a JSON body. */
  jsonText: (value: unknown, _head: HeadInput): string => JSON.stringify(value),
  /** Returns the final headers of a response. */
  headers: (headers: readonly Header[], _head: HeadInput): readonly Header[] => headers,
  encode: (text: string, _acceptEncoding: string): EncodedBody => ({ bytes: text, headers: [] }),
  framing: (): "length" | "chunked" => "length",
  /** Turns of the event loop to wait before making a response. */
  turnsBeforeResponse: (_head: { readonly operation: Operation }): number => 0,
  /**
   * Milliseconds on the server's clock to wait before making a response. `isLimited`: a limit has refused the request.
   */
  responseDelayMs: (_head: { readonly operation: Operation; readonly isLimited: boolean }): number => 0,
  /** Whether a request body of this `Content-Type` is read as JSON. The type is empty if the header is absent. */
  acceptsContentType: (contentType: string, _operation: Operation): boolean =>
    /^application\/json\s*(;|$)/i.test(contentType),
  /** Whether the server tries to parse the text of a request body. A fault refuses legal texts here. */
  readsText: (_text: string): boolean => true,
  /** Maps the requested path to the path to serve. */
  servedPath: (path: string): string => path,
  /** Returns the status of a successful response. `health` is the agent's health for a health report. */
  successStatus: (operation: Operation, _health: HealthStatus | null): number => (creates(operation) ? 201 : 200),
  /**
   * Whether an operation can respond in a media type that `Accept` allows. `accept` is empty if the header is absent.
   */
  supportsAccept: (_operation: Operation, _accept: string): boolean => true,
  /** The largest accepted request body, in bytes. */
  maxBodyBytes: (): number => 1024 * 1024,
  /** Returns a page for an unknown path, or `null` for the usual error body. */
  unknownPathPage: (): { readonly contentType: string; readonly text: string } | null => null,
};
