import type { HealthStatus } from "../../spec/events.ts";
import type { Endpoint } from "../endpoint.ts";

/** A header: name and value. */
export type Header = readonly [name: string, value: string];

/** The endpoint and the status of a response. */
export interface HeadInput {
  readonly endpoint: Endpoint;
  readonly status: number;
}

/** The bytes or text of a response body, with the headers that its encoding needs. */
export interface EncodedBody {
  readonly bytes: string | Uint8Array;
  readonly headers: readonly Header[];
}

function createsResource(endpoint: Endpoint): boolean {
  return (
    endpoint === "createWebhook" || endpoint === "createAlert" || endpoint === "batch" || endpoint === "startOperation"
  );
}

/** The server's decisions about HTTP itself. Source: Endpoints, "Common request rules". */
export const standardTransport = {
  contentType: (kind: "json" | "events", _head: HeadInput): string =>
    kind === "json" ? "application/json; charset=utf-8" : "text/event-stream; charset=utf-8",
  /** Writes a value as the text of a JSON body. */
  jsonText: (value: unknown, _head: HeadInput): string => JSON.stringify(value),
  /** Returns the headers of a response. `headers` are those that the server would send by default. */
  finalHeaders: (headers: readonly Header[], _head: HeadInput): readonly Header[] => headers,
  encodeBody: (text: string, _acceptEncoding: string): EncodedBody => ({ bytes: text, headers: [] }),
  bodyFraming: (): "length" | "chunked" => "length",
  /** Number of event-loop turns to wait before making a response. */
  turnsBeforeResponse: (_head: { readonly endpoint: Endpoint }): number => 0,
  /** Milliseconds on the server's clock to wait before making a response. */
  responseDelayMs: (_head: { readonly endpoint: Endpoint; readonly isLimited: boolean }): number => 0,
  /** Whether the server reads a request body of this `Content-Type` as JSON. `contentType` is empty if absent. */
  acceptsContentType: (contentType: string, _endpoint: Endpoint): boolean =>
    /^application\/json\s*(;|$)/i.test(contentType),
  /** Whether the server tries to parse a request body with this text. */
  acceptsBodyText: (_text: string): boolean => true,
  /** Returns the path that the server handles in place of the requested path. */
  servedPath: (path: string): string => path,
  /** Returns the status of a successful response; `_health` is set only for a health report. */
  successStatus: (endpoint: Endpoint, _health: HealthStatus | null): number => (createsResource(endpoint) ? 201 : 200),
  /** Whether this endpoint can respond in a media type that `Accept` allows. `Accept` is empty if absent. */
  supportsAccept: (_endpoint: Endpoint, _accept: string): boolean => true,
  /** Maximum size of a request body, in bytes. */
  maxBodyBytes: (): number => 1024 * 1024,
  /** Returns the document to send for an unknown path, such as an HTML page; `null` for the usual error body. */
  unknownPathPage: (): { readonly contentType: string; readonly text: string } | null => null,
};
