import { changeHeader } from "../mutants/edits.ts";
import type { Header } from "../../evidence/exchange.ts";
import type { Dimension } from "../../spec/dimensions.ts";
import type { EndpointName } from "../../spec/endpoints.ts";

export interface RequestTraits {
  /** The endpoint of the request; `null` if the document does not define the path or the method. */
  readonly endpoint: EndpointName | null;
  /** Properties of the request, e.g. `key: ["wrong"]`. If an agent has two roles, `agent` lists both roles. */
  readonly values: Readonly<Record<Dimension, readonly string[]>>;
  readonly hasTierKey: boolean;
  readonly status: number;
  readonly accept: string;
  readonly contentType: string;
  readonly headerNames: readonly string[];
  readonly bodyLength: number;
  readonly bodyHasOnlyAscii: boolean;
  /** The seconds of the time in the `Date` header, from 0 to 59; `null` without that header. */
  readonly second: number | null;
  readonly remaining: number | null;
}

export interface WireResponse {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly body: Buffer;
}

export type WireHead = Omit<WireResponse, "body">;

export interface WireEvent {
  readonly name: string;
  readonly data: string;
}

export const withWireHeader = <T extends WireHead>(
  response: T,
  name: string,
  change: (value: string) => readonly string[],
): T => ({
  ...response,
  headers: changeHeader(response.headers, name, change),
});
