import type { Alert } from "../behaviour/alerts.ts";
import type { Behaviour } from "../behaviour/behaviour.ts";
import type { Account } from "../limits/account.ts";
import type { WindowStatus } from "../limits/windows.ts";
import type { Outbox } from "../webhooks/outbox.ts";
import type { RecordStore } from "../webhooks/store.ts";

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
