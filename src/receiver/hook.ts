import type { Delivery, DeliveryReply } from "../evidence/delivery.ts";
import type { Body, Header } from "../evidence/exchange.ts";

/** How the receiver responds to a delivery. */
export type Reply =
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: readonly Header[];
      readonly body?: string;
    }
  /** Replies with this status only when the probe calls `release`. */
  | { readonly kind: "held"; readonly status: number }
  | { readonly kind: "reset" }
  /** Never replies, so that the sender has to close the connection. */
  | { readonly kind: "silence" }
  /** Sends a head, and then a body without end. The receiver disconnects after a second. */
  | { readonly kind: "endless"; readonly status: number }
  /** Replies 204 if `X-Service-Signature` is valid, and 401 otherwise. */
  | { readonly kind: "verify" };

export interface HookPlan {
  /** The secret of the webhook; `null` if it has none. */
  readonly secret: string | null;
  /** The secrets of other webhooks that share the address. Default: none. */
  readonly otherSecrets?: readonly string[];
  /** Replies to the first delivery, the second, and so on; the last one repeats. Empty: always 204. */
  readonly replies: readonly Reply[];
  /** Whether a GET counts as a delivery, because a sender may follow a redirect with one. Default: `false`. */
  readonly takesReads?: boolean;
  /** Requirement set of the probe that opens the hook, such as 1.1. Absent for 1.0. */
  readonly since?: string;
}

/** An address of the receiver, for the deliveries of one webhook. */
export interface Hook {
  readonly name: string;
  readonly url: string;
  readonly secret: string | null;
  readonly otherSecrets: readonly string[];
  /** The deliveries so far, in order of arrival. */
  readonly deliveries: () => readonly Delivery[];
  /** Number of deliveries that were not stored, because the storage was full. */
  readonly droppedCount: () => number;
  /** Resolves to whether `count` deliveries have arrived, and their replies have begun, within `realMs`. */
  readonly waitForDeliveries: (count: number, realMs: number) => Promise<boolean>;
  /** Sends all replies of the kind `held`. From now on, they are sent at once. */
  readonly release: () => void;
  /** From now on, replies 204 to every delivery, whatever was planned. */
  readonly acceptAll: () => void;
  /** Abandons the hook, because its probe runs again with a hook of this name. */
  readonly setAside: () => void;
}

/** The state of a hook, as plain JSON, from which another process can reopen it at the same address. */
export interface HookRecord extends HookPlan {
  readonly name: string;
  /** The secret part of the hook's address. */
  readonly token: string;
  /** Number of requests that the hook has received. */
  readonly arrivals: number;
  readonly isReleased: boolean;
}

/** A delivery without the fields that its hook adds. */
export type ReceivedDelivery = Omit<Delivery, "reply" | "hook" | "attempt">;

/** A hook, with additional methods that only the receiver calls. */
export type OpenHook = ReturnType<typeof openHook>;

/** Decides whether a delivery to a hook is stored. */
export interface DeliveryStorage {
  /** Reserves space for a delivery in a hook that has `stored` deliveries. Returns `false` if there is none. */
  readonly hasRoom: (bytes: number, stored: number) => boolean;
  /** Whether the receiver only counts further deliveries to a hook that has stored this many. */
  readonly isFull: (stored: number) => boolean;
}

const defaultReply: Reply = { kind: "status", status: 204 };

function plannedReply(earlier: number, replies: readonly Reply[], isReleased: boolean): Reply {
  const reply = replies[Math.min(earlier, replies.length - 1)] ?? defaultReply;
  return reply.kind === "held" && isReleased ? { kind: "status", status: reply.status } : reply;
}

/** Opens a hook. Calls `onDelivery` with each delivery and its reply, and again if the reply changes. */
export function openHook(
  { name, token, secret, otherSecrets = [], arrivals, replies, isReleased, takesReads = false, since }: HookRecord,
  url: string,
  { hasRoom, isFull }: DeliveryStorage,
  onDelivery: (delivery: Delivery) => void,
) {
  const stored: Delivery[] = [];
  const arriving = createCountWaiter(() => count - arrivals);
  const releases: (() => void)[] = [];
  let [count, dropped, isClosed, isSetAside] = [arrivals, 0, false, false];

  /** Records a delivery with its reply. Returns a function that changes the reply if the sender disconnects. */
  const recordDelivery = (received: ReceivedDelivery, reply: DeliveryReply): ((changed: DeliveryReply) => void) => {
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
      // A dropped delivery has no record, and changes after closing come only from the closing itself.
      if (!isStored || isClosed) return;
      stored[at] = { ...delivery, reply: changed };
      onDelivery(stored[at]);
    };
  };

  /** If the storage is full, counts the delivery without storing it, and returns `true`. */
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
    otherSecrets,
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
    nextReply: (): Reply => plannedReply(count, replies, isReleased),
    take: recordDelivery,
    countOnly,
    isSetAside: (): boolean => isSetAside,
    record: (): HookRecord => ({
      name,
      token,
      secret,
      replies,
      arrivals: count,
      isReleased,
      ...(otherSecrets.length === 0 ? {} : { otherSecrets }),
      ...(since === undefined ? {} : { since }),
    }),
    whenReleased: (then: () => void): void => void releases.push(then),
    close: (): void => {
      isClosed = true;
      arriving.end();
    },
  };
}

const storageBytes = ({ request: { body, headers } }: Delivery): number =>
  storageCost(body) + headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);

const largeBodyBytes = 16 * 1024;

function storageCost(body: Body): number {
  if (body.kind === "none") return 0;
  // A cut body is stored only in part, but an eighth of its length counts, because reading it took time.
  if (body.kind === "cut") return Math.max(2 * largeBodyBytes, body.bytes / 8);
  // Parsing and writing a large body takes more memory than its size.
  return body.bytes > largeBodyBytes ? 2 * body.bytes : body.bytes;
}

/** Creates functions to wait until a count reaches a number. `count` returns the current count. */
function createCountWaiter(count: () => number) {
  const waits = new Set<() => void>();
  let isOver = false;
  const countChanged = (): void => {
    for (const wake of waits) wake();
  };

  /** Resolves to whether the count reached `wanted` before `realMs` had passed or `end` was called. */
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
