import type { SlotMoment } from "../behaviour/limiting.ts";
import type { Header, HeadFacts } from "../behaviour/transport.ts";
import type { ReferenceKey } from "../keys.ts";
import type { Account, Refusal } from "../limits/account.ts";
import type { WindowReading } from "../limits/windows.ts";
import { trouble, type Operation, type Trouble } from "../trouble.ts";
import type { ServerState } from "./state.ts";

/** What a request brings before its body is read. */
export interface Arrival {
  readonly operation: Operation;
  readonly authorization: string;
  readonly address: string;
  /** `null` where the path names no agent. */
  readonly agentId: string | null;
}

/** One request from its arrival to the end of its answer. */
export interface Exchange {
  readonly operation: Operation;
  readonly arrivedMs: number;
  /** `null` for requests without a valid key. */
  readonly key: ReferenceKey | null;
  readonly account: Account;
  readonly accountName: string;
  /** When the account was last used before; `null` for never. */
  readonly previousMs: number | null;
  /** Why the request is refused before anything else is looked at. */
  readonly refused: Trouble | null;
  /** A refusal that is told only where nothing else is wrong. */
  readonly refusedLate: Trouble | null;
  /** The rate-limit headers of the answer, for the instant at which its head is sent. */
  rateHeaders(facts: HeadFacts): readonly Header[];
  slotMoment(moment: SlotMoment, facts: HeadFacts): void;
}

/** Decides who asks and whether there is room, and counts the request where it counts. */
export function receive(state: ServerState, arrival: Arrival): Exchange {
  const { behaviour, clock, ring } = state;
  const nowMs = clock.now();
  const credentials = behaviour.credentials(arrival.authorization);
  const identity = behaviour.identify(credentials, ring, nowMs, arrival.operation);
  if (identity.kind === "known") {
    const name = behaviour.accountOf(identity.key, credentials);
    return admit(state, arrival, identity.key, name);
  }
  const account = state.addressAccount(arrival.address);
  const resembled = behaviour.chargedForStranger(credentials, ring);
  if (resembled !== null) state.accountOf(resembled.key, resembled).count(nowMs);
  const base = {
    operation: arrival.operation,
    arrivedMs: nowMs,
    key: null,
    account,
    accountName: arrival.address,
    previousMs: null,
  };
  if (!behaviour.requiresKey(arrival.operation, credentials))
    return opened(state, { ...base, refused: null, refusedLate: null });
  const refusing = account.refusing(nowMs);
  if (refusing !== undefined) {
    const refusal: Refusal = {
      kind: "address-limit",
      reading: refusing.reading(nowMs),
      roomAtMs: refusing.roomAtMs(nowMs),
    };
    return opened(state, { ...base, refused: refusalTrouble(state, refusal, nowMs), refusedLate: null });
  }
  account.count(nowMs);
  const stranger = trouble(identity.cause, strangerMessages[identity.cause] ?? "The API key is not valid.");
  const first = behaviour.refusesStrangersFirst(arrival.agentId !== null && !state.agents.has(arrival.agentId));
  return opened(state, { ...base, refused: first ? stranger : null, refusedLate: first ? null : stranger });
}

const strangerMessages: Readonly<Record<string, string>> = {
  "missing-key": "An API key is required: Authorization: Bearer <API_KEY>.",
  "malformed-key": "The Authorization header is not of the form Bearer <API_KEY>.",
  "wrong-key": "The API key is not valid.",
  "expired-key": "The API key has expired.",
};

function admit(state: ServerState, arrival: Arrival, key: ReferenceKey, accountName: string): Exchange {
  const { behaviour, clock } = state;
  const { operation } = arrival;
  const account = state.accountOf(accountName, key);
  const nowMs = clock.now();
  const previousMs = state.lastUsedMs.get(accountName) ?? null;
  state.lastUsedMs.set(accountName, nowMs);
  const base = { operation, arrivedMs: nowMs, key, account, accountName, previousMs, refusedLate: null };
  if (!behaviour.permits(key, arrival)) {
    return opened(state, { ...base, refused: trouble("forbidden", "This key may not do that.") });
  }
  const refusal = behaviour.isLimited(operation) ? refusalOf(state, operation, account, nowMs) : null;
  if (refusal !== null) {
    const counted = behaviour.countsRefused(refusal.kind)
      ? refusedAndCounted(state, refusal, operation, account)
      : refusal;
    const reading = toldReading(state, counted, account, nowMs);
    const told = { ...counted, reading };
    const refused = refusalTrouble(state, told, nowMs);
    const isLate = behaviour.refusesTurnsLast() && (operation === "invoke" || operation === "stream");
    return opened(
      state,
      { ...base, ...(isLate ? { refused: null, refusedLate: refused } : { refused }) },
      { told: reading },
    );
  }
  const counted = behaviour.counts(operation);
  const slot = behaviour.takesSlot(operation);
  if (counted) state.alerts.countWatched(key.name, account, nowMs);
  if (slot) account.takeSlot();
  return opened(state, { ...base, refused: null }, { counted, slot });
}

/** Counts a refused request, which may put off the instant at which there is room again. */
function refusedAndCounted(state: ServerState, refusal: Refusal, operation: Operation, account: Account): Refusal {
  const nowMs = state.clock.now();
  account.count(nowMs);
  const again = refusalOf(state, operation, account, nowMs);
  return again?.kind === refusal.kind ? again : refusal;
}

function toldReading({ behaviour }: ServerState, refusal: Refusal, account: Account, nowMs: number): WindowReading {
  if (refusal.kind === "request-limit") return refusal.reading;
  const shown = behaviour.shownReading(account.readings(nowMs));
  if (refusal.kind !== "token-quota") return shown;
  return behaviour.tokenReading(shown, account.tokens(nowMs), refusal.roomAtMs);
}

function refusalOf(state: ServerState, operation: Operation, account: Account, nowMs: number): Refusal | null {
  const { behaviour } = state;
  const refusing = account.refusing(nowMs);
  const shown = () => behaviour.shownReading(account.readings(nowMs));
  if (refusing !== undefined) {
    const reading = behaviour.refusedReading(refusing.reading(nowMs), shown());
    return { kind: "request-limit", reading, roomAtMs: refusing.roomAtMs(nowMs) };
  }
  const tokens = account.tokens(nowMs);
  if (behaviour.needsTokens(operation) && tokens.used >= tokens.limit) {
    return { kind: "token-quota", reading: shown(), roomAtMs: behaviour.tokensBackAtMs(nowMs) };
  }
  if (behaviour.takesSlot(operation) && !account.hasSlot()) {
    return { kind: "concurrency-limit", reading: shown(), roomAtMs: nowMs };
  }
  return null;
}

const refusalMessages: Readonly<Record<Refusal["kind"], string>> = {
  "request-limit": "The rate limit of this key is used up.",
  "concurrency-limit": "This key has as many requests in hand as it may.",
  "token-quota": "The tokens of this month are used up.",
  "address-limit": "Too many requests without a valid key.",
};

function refusalTrouble({ behaviour }: ServerState, refusal: Refusal, nowMs: number): Trouble {
  const { limit, remaining, resetAtMs } = refusal.reading;
  const retryAfterSeconds = behaviour.retryAfterSeconds(refusal, nowMs);
  const message = `${refusalMessages[refusal.kind]} Retry after ${retryAfterSeconds} s.`;
  return trouble(refusal.kind, message, { kind: "limit", limit, remaining, resetAtMs, retryAfterSeconds });
}

interface Holdings {
  readonly counted?: boolean;
  readonly slot?: boolean;
  readonly told?: WindowReading;
}

type ExchangeFacts = Omit<Exchange, "rateHeaders" | "slotMoment">;

function opened(state: ServerState, facts: ExchangeFacts, holdings: Holdings = {}): Exchange {
  const { behaviour, clock } = state;
  const { account, arrivedMs } = facts;
  let holdsSlot = holdings.slot ?? false;
  let counted = holdings.counted ?? false;
  let reading = holdings.told ?? behaviour.shownReading(account.readings(arrivedMs));
  return {
    ...facts,
    rateHeaders: (head) => {
      const nowMs = clock.now();
      const takenBack = counted && !behaviour.staysCounted(head);
      if (takenBack) account.uncount(arrivedMs, nowMs);
      counted = counted && !takenBack;
      // A long request may outlive the window it was counted in; a refusal speaks of the window that refused it.
      const isOver = nowMs >= reading.resetAtMs && holdings.told === undefined;
      if (takenBack || isOver || behaviour.rereads()) reading = behaviour.shownReading(account.readings(nowMs));
      return behaviour.rateHeaders(reading, nowMs, head);
    },
    slotMoment: (moment, head) => {
      if (!holdsSlot || !behaviour.releasesSlot(moment, head)) return;
      holdsSlot = false;
      const delayMs = behaviour.releaseDelayMs(moment, head);
      if (delayMs > 0) clock.setTimeout(() => account.giveSlotBack(), delayMs);
      else account.giveSlotBack();
    },
  };
}
