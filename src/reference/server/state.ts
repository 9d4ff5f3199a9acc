import { referenceAgents, type Agent } from "../agents.ts";
import type { Behaviour } from "../behaviour/behaviour.ts";
import type { Clock } from "../clock.ts";
import type { KeyRing, ReferenceKey } from "../keys.ts";
import { account, type Account } from "../limits/account.ts";
import type { TierTable } from "../tiers.ts";
import { conversations, type Conversations } from "./conversations.ts";

/** Everything one running server knows. */
export interface ServerState {
  readonly clock: Clock;
  readonly behaviour: Behaviour;
  readonly ring: KeyRing;
  readonly tiers: TierTable;
  readonly startedMs: number;
  readonly agents: ReadonlyMap<string, Agent>;
  readonly conversations: Conversations;
  /** When each agent was last called, by its id. */
  readonly lastRequestMs: Map<string, number>;
  accountOf(name: string, key: ReferenceKey): Account;
  addressAccount(address: string): Account;
  nextRequestNumber(): number;
}

/** How many addresses are remembered; beyond that the one that came first is forgotten. */
const maxAddresses = 10_000;

export function serverState(clock: Clock, behaviour: Behaviour, ring: KeyRing, tiers: TierTable): ServerState {
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
    conversations: conversations(),
    lastRequestMs: new Map(),
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
