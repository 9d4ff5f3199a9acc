import type { HealthStatus } from "../../spec/events-and-errors.ts";
import type { Endpoint } from "../endpoint.ts";

export type Header = readonly [name: string, value: string];

export interface ResponseHead {
  readonly endpoint: Endpoint;
  readonly status: number;
}

export interface EncodedBody {
  readonly bytes: string | Uint8Array;
  readonly headers: readonly Header[];
}

const creatingEndpoints: ReadonlySet<Endpoint> = new Set(["createWebhook", "createAlert", "batch", "startOperation"]);

/**
 * The reference server's standard HTTP behaviour, such as media types and status codes. Source: Endpoints, "Common
 * request rules".
 */
export const standardTransport = {
  contentType: (kind: "json" | "events", _head: ResponseHead): string =>
    kind === "json" ? "application/json; charset=utf-8" : "text/event-stream; charset=utf-8",
  jsonText: (value: unknown, _head: ResponseHead): string => JSON.stringify(value),
  finalHeaders: (headers: readonly Header[], _head: ResponseHead): readonly Header[] => headers,
  encodeBody: (text: string, _acceptEncoding: string): EncodedBody => ({ bytes: text, headers: [] }),
  bodyFraming: (): "length" | "chunked" => "length",
  /** Returns the number of event-loop turns to wait before a response. */
  turnsBeforeResponse: (_head: { readonly endpoint: Endpoint }): number => 0,
  responseDelayMs: (_head: { readonly endpoint: Endpoint; readonly isLimited: boolean }): number => 0,
  acceptsContentType: (contentType: string, _endpoint: Endpoint): boolean =>
    /^application\/json\s*(;|$)/i.test(contentType),
  acceptsBodyText: (_text: string): boolean => true,
  servedPath: (path: string): string => path,
  successStatus: (endpoint: Endpoint, _health: HealthStatus | null): number =>
    creatingEndpoints.has(endpoint) ? 201 : 200,
  supportsAccept: (_endpoint: Endpoint, _accept: string): boolean => true,
  maxBodyBytes: (): number => 1024 * 1024,
  /** Returns the document to send for an unknown path, such as an HTML page; `null` for the usual error body. */
  unknownPathPage: (): { readonly contentType: string; readonly text: string } | null => null,
};
