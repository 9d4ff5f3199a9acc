import { randomUUID } from "node:crypto";
import { hourMs } from "../../base/duration.ts";
import { getOrAdd, memoizeByObject } from "../../base/memoize.ts";
import { addressSet, type AddressSet } from "../addresses.ts";
import { type Agent, type Conversation, referenceAgents } from "../agents.ts";
import type { Alert } from "../behaviour/alerts.ts";
import type { AsyncOperation } from "../behaviour/batches.ts";
import type { Behaviour } from "../patch.ts";
import type { Clock } from "../clock.ts";
import type { KeyRing, ReferenceKey, TierTable } from "../keys.ts";
import { type Account, type AccountLimits, createAccount } from "../limits/account.ts";
import type { WindowStatus } from "../limits/windows.ts";
import type { Outbox } from "../webhooks/outbox.ts";
import type { RecordStore } from "../webhooks/store.ts";
import type { TierLimits } from "../../spec/tiers.ts";
import { apiError, type ApiError, fieldError } from "../behaviour/errors.ts";
import { type Endpoint, runsAgent } from "../endpoint.ts";
import { fieldsOf } from "../json-edit.ts";

const troubleKinds = ["error", "drop", "limit", "delay"] as const;

/** A failure or delay that a test plans for the next requests that run an agent. */
interface PlannedTrouble {
  readonly kind: (typeof troubleKinds)[number];
  /** `limit`: the `retry_after` of the response. `delay`: the wait in real time. Other kinds ignore it. */
  readonly seconds: number;
  readonly requests: number;
  readonly agentId: string | null;
}

function createTrouble() {
  let planned: PlannedTrouble = { kind: "error", seconds: 1, requests: 0, agentId: null };
  return {
    plan: (next: PlannedTrouble) => {
      planned = next;
    },
    take: (endpoint: Endpoint, agentId: string | null): PlannedTrouble | null => {
      const isMeant = planned.agentId === null || planned.agentId === agentId;
      if (planned.requests === 0 || !isMeant || !runsAgent(endpoint)) return null;
      planned = { ...planned, requests: planned.requests - 1 };
      return planned;
    },
  };
}

const maxTroubledRequests = 1000;
const maxSeconds = 300;

export function readTrouble(body: unknown): PlannedTrouble | ApiError {
  const { requests, kind = "error", seconds = 1, agent_id: agentId = null } = fieldsOf(body);
  const known = troubleKinds.find((each) => each === kind);
  if (known === undefined) return fieldError("invalid-input", "kind", `must be ${troubleKinds.join(", ")}`);
  if (typeof requests !== "number" || !Number.isInteger(requests) || requests < 0 || requests > maxTroubledRequests)
    return fieldError("invalid-input", "requests", `must be an integer from 0 to ${maxTroubledRequests}`);
  if (typeof seconds !== "number" || !(seconds >= 0 && seconds <= maxSeconds))
    return fieldError("invalid-input", "seconds", `must be a number from 0 to ${maxSeconds}`);
  if (agentId !== null && typeof agentId !== "string")
    return fieldError("invalid-input", "agent_id", "must be a string");
  return { kind: known, seconds, requests, agentId };
}

export function plannedError({ kind, seconds }: PlannedTrouble, { limit, resetAtMs }: WindowStatus): ApiError {
  const message = "This failure was asked for by a test control.";
  if (kind !== "limit") return apiError("crash", message);
  const detail = { kind: "limit", limit, remaining: 0, resetAtMs, retryAfterSeconds: seconds } as const;
  return apiError("concurrency-limit", message, detail);
}

export interface ServerState {
  readonly clock: Clock;
  readonly behaviour: Behaviour;
  readonly ring: KeyRing;
  readonly startedMs: number;
  readonly startId: string;
  readonly agents: Map<string, Agent>;
  readonly operations: Map<string, AsyncOperation>;
  readonly controlToken: string | null;
  /** Host names (lower case) by which clients may call the test control, in addition to `localhost` and loopback IPs. */
  readonly controlHosts: readonly string[];
  readonly trouble: ReturnType<typeof createTrouble>;
  readonly trustedProxies: AddressSet;
  readonly outbox: Outbox;
  readonly alerts: ReturnType<typeof alertRegistry>;
  readonly conversations: Map<string, { readonly turn: number; readonly query: string }>;
  readonly lastRequestMs: Map<string, number>;
  readonly lastUsedMs: Map<string, number>;
  readonly leftOut: ReturnType<typeof usageOmissions>;
  accountOf(name: string, key: ReferenceKey): Account;
  addressAccount(address: string): Account;
  nextRequestNumber(): number;
}

interface ServerSetup extends Pick<
  ServerState,
  "clock" | "behaviour" | "ring" | "outbox" | "controlToken" | "controlHosts"
> {
  readonly tiers: TierTable;
  readonly records: RecordStore;
  readonly trustedProxies: readonly string[];
}

/** Maximum number of entries of each map, so that memory stays bounded: client addresses, conversations, operations. */
const maxMapEntries = 10_000;

export function serverState(parts: ServerSetup): ServerState {
  const { clock, behaviour, ring, tiers, records, trustedProxies, outbox, controlToken, controlHosts } = parts;
  const accounts = new Map<string, Account>();
  const addresses = new BoundedMap<Account>();
  const startedMs = clock.now();
  let requestCount = 0;
  const termsOf = memoizeByObject((limits: TierLimits): AccountLimits => ({
    maxConcurrent: behaviour.maxConcurrentRequests(limits),
    tokensPerMonth: behaviour.tokensPerMonth(limits),
  }));
  const openAccount = ({ tier, tokensUsedBefore }: ReferenceKey): Account => {
    const limits = tiers[tier];
    return createAccount(behaviour.limiters(limits), termsOf(limits), tokensUsedBefore, startedMs);
  };
  const unauthenticated: AccountLimits = { maxConcurrent: Number.POSITIVE_INFINITY, tokensPerMonth: 0 };
  const openAddress = (): Account => createAccount([behaviour.addressLimiter()], unauthenticated, 0, startedMs);
  return {
    clock,
    behaviour,
    ring,
    startedMs,
    startId: randomUUID(),
    agents: new Map(referenceAgents.map((agent) => [agent.id, agent])),
    operations: new BoundedMap(),
    controlToken,
    controlHosts,
    trouble: createTrouble(),
    trustedProxies: addressSet(trustedProxies),
    outbox,
    alerts: alertRegistry(records, behaviour, outbox),
    conversations: new BoundedMap(),
    lastRequestMs: new Map(),
    lastUsedMs: new Map(),
    leftOut: usageOmissions(),
    accountOf: (name, key) => getOrAdd(accounts, name, () => openAccount(key)),
    addressAccount: (address) => getOrAdd(addresses, address, openAddress),
    nextRequestNumber: () => (requestCount += 1),
  };
}

class BoundedMap<V> extends Map<string, V> {
  override set(name: string, value: V): this {
    super.set(name, value);
    const [oldest] = this.keys();
    if (this.size > maxMapEntries && oldest !== undefined) this.delete(oldest);
    return this;
  }
}

/** Adds a query to a conversation. Beyond `maxMapEntries`, drops the conversation whose last query is oldest. */
export function addTurn({ conversations }: ServerState, name: string, query: string): Conversation {
  const before = conversations.get(name);
  const turn = (before?.turn ?? 0) + 1;
  conversations.delete(name);
  conversations.set(name, { turn, query });
  return { turn, previousQuery: before?.query ?? null };
}

function usageOmissions() {
  const hourOf = (nowMs: number): number => Math.floor(nowMs / hourMs);
  const counts = new WeakMap<Account, { readonly hour: number; readonly count: number }>();
  const countOf = (account: Account, nowMs: number): number => {
    const last = counts.get(account);
    return last?.hour === hourOf(nowMs) ? last.count : 0;
  };
  return {
    add: (account: Account, nowMs: number) =>
      void counts.set(account, { hour: hourOf(nowMs), count: countOf(account, nowMs) + 1 }),
    count: countOf,
  };
}

const alertRecordKind = "alert";

function alertRegistry(records: RecordStore, behaviour: Behaviour, outbox: Outbox) {
  const byOwner = new Map<string, Alert[]>();
  let count = 0;
  const remember = (alert: Alert) => {
    byOwner.set(alert.owner, [...(byOwner.get(alert.owner) ?? []), alert]);
    count += 1;
  };
  // The cast is safe, because only `add` below writes records of this kind.
  for (const { value } of records.list(alertRecordKind)) remember(value as Alert);
  return {
    get count() {
      return count;
    },
    add: (alert: Alert) => {
      records.put(alertRecordKind, alert.id, alert);
      remember(alert);
    },
    countAndAlert: (owner: string, account: Account, nowMs: number) => {
      const alerts = byOwner.get(owner) ?? [];
      const before = alerts.length === 0 ? undefined : watchedWindow(behaviour, account, nowMs);
      account.count(nowMs);
      const after = before === undefined ? undefined : watchedWindow(behaviour, account, nowMs);
      if (before === undefined || after === undefined) return;
      for (const alert of alerts) {
        if (!behaviour.firesAlert(alert.threshold, { before, after })) continue;
        outbox.notify({ url: alert.webhookUrl, secret: null }, behaviour.alertMessage(alert, after, nowMs));
      }
    },
  };
}

function watchedWindow(behaviour: Behaviour, account: Account, nowMs: number): WindowStatus | undefined {
  const wanted = behaviour.watchedWindow();
  const windows = account.windows(nowMs);
  return windows.find(({ window }) => window === wanted) ?? windows[0];
}
