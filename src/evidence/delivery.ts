import type { SentRequest } from "./exchange.ts";

/** What the receiver did with a delivery. Times as in {@link Delivery}. */
export type DeliveryReply =
  | { readonly kind: "answered"; readonly status: number; readonly endMs: number }
  /** Not answered yet. */
  | { readonly kind: "held" }
  | { readonly kind: "reset" }
  /** Never answered; `leftMs` is when the sender gave up, `null` where it had not. */
  | { readonly kind: "silent"; readonly leftMs: number | null }
  /** A head, and a body that does not end. */
  | { readonly kind: "endless"; readonly status: number; readonly leftMs: number | null };

/**
 * One request that the harness's receiver got. Times are milliseconds since the start of the run on the harness's clock, of the
 * moment at which the request had arrived whole; `clockMs` tells how far the run had moved the target's own clock by then, and
 * `clockAtMostMs` the same with a move that was under way.
 */
export interface Delivery {
  readonly id: string;
  /** Name of the receiver's address that it came to. */
  readonly hook: string;
  /** It was the n-th request to that address, from 1. */
  readonly attempt: number;
  /** `url` as the receiver saw it. */
  readonly request: SentRequest;
  /** Address that it came from. */
  readonly peer: string;
  readonly receivedMs: number;
  readonly clockMs: number;
  readonly clockAtMostMs: number;
  /** What `X-Service-Signature` has to be, computed over the raw bytes on arrival; `null` for a webhook without a secret. */
  readonly computedSignature: string | null;
  readonly reply: DeliveryReply;
}

/** Values of every header of that name, in order, whatever its letter case. */
export function deliveryHeader({ request }: Pick<Delivery, "request">, name: string): string[] {
  const wanted = name.toLowerCase();
  return request.headers.filter(([each]) => each.toLowerCase() === wanted).map(([, value]) => value);
}

/** The body as JSON; `undefined` where it is not JSON, or was too long to keep. */
export function deliveryJson({ request }: Delivery): unknown {
  if (request.body.kind !== "text") return undefined;
  try {
    return JSON.parse(request.body.text) as unknown;
  } catch {
    return undefined;
  }
}
