import type { Delivery, DeliveryReply } from "../evidence/delivery.ts";
import type { Body, Header } from "../evidence/exchange.ts";

/** How the receiver replies to an attempt of a delivery. */
export type Reply =
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: readonly Header[];
      readonly body?: string;
    }
  /** Replies when the probe calls `release`. */
  | { readonly kind: "held"; readonly status: number }
  | { readonly kind: "reset" }
  /** Never replies, so that the sender has to close the connection. */
  | { readonly kind: "silence" }
  /** Sends a head, and a body that never ends. The receiver disconnects after a second. */
  | { readonly kind: "endless"; readonly status: number }
  /** Replies 204 if `X-Service-Signature` is valid, else 401. */
  | { readonly kind: "verify" };

export interface HookPlan {
  /** The webhook's secret, which the target knows too. */
  readonly secret: string | null;
  /** The replies to the first, second, … attempt. The last reply repeats. Without any, every attempt gets 204. */
  readonly replies: readonly Reply[];
  /**
   * Whether a GET counts as a delivery, because a sender may follow a redirect with a GET. Default: a GET only tests
   * the address.
   */
  readonly takesReads?: boolean;
  /** Requirement set of the probe that opens the hook, such as 1.1; absent for 1.0. */
  readonly since?: string;
}

/** An address of the receiver, meant for one webhook. */
export interface Hook {
  readonly name: string;
  readonly url: string;
  readonly secret: string | null;
  /** The deliveries so far, in order of arrival. */
  readonly deliveries: () => readonly Delivery[];
  /** Number of deliveries that were refused because the storage was full. */
  readonly droppedCount: () => number;
  /**
   * Resolves to `true` once `count` deliveries have arrived and a reply to each has at least begun. Resolves to `false`
   * after `realMs`.
   */
  readonly waitForDeliveries: (count: number, realMs: number) => Promise<boolean>;
  /** Replies to attempts with the reply `held`. Later attempts get their reply at once. */
  readonly release: () => void;
  /** Replies 204 to all later attempts, instead of the planned replies. */
  readonly acceptAll: () => void;
  /**
   * Gives up the hook, because its probe runs again and opens another hook with this name. The old hook accepts late
   * deliveries. All its deliveries get a name that no check looks for.
   */
  readonly setAside: () => void;
}

/** The state of a hook, from which the hook can be opened again at the same address. Plain JSON. */
export interface HookRecord extends HookPlan {
  readonly name: string;
  /** The secret part of the address. */
  readonly token: string;
  /** Number of requests to the hook. */
  readonly arrivals: number;
  readonly isReleased: boolean;
}

/** A delivery as the request handler makes it. The hook adds the other fields. */
export type Received = Omit<Delivery, "reply" | "hook" | "attempt">;

/** A hook with the methods that only the receiver calls. */
export type OpenHook = ReturnType<typeof openHook>;

/** Decides which deliveries to a hook are stored. */
export interface Storage {
  /**
   * Whether a delivery of this size can be stored if its hook has `stored` deliveries already. `true` reserves the
   * space.
   */
  readonly hasRoom: (bytes: number, stored: number) => boolean;
  /** Whether the storage is full for a hook with this number of stored deliveries. */
  readonly isFull: (stored: number) => boolean;
}

const defaultReply: Reply = { kind: "status", status: 204 };

function replyTo(earlier: number, replies: readonly Reply[], isReleased: boolean): Reply {
  const reply = replies[Math.min(earlier, replies.length - 1)] ?? defaultReply;
  return reply.kind === "held" && isReleased ? { kind: "status", status: reply.status } : reply;
}

/**
 * Opens a hook.
 *
 * @param onDelivery called for each delivery with its reply, and again when the reply changes
 */
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
      // The receiver itself disconnects senders when it closes, so a change after that says nothing about the target.
      if (!isStored || isClosed) return;
      stored[at] = { ...delivery, reply: changed };
      onDelivery(stored[at]);
    };
  };

  /** If the storage is full, counts a delivery without storing it and returns `true`. */
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
    /** Registers a callback that runs when the probe calls `release`. */
    whenReleased: (then: () => void): void => void releases.push(then),
    /** Ends every wait for deliveries. */
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
  // Only the head and tail of a cut body are stored. Reading a huge body costs time, too, so an eighth of its length
  // counts if that is more.
  if (body.kind === "cut") return Math.max(2 * largeBytes, body.bytes / 8);
  // A large body takes more memory than its size when it is parsed and written.
  return body.bytes > largeBytes ? 2 * body.bytes : body.bytes;
}

/** Lets callers wait until a count is reached. */
function createCountWaiter(count: () => number) {
  const waits = new Set<() => void>();
  let isOver = false;
  const countChanged = (): void => {
    for (const wake of waits) wake();
  };

  /** Resolves to `true` once the count is reached, or to `false` after `realMs` or when the waiter ends. */
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
