import { type ClauseId, clauseOf } from "../../../spec/clauses.ts";
import type { EndpointName } from "../../../spec/endpoints.ts";
import type { Outcome, Values } from "../dimensions.ts";
import type { RequestTraits, WireEvent, WireHead, WireResponse } from "../message.ts";

/** The server behind the proxy, for operations that send requests of their own. */
export interface Upstream {
  /** Sends the same request again, with another key or path. */
  readonly again: (changes: { readonly key?: string | null; readonly path?: string }) => Promise<WireResponse>;
  /** Sends a read with the key of the request. */
  readonly read: (path: string) => Promise<WireResponse>;
  /** The path of the request, with its query. */
  readonly path: string;
  /** A key without restrictions. */
  readonly goodKey: string;
}

/** Changes the events of one stream, in order. `null` stands for the end of the stream. */
export type EventChange = (event: WireEvent | null) => readonly WireEvent[];

/** How an operation changes a response. Each returns `null` where there is nothing to change. */
export type Change =
  | { readonly kind: "head"; readonly of: (head: WireHead, traits: RequestTraits) => WireHead | null }
  | { readonly kind: "body"; readonly of: (response: WireResponse, traits: RequestTraits) => WireResponse | null }
  /** Starts the change of one stream. */
  | { readonly kind: "events"; readonly begin: () => EventChange }
  /** Changes the text of a stream, piece by piece. */
  | { readonly kind: "stream text"; readonly of: (text: string) => string }
  /** Sends another response instead. */
  | {
      readonly kind: "instead";
      readonly of: (response: WireResponse, traits: RequestTraits, upstream: Upstream) => Promise<WireResponse | null>;
    }
  /** Does something before the response is sent, such as a second execution. Resolves to whether it did. */
  | { readonly kind: "besides"; readonly of: (traits: RequestTraits, upstream: Upstream) => Promise<boolean> };

/** One way in which a server can behave differently. */
export interface Operation {
  /** The kind of operation, for tables. */
  readonly class: string;
  readonly description: string;
  readonly endpoints: readonly EndpointName[];
  /** The responses to change, by what the document states for the request; `null` for all. */
  readonly outcome: Outcome | null;
  /** The clauses that the change breaks. Empty for a legal change. */
  readonly breaks: readonly ClauseId[];
  /** Values that the condition has to contain. */
  readonly requires: Values;
  /** Whether the change has no effect on a request with these values. */
  readonly excludes: (values: Values) => boolean;
  /** Whether the change breaks the clauses of `breaks` at this request. */
  readonly fits: (traits: RequestTraits) => boolean;
  readonly change: Change;
}

type Optional = "breaks" | "requires" | "excludes" | "fits" | "outcome";

/** Creates an operation. By default it is legal, and changes every response. */
export const operation = (given: Omit<Operation, Optional> & Partial<Pick<Operation, Optional>>): Operation => ({
  breaks: [],
  requires: {},
  excludes: () => false,
  fits: () => true,
  outcome: null,
  ...given,
});

/** Whether the document forbids the change: the change breaks a `must` clause. */
export const isIllegal = ({ breaks }: Operation): boolean => breaks.some((clause) => clauseOf(clause).level === "must");

export const isSuccess = ({ status }: Pick<RequestTraits, "status">): boolean => status >= 200 && status < 300;

/** Creates a test for responses with an outcome. */
export const hasOutcome =
  (outcome: Outcome) =>
  (traits: Pick<RequestTraits, "status">): boolean => {
    if (outcome === "success") return isSuccess(traits);
    return outcome === "5xx" ? traits.status >= 500 : outcome === String(traits.status);
  };
