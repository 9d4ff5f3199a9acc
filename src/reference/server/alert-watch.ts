import type { Account } from "../limits/account.ts";
import type { WindowReading } from "../limits/windows.ts";
import type { ServerState } from "./state.ts";

/** Counts a request of a key, and sends the alerts whose threshold that crosses. */
export function countWatched(state: ServerState, owner: string, account: Account, nowMs: number): void {
  const alerts = state.alerts.of(owner);
  const before = alerts.length === 0 ? undefined : watched(state, account, nowMs);
  account.count(nowMs);
  const after = before === undefined ? undefined : watched(state, account, nowMs);
  if (before === undefined || after === undefined) return;
  for (const alert of alerts) {
    if (!state.behaviour.firesAlert(alert.threshold, { before, after })) continue;
    const to = { url: alert.webhookUrl, secret: null, owner };
    state.outbox.notify(to, state.behaviour.alertMessage(alert, after, nowMs));
  }
}

function watched({ behaviour }: ServerState, account: Account, nowMs: number): WindowReading | undefined {
  const wanted = behaviour.watchedWindow();
  const readings = account.readings(nowMs);
  return readings.find(({ window }) => window === wanted) ?? readings[0];
}
