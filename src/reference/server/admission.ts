import type { ResponseEvent } from "../behaviour/limits.ts";
import type { Header, HeadInput } from "../behaviour/transport.ts";
import type { ReferenceKey } from "../keys.ts";
import type { Account, Refusal } from "../limits/account.ts";
import type { WindowStatus } from "../limits/windows.ts";
import { apiError, type Operation, type ApiError } from "../api-error.ts";
import type { ServerState } from "./state.ts";

/** What a request brings before its body is read. */
export interface IncomingRequest {
  readonly operation: Operation;
  readonly authorization: string;
  readonly address: string;
  /** `null` where the path names no agent. */
  readonly agentId: string | null;
}

/** One request from its arrival to the end of its answer. */
export interface RequestContext {
  readonly operation: Operation;
  readonly arrivedMs: number;
  /** `null` for requests without a valid key. */
  readonly key: ReferenceKey | null;
  readonly account: Account;
  readonly accountName: string;
  /** When the account was last used before; `null` for never. */
  readonly previousMs: number | null;
  /** Why the request is refused before anything else is looked at. */
  readonly refused: ApiError | null;
  /** A refusal that is told only where nothing else is wrong. */
  readonly refusedLate: ApiError | null;
  /** The rate-limit headers of the answer, for the instant at which its head is sent. */
  rateHeaders(facts: HeadInput): readonly Header[];
  slotMoment(moment: ResponseEvent, facts: HeadInput): void;
}

/** Decides who asks and whether there is room, and counts the request where it counts. */
export function admitRequest(state: ServerState, arrival: IncomingRequest): RequestContext {
  const { behaviour, clock, ring } = state;
  const nowMs = clock.now();
  const credentials = behaviour.credentials(arrival.authorization);
  const identity = behaviour.identify(credentials, ring, nowMs, arrival.operation);
  if (identity.kind === "known") {
    const name = behaviour.accountOf(identity.key, credentials);
    return admit(state, arrival, identity.key, name);
  }
  const account = state.addressAccount(arrival.address);
  const resembled = behaviour.accountChargedForInvalidKey(credentials, ring);
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
  const refusing = account.exhaustedLimiter(nowMs);
  if (refusing !== undefined) {
    const refusal: Refusal = {
      kind: "address-limit",
      window: refusing.status(nowMs),
      roomAtMs: refusing.roomAtMs(nowMs),
    };
    return opened(state, { ...base, refused: refusalTrouble(state, refusal, nowMs), refusedLate: null });
  }
  account.count(nowMs);
  const stranger = apiError(identity.cause, strangerMessages[identity.cause] ?? "The API key is not valid.");
  const first = behaviour.authenticatesFirst(arrival.agentId !== null && !state.agents.has(arrival.agentId));
  return opened(state, { ...base, refused: first ? stranger : null, refusedLate: first ? null : stranger });
}

const strangerMessages: Readonly<Record<string, string>> = {
  "missing-key": "An API key is required: Authorization: Bearer <API_KEY>.",
  "malformed-key": "The Authorization header is not of the form Bearer <API_KEY>.",
  "wrong-key": "The API key is not valid.",
  "expired-key": "The API key has expired.",
};

function admit(state: ServerState, arrival: IncomingRequest, key: ReferenceKey, accountName: string): RequestContext {
  const { behaviour, clock } = state;
  const { operation } = arrival;
  const account = state.accountOf(accountName, key);
  const nowMs = clock.now();
  const previousMs = state.lastUsedMs.get(accountName) ?? null;
  state.lastUsedMs.set(accountName, nowMs);
  const base = { operation, arrivedMs: nowMs, key, account, accountName, previousMs, refusedLate: null };
  if (!behaviour.permits(key, arrival)) {
    return opened(state, { ...base, refused: apiError("forbidden", "This key may not do that.") });
  }
  const refusal = behaviour.isLimited(operation) ? refusalOf(state, operation, account, nowMs) : null;
  if (refusal !== null) {
    const counted = behaviour.countsRefused(refusal.kind)
      ? refusedAndCounted(state, refusal, operation, account)
      : refusal;
    const reading = toldReading(state, counted, account, nowMs);
    const told = { ...counted, reading };
    const refused = refusalTrouble(state, told, nowMs);
    const isLate = behaviour.reportsLimitErrorsLast() && (operation === "invoke" || operation === "stream");
    return opened(
      state,
      { ...base, ...(isLate ? { refused: null, refusedLate: refused } : { refused }) },
      { told: reading },
    );
  }
  const counted = behaviour.counts(operation);
  const slot = behaviour.takesSlot(operation);
  if (counted) state.alerts.countAndAlert(key.name, account, nowMs);
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

function toldReading({ behaviour }: ServerState, refusal: Refusal, account: Account, nowMs: number): WindowStatus {
  if (refusal.kind === "request-limit") return refusal.window;
  const shown = behaviour.advertisedWindow(account.windows(nowMs));
  if (refusal.kind !== "token-quota") return shown;
  return behaviour.tokenQuotaWindow(shown, account.tokens(nowMs), refusal.roomAtMs);
}

function refusalOf(state: ServerState, operation: Operation, account: Account, nowMs: number): Refusal | null {
  const { behaviour } = state;
  const refusing = account.exhaustedLimiter(nowMs);
  const shown = () => behaviour.advertisedWindow(account.windows(nowMs));
  if (refusing !== undefined) {
    const window = behaviour.refusalWindow(refusing.status(nowMs), shown());
    return { kind: "request-limit", window, roomAtMs: refusing.roomAtMs(nowMs) };
  }
  const tokens = account.tokens(nowMs);
  if (behaviour.needsTokens(operation) && tokens.used >= tokens.limit) {
    return { kind: "token-quota", window: shown(), roomAtMs: behaviour.tokensBackAtMs(nowMs) };
  }
  if (behaviour.takesSlot(operation) && !account.hasSlot()) {
    return { kind: "concurrency-limit", window: shown(), roomAtMs: nowMs };
  }
  return null;
}

const refusalMessages: Readonly<Record<Refusal["kind"], string>> = {
  "request-limit": "The rate limit of this key is used up.",
  "concurrency-limit": "This key has as many requests in hand as it may.",
  "token-quota": "The tokens of this month are used up.",
  "address-limit": "Too many requests without a valid key.",
};

function refusalTrouble({ behaviour }: ServerState, refusal: Refusal, nowMs: number): ApiError {
  const { limit, remaining, resetAtMs } = refusal.window;
  const retryAfterSeconds = behaviour.retryAfterSeconds(refusal, nowMs);
  const message = `${refusalMessages[refusal.kind]} Retry after ${retryAfterSeconds} s.`;
  return apiError(refusal.kind, message, { kind: "limit", limit, remaining, resetAtMs, retryAfterSeconds });
}

interface Holdings {
  readonly counted?: boolean;
  readonly slot?: boolean;
  readonly told?: WindowStatus;
}

type ExchangeFacts = Omit<RequestContext, "rateHeaders" | "slotMoment">;

function opened(state: ServerState, facts: ExchangeFacts, holdings: Holdings = {}): RequestContext {
  const { behaviour, clock } = state;
  const { account, arrivedMs } = facts;
  let holdsSlot = holdings.slot ?? false;
  let counted = holdings.counted ?? false;
  let reading = holdings.told ?? behaviour.advertisedWindow(account.windows(arrivedMs));
  return {
    ...facts,
    rateHeaders: (head) => {
      const nowMs = clock.now();
      const takenBack = counted && !behaviour.remainsCounted(head);
      if (takenBack) account.uncount(arrivedMs, nowMs);
      counted = counted && !takenBack;
      // A long request may outlive the window it was counted in; a refusal speaks of the window that refused it.
      const isOver = nowMs >= reading.resetAtMs && holdings.told === undefined;
      if (takenBack || isOver || behaviour.refreshesBeforeSending())
        reading = behaviour.advertisedWindow(account.windows(nowMs));
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
