import type { Delivering } from "../behaviour/delivering.ts";
import type { Clock } from "../clock.ts";
import { emptyTally, safely, type Destination, type Kept, type Store, type Tally } from "./store.ts";
import { fileOwner, type HostingEvent, type NewWebhook, type Webhook } from "./webhook.ts";

/** One webhook and what became of its deliveries. */
export interface Subscriber {
  readonly webhook: Webhook;
  isActive: boolean;
  tally: Tally;
  /** Numbers of the deliveries that are kept, in order of creation. */
  deliveries: number[];
  /** How many of them have an attempt to come. */
  waiting: number;
}

/** Every webhook. */
export interface Subscribers {
  add(webhook: NewWebhook): Webhook;
  retire(id: string): void;
  find(id: string | null): Subscriber | undefined;
  active(): readonly Subscriber[];
  /** Those that get an event. */
  of(event: HostingEvent): readonly Subscriber[];
}

export function subscribers(clock: Clock, behaviour: Delivering, store: Store, kept: Kept): Subscribers {
  const byId = new Map<string, Subscriber>();
  let count = kept.numbers.webhooks;
  const put = (number: number, subscriber: Subscriber) => {
    byId.set(subscriber.webhook.id, subscriber);
    safely(() => store.putWebhook(number, subscriber));
    return subscriber.webhook;
  };
  const active = () => [...byId.values()].filter(({ isActive }) => isActive);
  for (const { webhook, isActive, tally } of kept.webhooks) {
    // A configuration file is read anew, and brings its webhooks with it.
    const isBack = isActive && webhook.owner !== fileOwner;
    byId.set(webhook.id, { webhook, isActive: isBack, tally, deliveries: [], waiting: 0 });
  }
  return {
    add: (given) => {
      const known = given.owner === fileOwner ? [...byId.values()].find(({ webhook }) => isSame(webhook, given)) : null;
      if (known !== null && known !== undefined) {
        known.isActive = true;
        return put(numberOf(known.webhook), known);
      }
      count += 1;
      const webhook = { ...given, id: `wh_${String(count).padStart(6, "0")}`, createdMs: clock.now() };
      return put(count, { webhook, isActive: true, tally: emptyTally, deliveries: [], waiting: 0 });
    },
    retire: (id) => {
      const known = byId.get(id);
      if (known === undefined) return;
      known.isActive = false;
      put(numberOf(known.webhook), known);
    },
    find: (id) => (id === null ? undefined : byId.get(id)),
    active,
    of: ({ type, agentId }) =>
      active().filter(
        ({ webhook, waiting, tally }) =>
          behaviour.selectsType(webhook.events, type) &&
          behaviour.selectsAgent(webhook.agentId, agentId) &&
          behaviour.takesEvent({ waiting, failed: tally.failed }),
      ),
  };
}

export function destinationOf({ id, url, secret, headers }: Webhook): Destination {
  return { webhookId: id, url, secret, headers };
}

function numberOf({ id }: Webhook): number {
  return Number(id.slice(id.indexOf("_") + 1));
}

function isSame(one: NewWebhook, other: NewWebhook): boolean {
  const text = ({ url, events, agentId, secret, headers, owner }: NewWebhook) =>
    JSON.stringify([url, events, agentId, secret, headers, owner]);
  return text(one) === text(other);
}
