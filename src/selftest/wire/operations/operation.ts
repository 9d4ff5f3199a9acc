import { type ClauseId, clauseOf } from "../../../spec/clauses.ts";
import type { EndpointName } from "../../../spec/endpoints.ts";
import type { Outcome, Values } from "../dimensions.ts";
import type { RequestTraits, WireEvent, WireHead, WireResponse } from "../message.ts";

/** The server behind the proxy, for operations that ask it for more. */
export interface Upstream {
  /** Sends the same request again, with another key or path. */
  readonly again: (changes: { readonly key?: string | null; readonly path?: string }) => Promise<WireResponse>;
  /** Sends a read with the key of the request. */
  readonly read: (path: string) => Promise<WireResponse>;
  /** The path of the request, with its query. */
  readonly path: string;
  /** The name of a key that may do everything. */
  readonly goodKey: string;
}

/** Changes the events of one stream, one after the other. `isEnd` says that no event follows. */
export type EventChange = (event: WireEvent | null) => readonly WireEvent[];

/** How an operation changes a response. Each returns `null` where there is nothing to change. */
export type Change =
  | { readonly kind: "head"; readonly of: (head: WireHead, traits: RequestTraits) => WireHead | null }
  | { readonly kind: "body"; readonly of: (response: WireResponse, traits: RequestTraits) => WireResponse | null }
  /** Begins a change for one stream. Called with `null` at the end of the stream. */
  | { readonly kind: "events"; readonly begin: () => EventChange }
  /** Changes the text of a stream, in its chunks. */
  | { readonly kind: "stream text"; readonly of: (text: string) => string }
  /** Answers something else. */
  | {
      readonly kind: "instead";
      readonly of: (response: WireResponse, traits: RequestTraits, upstream: Upstream) => Promise<WireResponse | null>;
    }
  /** Does something before the answer goes out. Resolves to whether it was done. */
  | { readonly kind: "besides"; readonly of: (traits: RequestTraits, upstream: Upstream) => Promise<boolean> };

/** One way in which a server can behave differently. */
export interface Operation {
  /** The kind of operation, for tables. */
  readonly class: string;
  readonly description: string;
  readonly endpoints: readonly EndpointName[];
  /** The answers that are changed, by what the document states for the request; `null` for all. */
  readonly outcome: Outcome | null;
  /** The clauses that the change breaks. Empty for a legal change. */
  readonly breaks: readonly ClauseId[];
  /** Values that the condition must have. */
  readonly requires: Values;
  /** Values that the condition must not have. */
  readonly excludes: Values;
  /** Whether the change is what `breaks` says at this request. */
  readonly fits: (traits: RequestTraits) => boolean;
  readonly change: Change;
}

type Optional = "breaks" | "requires" | "excludes" | "fits" | "outcome";

/** Creates an operation. By default it is legal, and fits all answers. */
export const operation = (given: Omit<Operation, Optional> & Partial<Pick<Operation, Optional>>): Operation => ({
  breaks: [],
  requires: {},
  excludes: {},
  fits: () => true,
  outcome: null,
  ...given,
});

/** Whether the document forbids the change: the change breaks a `must` clause. */
export const isIllegal = ({ breaks }: Operation): boolean => breaks.some((clause) => clauseOf(clause).level === "must");

export const isSuccess = ({ status }: Pick<RequestTraits, "status">): boolean => status >= 200 && status < 300;

/** Makes a test whether an answer has an outcome. */
export const hasOutcome =
  (outcome: Outcome) =>
  (traits: Pick<RequestTraits, "status">): boolean => {
    if (outcome === "success") return isSuccess(traits);
    return outcome === "5xx" ? traits.status >= 500 : outcome === String(traits.status);
  };
