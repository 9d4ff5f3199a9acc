import type { Delivery, DeliveryReply } from "../evidence/delivery.ts";
import type { Body, Header } from "../evidence/exchange.ts";

export type Reply =
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: readonly Header[];
      readonly body?: string;
    }
  /** Holds the reply back until the probe calls `release`, and then replies with this status. */
  | { readonly kind: "held"; readonly status: number }
  | { readonly kind: "reset" }
  /** Never replies, so that the sender has to close the connection. */
  | { readonly kind: "silence" }
  /** Sends a head, and then a body without end. The receiver disconnects after a second. */
  | { readonly kind: "endless"; readonly status: number }
  /** Replies 204 if `X-Service-Signature` is valid, and 401 otherwise. */
  | { readonly kind: "verify" };

export interface HookPlan {
  readonly secret: string | null;
  readonly otherSecrets?: readonly string[];
  /** Replies in the order of the deliveries; the last reply repeats. If empty, every reply is 204. */
  readonly replies: readonly Reply[];
  /** Whether a GET counts as a delivery, e.g. a GET that follows a redirect. Default: `false`. */
  readonly takesReads?: boolean;
  /** The requirement set that first contains the hook's probe, such as 1.1. Undefined means 1.0. */
  readonly since?: string;
}

/** An address of the receiver, for the deliveries of one webhook. */
export interface Hook {
  readonly name: string;
  readonly url: string;
  readonly secret: string | null;
  readonly otherSecrets: readonly string[];
  readonly deliveries: () => readonly Delivery[];
  readonly droppedCount: () => number;
  /**
   * Waits until the receiver has begun to reply to `count` deliveries. Resolves to `false` after `realMs`, or when the
   * receiver is closed.
   */
  readonly waitForDeliveries: (count: number, realMs: number) => Promise<boolean>;
  /** Sends the replies that this hook held back. Afterwards, this hook holds back no replies. */
  readonly release: () => void;
  /** From now on, replies 204 to every delivery, whatever was planned. */
  readonly acceptAll: () => void;
  /** Marks this hook as interrupted, because its probe runs again and opens a new hook with the same name. */
  readonly setAside: () => void;
}

/** Plain JSON with which another process can reopen a hook at the same address. */
export interface HookRecord extends HookPlan {
  readonly name: string;
  readonly token: string;
  readonly arrivals: number;
  readonly isReleased: boolean;
}

export type ReceivedDelivery = Omit<Delivery, "reply" | "hook" | "attempt">;

export type OpenHook = ReturnType<typeof openHook>;

interface DeliveryStorage {
  /**
   * Reserves `bytes` for a delivery to a hook that already stores `stored` deliveries. Returns `false` if there is no
   * space.
   */
  readonly reserve: (bytes: number, stored: number) => boolean;
  /** Whether a hook with this many stored deliveries is full. A full hook only counts further deliveries. */
  readonly isFull: (stored: number) => boolean;
}

const defaultReply: Reply = { kind: "status", status: 204 };

function plannedReply(earlier: number, replies: readonly Reply[], isReleased: boolean): Reply {
  const reply = replies[Math.min(earlier, replies.length - 1)] ?? defaultReply;
  return reply.kind === "held" && isReleased ? { kind: "status", status: reply.status } : reply;
}

/** Opens a hook. Calls `onDelivery` for each stored delivery, and again if the reply to that delivery changes. */
export function openHook(
  { name, token, secret, otherSecrets = [], arrivals, replies, isReleased, takesReads = false, since }: HookRecord,
  url: string,
  { reserve, isFull }: DeliveryStorage,
  onDelivery: (delivery: Delivery) => void,
) {
  const stored: Delivery[] = [];
  const arriving = createCountWaiter(() => count - arrivals);
  const releases: (() => void)[] = [];
  let [count, dropped, isClosed, isSetAside] = [arrivals, 0, false, false];

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
    const isStored = reserve(storageBytes(delivery), at);
    if (isStored) {
      stored.push(delivery);
      onDelivery(delivery);
    } else dropped += 1;
    arriving.countChanged();
    return (changed) => {
      if (!isStored || isClosed) return;
      stored[at] = { ...delivery, reply: changed };
      onDelivery(stored[at]);
    };
  };

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
      ...(takesReads ? { takesReads } : {}),
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
  // Only the two ends of a `cut` body are stored. But an eighth of its length counts, because reading it all costs too.
  if (body.kind === "cut") return Math.max(2 * largeBodyBytes, body.bytes / 8);
  // A large body counts twice, because parsing and writing it takes more memory than its size.
  return body.bytes > largeBodyBytes ? 2 * body.bytes : body.bytes;
}

function createCountWaiter(count: () => number) {
  const waits = new Set<() => void>();
  let isOver = false;
  const countChanged = (): void => {
    for (const wake of waits) wake();
  };

  /** Resolves to `true` when the count reaches `wanted`, and to `false` after `realMs` or a call of `end`. */
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
