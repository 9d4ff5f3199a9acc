import { changeHeader } from "../mutants/edits.ts";
import type { Header } from "../../evidence/exchange.ts";
import type { Dimension } from "../../spec/dimensions.ts";
import type { EndpointName } from "../../spec/endpoints.ts";

/** The properties of a request and its response head that conditions test. Plain data, so that threads can get it. */
export interface RequestTraits {
  /** The endpoint of the request; `null` if the document does not define the path or the method. */
  readonly endpoint: EndpointName | null;
  /** The values of the request in each dimension. If its agent has two roles, the request has two values. */
  readonly values: Readonly<Record<Dimension, readonly string[]>>;
  /** Whether the request has a key of a tier, without restrictions. */
  readonly hasTierKey: boolean;
  readonly status: number;
  readonly accept: string;
  readonly contentType: string;
  /** Names of the request's headers, in lower case. */
  readonly headerNames: readonly string[];
  readonly bodyLength: number;
  readonly bodyHasOnlyAscii: boolean;
  /** The second within the minute, from the `Date` header; `null` without that header. */
  readonly second: number | null;
  /** The value of `X-RateLimit-Remaining`; `null` if there is no such header. */
  readonly remaining: number | null;
}

/** A complete HTTP response. */
export interface WireResponse {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly body: Buffer;
}

/** The status and the headers of a response. */
export type WireHead = Omit<WireResponse, "body">;

/** An event of a stream, as text. */
export interface WireEvent {
  readonly name: string;
  readonly data: string;
}

/** Replaces the value of a header by other values. Without other values, removes the header. */
export const withWireHeader = <T extends WireHead>(
  response: T,
  name: string,
  change: (value: string) => readonly string[],
): T => ({
  ...response,
  headers: changeHeader(response.headers, name, change),
});
