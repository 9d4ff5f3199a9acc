import { type ClauseId, clauseOf } from "../../../spec/clauses.ts";
import type { EndpointName } from "../../../spec/endpoints.ts";
import type { Outcome, Values } from "../dimensions.ts";
import type { RequestTraits, WireEvent, WireHead, WireResponse } from "../message.ts";

/** The server behind the proxy. Some operations send requests of their own to this server. */
export interface Upstream {
  /** Sends the client's request again, with another key or path. */
  readonly again: (changes: { readonly key?: string | null; readonly path?: string }) => Promise<WireResponse>;
  /** Sends a GET request with the key of the client's request. */
  readonly read: (path: string) => Promise<WireResponse>;
  /** The path of the client's request, with its query. */
  readonly path: string;
  /** A key without restrictions. */
  readonly goodKey: string;
}

/** Changes one event of a stream. Called for each event in order, and with `null` at the end of the stream. */
export type EventChange = (event: WireEvent | null) => readonly WireEvent[];

/** How an operation changes a response. If there is nothing to change, `of` returns `null`. */
export type Change =
  | { readonly kind: "head"; readonly of: (head: WireHead, traits: RequestTraits) => WireHead | null }
  | { readonly kind: "body"; readonly of: (response: WireResponse, traits: RequestTraits) => WireResponse | null }
  /** `begin` is called for each stream, and returns the function that changes its events. */
  | { readonly kind: "events"; readonly begin: () => EventChange }
  /** `of` changes the text of a stream, chunk by chunk. */
  | { readonly kind: "stream text"; readonly of: (text: string) => string }
  /** Sends another response instead. */
  | {
      readonly kind: "instead";
      readonly of: (response: WireResponse, traits: RequestTraits, upstream: Upstream) => Promise<WireResponse | null>;
    }
  /** `of` does something before the response is sent, such as a second execution, and resolves to whether it did so. */
  | { readonly kind: "besides"; readonly of: (traits: RequestTraits, upstream: Upstream) => Promise<boolean> };

/** One way in which a server can behave differently. */
export interface Operation {
  /** The kind of the operation, for tables. */
  readonly class: string;
  readonly description: string;
  readonly endpoints: readonly EndpointName[];
  /** Changes only responses to requests for which the document prescribes this outcome; `null` for any outcome. */
  readonly outcome: Outcome | null;
  /** The clauses that the change breaks. Empty for a legal change. */
  readonly breaks: readonly ClauseId[];
  /** The values that a condition must contain, so that the operation can apply. */
  readonly requires: Values;
  /** Whether the change has no effect on a request with these values. */
  readonly excludes: (values: Values) => boolean;
  /** Whether the change breaks the clauses in `breaks` if it is made to this response. */
  readonly fits: (traits: RequestTraits) => boolean;
  readonly change: Change;
}

type Optional = "breaks" | "requires" | "excludes" | "fits" | "outcome";

/** Creates an operation. By default, it is legal and changes every response. */
export const operation = (given: Omit<Operation, Optional> & Partial<Pick<Operation, Optional>>): Operation => ({
  breaks: [],
  requires: {},
  excludes: () => false,
  fits: () => true,
  outcome: null,
  ...given,
});

/** Whether the change is illegal: it breaks a `must` clause. */
export const isIllegal = ({ breaks }: Operation): boolean => breaks.some((clause) => clauseOf(clause).level === "must");

export const isSuccess = ({ status }: Pick<RequestTraits, "status">): boolean => status >= 200 && status < 300;

/** Returns a test for responses with this outcome. */
export const hasOutcome =
  (outcome: Outcome) =>
  (traits: Pick<RequestTraits, "status">): boolean => {
    if (outcome === "success") return isSuccess(traits);
    return outcome === "5xx" ? traits.status >= 500 : outcome === String(traits.status);
  };
