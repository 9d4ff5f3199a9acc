import { type ClauseId, clauseOf } from "../../../spec/clauses.ts";
import type { EndpointName } from "../../../spec/endpoints.ts";
import type {
  DimensionValues,
  PrescribedResponse,
  RequestTraits,
  WireEvent,
  WireHead,
  WireResponse,
} from "../dimensions.ts";

/** The server behind the proxy. Some mutations send additional requests to this server. */
export interface Upstream {
  readonly resend: (changes: { readonly key?: string; readonly path?: string }) => Promise<WireResponse>;
  readonly read: (path: string) => Promise<WireResponse>;
  /** The path of the client's request, with its query string. */
  readonly path: string;
  readonly unrestrictedKey: string;
}

/** Returns the events that replace an event of a stream. `null` stands for the end of the stream. */
export type EventChange = (event: WireEvent | null) => readonly WireEvent[];

/** The change of a response. In `head`, `body` and `instead`, `of` returns `null` if there is nothing to change. */
type MutationChange =
  | { readonly kind: "head"; readonly of: (head: WireHead, traits: RequestTraits) => WireHead | null }
  | { readonly kind: "body"; readonly of: (response: WireResponse, traits: RequestTraits) => WireResponse | null }
  /** `begin` is called once for each stream, and returns the function that changes the stream's events. */
  | { readonly kind: "events"; readonly begin: () => EventChange }
  /** `of` changes a stream's text, one network piece at a time. A piece can end within an event. */
  | { readonly kind: "stream text"; readonly of: (text: string) => string }
  | {
      readonly kind: "instead";
      readonly of: (response: WireResponse, traits: RequestTraits, upstream: Upstream) => Promise<WireResponse | null>;
    }
  /**
   * `of` delays the response or sends an extra request. The response itself is not changed. `of` resolves to `false` if
   * the extra request failed, so that the mutation had no effect.
   */
  | { readonly kind: "besides"; readonly of: (traits: RequestTraits, upstream: Upstream) => Promise<boolean> };

/** One way in which a mutant server behaves differently from the reference server. */
export interface Mutation {
  readonly class: string;
  readonly description: string;
  readonly endpoints: readonly EndpointName[];
  /** The mutation affects only requests for which the document prescribes this response. `null`: no restriction. */
  readonly prescribed: PrescribedResponse | null;
  readonly breaks: readonly ClauseId[];
  /** The mutation affects only requests with all these properties, e.g. `{ agent: "slow" }`. */
  readonly requires: DimensionValues;
  readonly excludes: (values: DimensionValues) => boolean;
  readonly appliesTo: (traits: RequestTraits) => boolean;
  readonly change: MutationChange;
}

type Optional = "breaks" | "requires" | "excludes" | "appliesTo" | "prescribed";

/** Creates a mutation. By default, the mutation is legal and affects every response of its endpoints. */
export const mutation = (given: Omit<Mutation, Optional> & Partial<Pick<Mutation, Optional>>): Mutation => ({
  breaks: [],
  requires: {},
  excludes: () => false,
  appliesTo: () => true,
  prescribed: null,
  ...given,
});

export const isIllegal = ({ breaks }: Mutation): boolean => breaks.some((clause) => clauseOf(clause).level === "must");

export const isSuccess = ({ status }: Pick<RequestTraits, "status">): boolean => status >= 200 && status < 300;

export const isPrescribed =
  (prescribed: PrescribedResponse) =>
  (traits: Pick<RequestTraits, "status">): boolean => {
    if (prescribed === "success") return isSuccess(traits);
    return prescribed === "5xx" ? traits.status >= 500 : prescribed === String(traits.status);
  };

const writeEvent = ({ name, data }: WireEvent): string => `event: ${name}\ndata: ${data}\n\n`;

function eventIn(block: string): WireEvent | null {
  const valuesOf = (field: string): string[] =>
    block
      .split("\n")
      .flatMap((line) => (line.startsWith(`${field}:`) ? [line.slice(field.length + 1).replace(/^ /, "")] : []));
  const data = valuesOf("data");
  return data.length === 0 ? null : { name: valuesOf("event").at(-1) ?? "message", data: data.join("\n") };
}

/**
 * Creates a function that changes each event of a stream. Call the function with each piece of the stream's text, and
 * finally with `null`.
 */
export function eventRewriter(change: EventChange): (text: string | null) => string {
  let left = "";
  return (text) => {
    if (text === null) return left + change(null).map(writeEvent).join("");
    const blocks = (left + text).split("\n\n");
    left = blocks.pop() ?? "";
    return blocks
      .map((block) => {
        const event = eventIn(block);
        return event === null ? `${block}\n\n` : change(event).map(writeEvent).join("");
      })
      .join("");
  };
}
