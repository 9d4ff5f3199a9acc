import { memoizeByObject } from "../../base/memoize.ts";
import { addressSet, type AddressSet } from "../addresses.ts";
import { referenceAgents, type Agent, type Conversation } from "../agents.ts";
import type { Alert } from "../behaviour/alerts.ts";
import type { AsyncOperation } from "../behaviour/batches.ts";
import type { Behaviour } from "../behaviour/behaviour.ts";
import type { Clock } from "../clock.ts";
import type { KeyRing, ReferenceKey, TierTable } from "../keys.ts";
import { account, type Account, type AccountTerms } from "../limits/account.ts";
import type { WindowStatus } from "../limits/windows.ts";
import type { Outbox } from "../webhooks/outbox.ts";
import type { RecordStore } from "../webhooks/store.ts";
import type { TierLimits } from "../../spec/tiers.ts";

/** Everything one running server knows. */
export interface ServerState {
  readonly clock: Clock;
  readonly behaviour: Behaviour;
  readonly ring: KeyRing;
  readonly startedMs: number;
  /** By id; deployments change it. */
  readonly agents: Map<string, Agent>;
  readonly operations: OperationRegistry;
  /** What moves the clock and deployments; `null` where everybody may. */
  readonly controlToken: string | null;
  readonly trustedProxies: AddressSet;
  /** Webhooks, and what is delivered to them. */
  readonly outbox: Outbox;
  readonly alerts: AlertRegistry;
  readonly conversations: Conversations;
  /** When each agent was last called, by its id. */
  readonly lastRequestMs: Map<string, number>;
  /** When each account was last used, by its name. */
  readonly lastUsedMs: Map<string, number>;
  accountOf(name: string, key: ReferenceKey): Account;
  addressAccount(address: string): Account;
  nextRequestNumber(): number;
}

/** What a server's state is made of. */
export interface ServerSetup extends Pick<ServerState, "clock" | "behaviour" | "ring" | "outbox" | "controlToken"> {
  readonly tiers: TierTable;
  /** Where alerts outlive the server, where it was given a folder. */
  readonly records: RecordStore;
  /** Addresses and CIDRs. */
  readonly trustedProxies: readonly string[];
}

/** How many addresses are remembered; beyond that the one that came first is forgotten. */
const maxAddresses = 10_000;

export function serverState(parts: ServerSetup): ServerState {
  const { clock, behaviour, ring, tiers, records, trustedProxies, outbox, controlToken } = parts;
  const accounts = new Map<string, Account>();
  const addresses = new Map<string, Account>();
  const startedMs = clock.now();
  let requests = 0;
  const termsOf = memoizeByObject((limits: TierLimits): AccountTerms => ({
    slots: behaviour.slots(limits),
    tokensPerMonth: behaviour.tokensPerMonth(limits),
  }));
  const openAccount = ({ tier, tokensUsedBefore }: ReferenceKey): Account => {
    const limits = tiers[tier];
    // Opened with the first request, but what was used before belongs to the month the server started in.
    return account(behaviour.limiters(limits), termsOf(limits), tokensUsedBefore, startedMs);
  };
  const unauthenticated: AccountTerms = { slots: Number.POSITIVE_INFINITY, tokensPerMonth: 0 };
  const openAddress = (): Account => account([behaviour.addressLimiter()], unauthenticated, 0, startedMs);
  return {
    clock,
    behaviour,
    ring,
    startedMs,
    agents: new Map(referenceAgents.map((agent) => [agent.id, agent])),
    operations: operationRegistry(),
    controlToken,
    trustedProxies: addressSet(trustedProxies),
    outbox,
    alerts: alertRegistry(records, behaviour, outbox),
    conversations: conversations(),
    lastRequestMs: new Map(),
    lastUsedMs: new Map(),
    accountOf: (name, key) => found(accounts, name, () => openAccount(key)),
    addressAccount: (address) => {
      const [oldest] = addresses.keys();
      if (addresses.size >= maxAddresses && oldest !== undefined) addresses.delete(oldest);
      return found(addresses, address, openAddress);
    },
    nextRequestNumber: () => {
      requests += 1;
      return requests;
    },
  };
}

function found<V>(map: Map<string, V>, name: string, make: () => V): V {
  const known = map.get(name);
  if (known !== undefined) return known;
  const made = make();
  map.set(name, made);
  return made;
}

/** What agents remember of sessions, by the name of the conversation. */
export interface Conversations {
  /** Adds a turn and says what was known before it. */
  addTurn(name: string, query: string): Conversation;
}

/** Conversations that are kept; beyond that the one that was quiet for longest is forgotten. */
const maxConversations = 10_000;

interface Memory {
  readonly turns: number;
  readonly lastQuery: string;
}

export function conversations(): Conversations {
  const memories = new Map<string, Memory>();
  return {
    addTurn: (name, query) => {
      const before = memories.get(name);
      const turn = (before?.turns ?? 0) + 1;
      memories.delete(name);
      memories.set(name, { turns: turn, lastQuery: query });
      const [quietest] = memories.keys();
      if (memories.size > maxConversations && quietest !== undefined) memories.delete(quietest);
      return { turn, previousQuery: before?.lastQuery ?? null };
    },
  };
}

/** The operations of a server. */
export interface OperationRegistry {
  put(operation: AsyncOperation): void;
  find(id: string): AsyncOperation | undefined;
}

/** Operations that are remembered; beyond that the oldest is forgotten. */
const mostOperations = 10_000;

export function operationRegistry(): OperationRegistry {
  const byId = new Map<string, AsyncOperation>();
  return {
    put: (operation) => {
      byId.set(operation.id, operation);
      const [oldest] = byId.keys();
      if (byId.size > mostOperations && oldest !== undefined) byId.delete(oldest);
    },
    find: (id) => byId.get(id),
  };
}

/** The usage alerts of a server, those of its earlier lives included. */
export interface AlertRegistry {
  /** How many there are. */
  readonly count: number;
  add(alert: Alert): void;
  /** Counts a request of a key, by its name, and sends the alerts whose threshold that crosses. */
  countAndAlert(owner: string, account: Account, nowMs: number): void;
}

const recordKind = "alert";

export function alertRegistry(records: RecordStore, behaviour: Behaviour, outbox: Outbox): AlertRegistry {
  const byOwner = new Map<string, Alert[]>();
  let count = 0;
  const enter = (alert: Alert) => {
    byOwner.set(alert.owner, [...(byOwner.get(alert.owner) ?? []), alert]);
    count += 1;
  };
  // What is kept was written by `add`.
  for (const { value } of records.list(recordKind)) enter(value as Alert);
  return {
    get count() {
      return count;
    },
    add: (alert) => {
      records.put(recordKind, alert.id, alert);
      enter(alert);
    },
    countAndAlert: (owner, account, nowMs) => {
      const alerts = byOwner.get(owner) ?? [];
      const before = alerts.length === 0 ? undefined : watched(behaviour, account, nowMs);
      account.count(nowMs);
      const after = before === undefined ? undefined : watched(behaviour, account, nowMs);
      if (before === undefined || after === undefined) return;
      for (const alert of alerts) {
        if (!behaviour.firesAlert(alert.threshold, { before, after })) continue;
        outbox.notify({ url: alert.webhookUrl, secret: null }, behaviour.alertMessage(alert, after, nowMs));
      }
    },
  };
}

function watched(behaviour: Behaviour, account: Account, nowMs: number): WindowStatus | undefined {
  const wanted = behaviour.watchedWindow();
  const readings = account.windows(nowMs);
  return readings.find(({ window }) => window === wanted) ?? readings[0];
}
