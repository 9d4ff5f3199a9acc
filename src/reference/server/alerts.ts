import type { Alert } from "../behaviour/alerting.ts";
import { trouble } from "../trouble.ts";
import { failed, ok, type Answer } from "./answer.ts";
import type { Exchange } from "./exchange.ts";
import type { ServerState } from "./state.ts";

/** Endpoint 8: creates a usage alert for the key that asks. */
export function createAlert(state: ServerState, { key, refusedLate }: Exchange, body: unknown): Answer {
  const { alerts, behaviour, clock, outbox } = state;
  const refused = behaviour.alertTrouble(body, (url) => outbox.refusedAddress(url)) ?? refusedLate;
  if (refused !== null || key === null) return failed(refused ?? trouble("missing-key", "A key is required."));
  const id = behaviour.alertId(alerts.count + 1);
  const alert: Alert = { id, owner: key.name, ...behaviour.alertWish(body), createdMs: clock.now() };
  alerts.add(alert);
  return ok(behaviour.alertBody(alert));
}
