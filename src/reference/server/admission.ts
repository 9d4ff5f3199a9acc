import type { ResponseEvent } from "../behaviour/limits.ts";
import type { Header, ResponseHead } from "../behaviour/transport.ts";
import type { Endpoint } from "../endpoint.ts";
import type { ReferenceKey } from "../keys.ts";
import type { Account, Refusal } from "../limits/account.ts";
import type { WindowStatus } from "../limits/windows.ts";
import { apiError, type ApiError, type ErrorCause } from "../behaviour/errors.ts";
import type { AccessRequest, Credentials } from "../behaviour/authentication.ts";
import type { ServerState } from "./state.ts";
import { disconnectSignal, type DisconnectSignal } from "./wait.ts";

interface IncomingRequest extends AccessRequest {
  readonly authorization: string;
}

export interface RequestContext {
  readonly state: ServerState;
  readonly client: DisconnectSignal;
  readonly endpoint: Endpoint;
  readonly arrivedMs: number;
  readonly key: ReferenceKey | null;
  readonly account: Account;
  readonly accountName: string;
  readonly lastUsedMs: number | null;
  /** The error to send at once, before the server checks path, agent and body; `null` for none. */
  readonly error: ApiError | null;
  /** The error that the server sends if it finds none in agent and body; `null` for none. */
  readonly deferredError: ApiError | null;
  rateHeaders(head: ResponseHead): readonly Header[];
  onResponseEvent(event: ResponseEvent, head: ResponseHead): void;
}

export function admitRequest(state: ServerState, request: IncomingRequest): RequestContext {
  const { behaviour, clock, ring } = state;
  const credentials = behaviour.credentials(request.authorization);
  const identity = behaviour.identify(credentials, ring, clock.now(), request.endpoint, request.isSigned);
  return identity.kind === "known"
    ? admitKey(state, request, identity.key, behaviour.accountOf(identity.key, credentials))
    : admitAddress(state, request, credentials, identity.cause);
}

function admitAddress(
  state: ServerState,
  { endpoint, address, agentId }: IncomingRequest,
  credentials: Credentials,
  cause: ErrorCause,
): RequestContext {
  const { behaviour, clock, ring, agents } = state;
  const nowMs = clock.now();
  const account = state.addressAccount(address);
  const charged = behaviour.accountChargedForInvalidKey(credentials, ring);
  if (charged !== null) state.accountOf(charged.key, charged).count(nowMs);
  const base = { endpoint, arrivedMs: nowMs, key: null, account, accountName: address, lastUsedMs: null };
  if (!behaviour.requiresKey(endpoint, credentials))
    return createContext(state, { ...base, error: null, deferredError: null });
  const exhausted = account.exhaustedLimiter(nowMs);
  if (exhausted !== undefined) {
    const window = exhausted.status(nowMs);
    const refusal: Refusal = { kind: "address-limit", window, roomAtMs: exhausted.roomAtMs(nowMs) };
    return createContext(state, { ...base, error: refusalError(state, refusal, nowMs), deferredError: null });
  }
  account.count(nowMs);
  const error = apiError(cause, unauthenticatedMessages[cause] ?? "The API key is not valid.");
  const isFirst = behaviour.authenticatesFirst(agentId !== null && !agents.has(agentId));
  return createContext(state, {
    ...base,
    error: isFirst ? error : null,
    deferredError: isFirst ? null : error,
  });
}

const unauthenticatedMessages: Readonly<Record<string, string>> = {
  "missing-key": "An API key is required: Authorization: Bearer <API_KEY>.",
  "malformed-key": "The Authorization header is not of the form Bearer <API_KEY>.",
  "wrong-key": "The API key is not valid.",
  "expired-key": "The API key has expired.",
};

function admitKey(
  state: ServerState,
  request: IncomingRequest,
  key: ReferenceKey,
  accountName: string,
): RequestContext {
  const { behaviour, clock } = state;
  const { endpoint } = request;
  const account = state.accountOf(accountName, key);
  const nowMs = clock.now();
  const lastUsedMs = state.lastUsedMs.get(accountName) ?? null;
  state.lastUsedMs.set(accountName, nowMs);
  const base = { endpoint, arrivedMs: nowMs, key, account, accountName, lastUsedMs, deferredError: null };
  if (!behaviour.permits(key, request)) {
    return createContext(state, { ...base, error: apiError("forbidden", "This key may not do that.") });
  }
  const refusal = behaviour.isLimited(endpoint) ? refusalOf(state, endpoint, account, nowMs) : null;
  if (refusal !== null) {
    const counted = behaviour.countsRefused(refusal.kind) ? countRefused(state, refusal, endpoint, account) : refusal;
    const advertised = advertisedWindow(state, counted, account, nowMs);
    const error = refusalError(state, { ...counted, window: advertised }, nowMs);
    const isDeferred = behaviour.reportsLimitErrorsLast() && (endpoint === "invoke" || endpoint === "stream");
    const errors = isDeferred ? { error: null, deferredError: error } : { error };
    return createContext(state, { ...base, ...errors }, { advertised });
  }
  const { agentId } = request;
  const agent = agentId === null ? "none" : state.agents.has(agentId) ? "known" : "unknown";
  const cost = behaviour.requestCost(endpoint, agent);
  const slot = behaviour.takesSlot(endpoint);
  for (let more = cost; more > 0; more -= 1) state.alerts.countAndAlert(key.name, account, nowMs);
  if (slot) account.takeSlot();
  return createContext(state, { ...base, error: null }, { counted: cost > 0, slot });
}

/** Counts a refused request, and then computes the refusal again. The new refusal can announce a longer wait. */
function countRefused(state: ServerState, refusal: Refusal, endpoint: Endpoint, account: Account): Refusal {
  const nowMs = state.clock.now();
  account.count(nowMs);
  const after = refusalOf(state, endpoint, account, nowMs);
  return after?.kind === refusal.kind ? after : refusal;
}

function advertisedWindow({ behaviour }: ServerState, refusal: Refusal, account: Account, nowMs: number): WindowStatus {
  if (refusal.kind === "request-limit") return refusal.window;
  const advertised = behaviour.advertisedWindow(account.windows(nowMs));
  if (refusal.kind !== "token-quota") return advertised;
  return behaviour.tokenQuotaWindow(advertised, behaviour.tokenCount(account, nowMs), refusal.roomAtMs);
}

function refusalOf(state: ServerState, endpoint: Endpoint, account: Account, nowMs: number): Refusal | null {
  const { behaviour } = state;
  const exhausted = account.exhaustedLimiter(nowMs);
  const advertised = () => behaviour.advertisedWindow(account.windows(nowMs));
  if (exhausted !== undefined) {
    const window = behaviour.refusalWindow(exhausted.status(nowMs), advertised());
    return { kind: "request-limit", window, roomAtMs: exhausted.roomAtMs(nowMs) };
  }
  const tokens = behaviour.tokenCount(account, nowMs);
  if (behaviour.needsTokens(endpoint) && tokens.used >= tokens.limit) {
    return { kind: "token-quota", window: advertised(), roomAtMs: behaviour.tokensBackAtMs(nowMs) };
  }
  if (behaviour.takesSlot(endpoint) && !account.hasSlot()) {
    return { kind: "concurrency-limit", window: advertised(), roomAtMs: nowMs };
  }
  return null;
}

const refusalMessages: Readonly<Record<Refusal["kind"], string>> = {
  "request-limit": "The rate limit of this key is used up.",
  "concurrency-limit": "This key has reached its limit of concurrent requests.",
  "token-quota": "The tokens of this month are used up.",
  "address-limit": "Too many requests without a valid key.",
};

function refusalError({ behaviour }: ServerState, refusal: Refusal, nowMs: number): ApiError {
  const { limit, remaining, resetAtMs } = refusal.window;
  const retryAfterSeconds = behaviour.retryAfterSeconds(refusal, nowMs);
  const message = `${refusalMessages[refusal.kind]} Retry after ${retryAfterSeconds} s.`;
  return apiError(refusal.kind, message, { kind: "limit", limit, remaining, resetAtMs, retryAfterSeconds });
}

interface Admission {
  readonly counted?: boolean;
  readonly slot?: boolean;
  readonly advertised?: WindowStatus;
}

type ContextInput = Omit<RequestContext, "state" | "client" | "rateHeaders" | "onResponseEvent">;

function createContext(state: ServerState, input: ContextInput, admission: Admission = {}): RequestContext {
  const { behaviour, clock } = state;
  const { account, arrivedMs } = input;
  let holdsSlot = admission.slot ?? false;
  let isCounted = admission.counted ?? false;
  let window = admission.advertised ?? behaviour.advertisedWindow(account.windows(arrivedMs));
  return {
    ...input,
    state,
    client: disconnectSignal(),
    rateHeaders: (head) => {
      const nowMs = clock.now();
      const isUndone = isCounted && !behaviour.remainsCounted(head);
      for (let more = isUndone ? behaviour.refundedRequests() : 0; more > 0; more -= 1)
        account.uncount(arrivedMs, nowMs);
      isCounted = isCounted && !isUndone;
      if (isCounted && !behaviour.isInUsage(head)) state.leftOut.add(account, nowMs);
      // If `window` has ended since the request arrived, the headers show the current window. Only the 429 of a key
      // keeps the window of the refusal.
      const isOver = nowMs >= window.resetAtMs && admission.advertised === undefined;
      if (isUndone || isOver || behaviour.refreshesBeforeSending())
        window = behaviour.advertisedWindow(account.windows(nowMs));
      return behaviour.rateHeaders(window, nowMs, head);
    },
    onResponseEvent: (event, head) => {
      if (!holdsSlot || !behaviour.releasesSlot(event, head)) return;
      holdsSlot = false;
      const delayMs = behaviour.releaseDelayMs(event, head);
      if (delayMs > 0) clock.setTimeout(() => account.giveSlotBack(), delayMs);
      else account.giveSlotBack();
    },
  };
}
