import { referenceAgents, type Agent } from "../agents.ts";
import type { Behaviour } from "../behaviour/behaviour.ts";
import type { Clock } from "../clock.ts";
import type { KeyRing, ReferenceKey } from "../keys.ts";
import { account, type Account } from "../limits/account.ts";
import type { TierTable } from "../tiers.ts";
import type { Outbox } from "../webhooks/outbox.ts";
import type { Records } from "../webhooks/store.ts";
import { operationBook, type OperationBook } from "../async-operations.ts";
import { addressSet, type AddressSet } from "../addresses.ts";
import { alertBook, type AlertBook } from "./alert-book.ts";
import { conversations, type Conversations } from "./conversations.ts";

/** Everything one running server knows. */
export interface ServerState {
  readonly clock: Clock;
  readonly behaviour: Behaviour;
  readonly ring: KeyRing;
  readonly tiers: TierTable;
  readonly startedMs: number;
  /** By id; deployments change it. */
  readonly agents: Map<string, Agent>;
  readonly operations: OperationBook;
  /** What moves the clock and deployments; `null` where everybody may. */
  readonly controlToken: string | null;
  readonly trustedProxies: AddressSet;
  /** Webhooks, and what is delivered to them. */
  readonly outbox: Outbox;
  /** Other things that outlive the server where it was given a folder. */
  readonly records: Records;
  readonly alerts: AlertBook;
  readonly conversations: Conversations;
  /** When each agent was last called, by its id. */
  readonly lastRequestMs: Map<string, number>;
  /** When each account was last used, by its name. */
  readonly lastUsedMs: Map<string, number>;
  accountOf(name: string, key: ReferenceKey): Account;
  addressAccount(address: string): Account;
  nextRequestNumber(): number;
}

/** What a server is told besides its clock, behaviour, keys and tiers. */
export interface ServerSettings {
  readonly outbox: Outbox;
  readonly records: Records;
  readonly controlToken: string | null;
  /** Addresses and CIDRs. */
  readonly trustedProxies: readonly string[];
}

/** How many addresses are remembered; beyond that the one that came first is forgotten. */
const maxAddresses = 10_000;

export function serverState(
  clock: Clock,
  behaviour: Behaviour,
  ring: KeyRing,
  tiers: TierTable,
  settings: ServerSettings,
): ServerState {
  const accounts = new Map<string, Account>();
  const addresses = new Map<string, Account>();
  const startedMs = clock.now();
  let requests = 0;
  const openAccount = ({ tier, tokensUsedBefore }: ReferenceKey): Account => {
    const limits = tiers[tier];
    const terms = {
      limiters: behaviour.limiters(limits),
      slots: behaviour.slots(limits),
      tokensPerMonth: behaviour.tokensPerMonth(limits),
      tokensUsedBefore,
    };
    // Opened with the first request, but what was used before belongs to the month the server started in.
    return account(terms, startedMs);
  };
  const openAddress = (): Account => {
    const boundless = Number.POSITIVE_INFINITY;
    const limiters = [behaviour.addressLimiter()];
    return account({ limiters, slots: boundless, tokensPerMonth: boundless, tokensUsedBefore: 0 }, startedMs);
  };
  return {
    clock,
    behaviour,
    ring,
    tiers,
    startedMs,
    agents: new Map(referenceAgents.map((agent) => [agent.id, agent])),
    operations: operationBook(),
    controlToken: settings.controlToken,
    trustedProxies: addressSet(settings.trustedProxies),
    outbox: settings.outbox,
    records: settings.records,
    alerts: alertBook(settings.records),
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
