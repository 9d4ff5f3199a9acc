import type { HealthStatus } from "../../spec/events.ts";
import type { Operation } from "../api-error.ts";

/** A header as it goes over the wire: name and value. */
export type Header = readonly [name: string, value: string];

/** What a message's head belongs to. */
export interface HeadInput {
  readonly operation: Operation;
  readonly status: number;
}

/** A body ready to be sent, with the headers that its encoding needs. */
export interface EncodedBody {
  readonly bytes: string | Uint8Array;
  readonly headers: readonly Header[];
}

/** Decisions about HTTP itself. Source: Endpoints, "Common request rules". */
export interface TransportBehaviour {
  contentType(kind: "json" | "events", facts: HeadInput): string;
  /** The text of a JSON body. */
  jsonText(value: unknown, facts: HeadInput): string;
  /** The last word on the head of every answer. */
  headers(headers: readonly Header[], facts: HeadInput): readonly Header[];
  encode(text: string, acceptEncoding: string): EncodedBody;
  framing(): "length" | "chunked";
  /** Turns of the event loop to let pass before an answer is made. */
  turnsBeforeResponse(facts: { readonly operation: Operation }): number;
  /** Milliseconds on the clock to let pass before an answer is made; `isLimited`: it is a refusal by a limit. */
  responseDelayMs(facts: { readonly operation: Operation; readonly isLimited: boolean }): number;
  /** Whether a request body of this `Content-Type` (empty where there is none) is read as JSON. */
  acceptsContentType(contentType: string, operation: Operation): boolean;
  /** Whether the text of a request body is read at all. */
  readsText(text: string): boolean;
  /** The path that is served for the one asked for. */
  servedPath(path: string): string;
  /** The status of success; a health report also has the agent's health. */
  successStatus(operation: Operation, health: HealthStatus | null): number;
  /** Whether an operation can answer in what `Accept` (empty where there is none) asks for. */
  supportsAccept(operation: Operation, accept: string): boolean;
  /** The largest request body that is read, in bytes. */
  maxBodyBytes(): number;
  /** An answer to an unknown path that is no error body, or `null` for the error body. */
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
