import type { Delivery, DeliveryReply } from "../evidence/delivery.ts";
import type { Body, Header } from "../evidence/exchange.ts";
import { createCountWaiter } from "./count-waiter.ts";

/** What the receiver does with an attempt. */
export type Reply =
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: readonly Header[];
      readonly body?: string;
    }
  /** Answered when the hook is released. */
  | { readonly kind: "held"; readonly status: number }
  | { readonly kind: "reset" }
  /** Nothing at all, until the sender leaves. */
  | { readonly kind: "silence" }
  /** A head, and a body that goes on until the sender leaves. */
  | { readonly kind: "endless"; readonly status: number }
  /** 204 where `X-Service-Signature` is right, else 401. */
  | { readonly kind: "verify" };

export interface HookPlan {
  /** The webhook's secret, as the target was given it. */
  readonly secret: string | null;
  /** The n-th attempt gets the n-th; the last one repeats. None at all: every attempt gets 204. */
  readonly replies: readonly Reply[];
}

/** An address of the receiver, for one webhook. */
export interface Hook {
  readonly name: string;
  readonly url: string;
  readonly secret: string | null;
  /** A snapshot, in order of arrival. */
  readonly deliveries: () => readonly Delivery[];
  /** Deliveries beyond what is kept: they were turned away, and counted. */
  readonly droppedCount: () => number;
  /** `true` as soon as `count` have arrived whole and been replied to (or a reply that takes time has begun), `false` after `realMs`. */
  readonly waitForDeliveries: (count: number, realMs: number) => Promise<boolean>;
  /** Answers what is held, and everything that comes later at once. */
  readonly release: () => void;
  /** From now on every attempt gets 204: nothing is to be tried again any more. */
  readonly acceptAll: () => void;
}

/** All that it takes to open a hook again, at the same address. Plain JSON. */
export interface HookRecord extends HookPlan {
  readonly name: string;
  /** Unguessable part of its address. */
  readonly token: string;
  /** Requests that have come to it. */
  readonly arrivals: number;
  readonly isReleased: boolean;
}

/** A delivery but for what becomes of it. */
export type Received = Omit<Delivery, "reply" | "hook" | "attempt">;

/** The receiver's side of a hook. */
export interface OpenHook {
  readonly hook: Hook;
  readonly record: () => HookRecord;
  /** Counts a delivery that will not be kept; `false` where the next one still may be. */
  readonly countOnly: () => boolean;
  /** What the next attempt will get. */
  readonly nextReply: () => Reply;
  /** Takes a delivery in with what is done with it. What is returned tells of a change, such as a sender that left. */
  readonly take: (received: Received, reply: DeliveryReply) => (changed: DeliveryReply) => void;
  /** To be called when the hook is released. */
  readonly whenReleased: (then: () => void) => void;
  /** Ends every wait for an arrival. */
  readonly close: () => void;
}

export interface HookOptions extends HookRecord {
  readonly url: string;
  /** Whether there is room to keep one more of so many bytes, where the hook has kept so many; the answer counts. */
  readonly hasRoom: (bytes: number, kept: number) => boolean;
  /** Whether nothing more is kept where the hook has kept so many. */
  readonly isFull: (kept: number) => boolean;
  /** Told of each delivery when it is replied to, and again when the reply changes. */
  readonly onDelivery: (delivery: Delivery) => void;
}

const standardReply: Reply = { kind: "status", status: 204 };

export function openHook(options: HookOptions): OpenHook {
  const { name, url, token, secret, arrivals, isReleased: wasReleased, hasRoom, isFull, onDelivery } = options;
  const kept: Delivery[] = [];
  const arriving = createCountWaiter(() => count - arrivals);
  const releases: (() => void)[] = [];
  let { replies } = options;
  let [count, unkept] = [arrivals, 0];
  let isReleased = wasReleased;
  let isClosed = false;

  const nextReply = (): Reply => {
    const reply = replies[Math.min(count, replies.length - 1)] ?? standardReply;
    return reply.kind === "held" && isReleased ? { kind: "status", status: reply.status } : reply;
  };

  const take = (received: Received, reply: DeliveryReply): ((changed: DeliveryReply) => void) => {
    count += 1;
    const at = kept.length;
    const delivery: Delivery = { ...received, hook: name, attempt: count, reply };
    const isKept = hasRoom(bytesOf(delivery), at);
    if (isKept) {
      kept.push(delivery);
      onDelivery(delivery);
    } else unkept += 1;
    arriving.look();
    return (changed) => {
      // What a sender does once the receiver is gone says nothing of it.
      if (!isKept || isClosed) return;
      kept[at] = { ...delivery, reply: changed };
      onDelivery(kept[at]);
    };
  };

  return {
    hook: {
      name,
      url,
      secret,
      deliveries: () => [...kept],
      droppedCount: () => unkept,
      waitForDeliveries: arriving.atLeast,
      release: () => {
        isReleased = true;
        for (const then of releases.splice(0)) then();
      },
      acceptAll: () => void (replies = []),
    },
    record: () => ({ name, token, secret, replies, arrivals: count, isReleased }),
    nextReply,
    countOnly: () => {
      if (!isFull(kept.length)) return false;
      count += 1;
      unkept += 1;
      arriving.look();
      return true;
    },
    take,
    whenReleased: (then) => void releases.push(then),
    close: () => {
      isClosed = true;
      arriving.end();
    },
  };
}

const bytesOf = ({ request: { body, headers } }: Delivery): number =>
  weightOf(body) + headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);

const largeBytes = 16 * 1024;

function weightOf(body: Body): number {
  if (body.kind === "none") return 0;
  // Of a body of which only the ends are kept, what it took to read it counts for a part.
  if (body.kind === "cut") return Math.max(2 * largeBytes, body.bytes / 8);
  // Each is read as JSON and written into files: what is large takes more than itself.
  return body.bytes > largeBytes ? 2 * body.bytes : body.bytes;
}
