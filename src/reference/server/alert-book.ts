import type { Alert } from "../behaviour/alerting.ts";
import type { Records } from "../webhooks/store.ts";

/** The usage alerts of a server, those of its earlier lives included. */
export interface AlertBook {
  /** How many there are. */
  readonly count: number;
  add(alert: Alert): void;
  /** By the name of the key they watch. */
  of(owner: string): readonly Alert[];
}

const recordKind = "alert";

export function alertBook(records: Records): AlertBook {
  const byOwner = new Map<string, Alert[]>();
  let count = 0;
  const enter = (alert: Alert) => {
    byOwner.set(alert.owner, [...(byOwner.get(alert.owner) ?? []), alert]);
    count += 1;
  };
  // What is kept was written by `add`.
  for (const { value } of records.kept(recordKind)) enter(value as Alert);
  return {
    get count() {
      return count;
    },
    add: (alert) => {
      records.keep(recordKind, alert.id, alert);
      enter(alert);
    },
    of: (owner) => byOwner.get(owner) ?? [],
  };
}
