import type { Delivery, DeliveryReply } from "../evidence/delivery.ts";
import type { Body, Header } from "../evidence/exchange.ts";

/** How the receiver replies to an attempt. */
export type Reply =
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: readonly Header[];
      readonly body?: string;
    }
  /** Replies when the hook is released. */
  | { readonly kind: "held"; readonly status: number }
  | { readonly kind: "reset" }
  /** Never replies. The sender has to close the connection. */
  | { readonly kind: "silence" }
  /** Sends a head, and a body whose end never comes: the receiver disconnects after a second. */
  | { readonly kind: "endless"; readonly status: number }
  /** Replies 204 if `X-Service-Signature` is valid, else 401. */
  | { readonly kind: "verify" };

export interface HookPlan {
  /** The webhook's secret, which the target knows too. */
  readonly secret: string | null;
  /** The replies to the first, second, … attempt. The last one repeats. Without any, every attempt gets 204. */
  readonly replies: readonly Reply[];
  /** Whether a GET is a delivery as well, as from a sender that follows a redirect. Default: it only tests the address. */
  readonly takesReads?: boolean;
  /** Requirement set of the probe that opens the hook, if it is later than 1.0. */
  readonly since?: string;
}

/** An address of the receiver for one webhook. */
export interface Hook {
  readonly name: string;
  readonly url: string;
  readonly secret: string | null;
  /** The deliveries so far, in order of arrival. */
  readonly deliveries: () => readonly Delivery[];
  /** Number of deliveries that were refused because the storage was full. */
  readonly droppedCount: () => number;
  /**
   * Resolves to `true` once `count` deliveries have arrived and got a reply, or the start of a slow reply. Resolves
   * to `false` after `realMs`.
   */
  readonly waitForDeliveries: (count: number, realMs: number) => Promise<boolean>;
  /** Replies to held attempts, and to later ones at once. */
  readonly release: () => void;
  /** An open hook, with the methods that only the receiver calls. */
  readonly acceptAll: () => void;
  /**
   * Gives up the hook, because its probe runs again: another hook may take its name. Late deliveries are accepted, and
   * all are kept under a name that no check looks for.
   */
  readonly setAside: () => void;
}

/** The state of a hook, to open it again at the same address. Plain JSON. */
export interface HookRecord extends HookPlan {
  readonly name: string;
  /** The secret part of the address. */
  readonly token: string;
  /** Number of requests to the hook. */
  readonly arrivals: number;
  readonly isReleased: boolean;
}

/** A delivery without the fields that the hook adds. */
export type Received = Omit<Delivery, "reply" | "hook" | "attempt">;

/** A hook as the receiver uses it. */
export type OpenHook = ReturnType<typeof openHook>;

/** Decides how many of the deliveries to a hook are stored. */
export interface Storage {
  /** Whether a delivery of this size can be stored after `stored` others of its hook. `true` reserves the space. */
  readonly hasRoom: (bytes: number, stored: number) => boolean;
  /** Whether the storage is full for a hook with this number of stored deliveries. */
  readonly isFull: (stored: number) => boolean;
}

const defaultReply: Reply = { kind: "status", status: 204 };

function replyTo(earlier: number, replies: readonly Reply[], isReleased: boolean): Reply {
  const reply = replies[Math.min(earlier, replies.length - 1)] ?? defaultReply;
  return reply.kind === "held" && isReleased ? { kind: "status", status: reply.status } : reply;
}

/** @param onDelivery called for each delivery with its reply, and again when the reply changes */
export function openHook(
  { name, token, secret, arrivals, replies, isReleased, takesReads = false, since }: HookRecord,
  url: string,
  { hasRoom, isFull }: Storage,
  onDelivery: (delivery: Delivery) => void,
) {
  const stored: Delivery[] = [];
  const arriving = createCountWaiter(() => count - arrivals);
  const releases: (() => void)[] = [];
  let [count, dropped, isClosed, isSetAside] = [arrivals, 0, false, false];

  /** Adds a delivery with its reply. Returns a function that updates the reply, such as after a disconnect. */
  const take = (received: Received, reply: DeliveryReply): ((changed: DeliveryReply) => void) => {
    count += 1;
    const at = stored.length;
    const delivery: Delivery = {
      ...received,
      hook: name,
      attempt: count,
      reply,
      ...(since === undefined ? {} : { since }),
    };
    const isStored = hasRoom(storageBytes(delivery), at);
    if (isStored) {
      stored.push(delivery);
      onDelivery(delivery);
    } else dropped += 1;
    arriving.countChanged();
    return (changed) => {
      // After the close, a sender's disconnect says nothing about the target.
      if (!isStored || isClosed) return;
      stored[at] = { ...delivery, reply: changed };
      onDelivery(stored[at]);
    };
  };

  /** Counts a delivery without storing it if the storage is full. `false` if the storage has room. */
  const countOnly = (): boolean => {
    if (!isFull(stored.length)) return false;
    count += 1;
    dropped += 1;
    arriving.countChanged();
    return true;
  };

  const release = (): void => {
    isReleased = true;
    for (const then of releases.splice(0)) then();
  };

  const hook: Hook = {
    name,
    url,
    secret,
    deliveries: () => stored.map((each) => (isSetAside ? { ...each, hook: `interrupted-${name}` } : each)),
    droppedCount: () => dropped,
    waitForDeliveries: arriving.waitFor,
    release,
    acceptAll: () => void (replies = []),
    setAside: () => {
      isSetAside = true;
      replies = [];
      release();
    },
  };

  return {
    hook,
    takesReads,
    nextReply: (): Reply => replyTo(count, replies, isReleased),
    take,
    countOnly,
    isSetAside: (): boolean => isSetAside,
    record: (): HookRecord => ({
      name,
      token,
      secret,
      replies,
      arrivals: count,
      isReleased,
      ...(since === undefined ? {} : { since }),
    }),
    /** Registers a callback for the release of the hook. */
    whenReleased: (then: () => void): void => void releases.push(then),
    /** Ends every wait. */
    close: (): void => {
      isClosed = true;
      arriving.end();
    },
  };
}

const storageBytes = ({ request: { body, headers } }: Delivery): number =>
  storageCost(body) + headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);

const largeBytes = 16 * 1024;

function storageCost(body: Body): number {
  if (body.kind === "none") return 0;
  // Only the head and tail of a cut body are stored. Reading it costs time, so an eighth of its length counts if that
  // is more.
  if (body.kind === "cut") return Math.max(2 * largeBytes, body.bytes / 8);
  // Large bodies take more memory than their size when they are parsed and written.
  return body.bytes > largeBytes ? 2 * body.bytes : body.bytes;
}

/** Lets callers wait until a count is reached. */
function createCountWaiter(count: () => number) {
  const waits = new Set<() => void>();
  let isOver = false;
  const countChanged = (): void => {
    for (const wake of waits) wake();
  };

  /** Resolves to `true` once the count is reached, to `false` after `realMs` or at the end. */
  const waitFor = (wanted: number, realMs: number): Promise<boolean> => {
    const isReached = (): boolean => count() >= wanted;
    if (isReached() || isOver) return Promise.resolve(isReached());
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(timer);
        waits.delete(wake);
        resolve(isReached());
      };
      const wake = (): void => {
        if (isReached() || isOver) settle();
      };
      const timer = setTimeout(settle, realMs);
      waits.add(wake);
    });
  };

  return {
    waitFor,
    countChanged,
    end: (): void => {
      isOver = true;
      countChanged();
    },
  };
}
