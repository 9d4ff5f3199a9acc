import { standardAlerts, type AlertBehaviour } from "./alerts.ts";
import { standardAuthentication, type AuthenticationBehaviour } from "./authentication.ts";
import { standardDeliveries, type DeliveryBehaviour } from "./deliveries.ts";
import {
  standardDetails,
  type DetailsBehaviour,
  standardHealthListUsage,
  type HealthListUsageBehaviour,
} from "./health-list-usage.ts";
import { standardErrors, type ErrorBehaviour } from "./errors.ts";
import { standardInvoke, type InvokeBehaviour } from "./invoke.ts";
import { standardLimits, type LimitBehaviour } from "./limits.ts";
import { standardStream, type StreamBehaviour } from "./stream.ts";
import { standardBatches, type BatchBehaviour } from "./batches.ts";
import { standardTransport, type TransportBehaviour } from "./transport.ts";
import { standardWebhooks, type WebhookBehaviour } from "./webhooks.ts";

/**
 * All decisions of the server, each a small function. The server calls them and decides nothing itself. No decision
 * calls another one through this table, so each can be replaced alone.
 */
export type Behaviour = DeliveryBehaviour &
  WebhookBehaviour &
  AlertBehaviour &
  TransportBehaviour &
  AuthenticationBehaviour &
  ErrorBehaviour &
  LimitBehaviour &
  InvokeBehaviour &
  StreamBehaviour &
  HealthListUsageBehaviour &
  BatchBehaviour &
  DetailsBehaviour;

/** The behaviour that the document demands. `docs/gaps.md` lists the choices where the document is silent. */
export const standard: Behaviour = {
  ...standardDeliveries,
  ...standardWebhooks,
  ...standardAlerts,
  ...standardTransport,
  ...standardAuthentication,
  ...standardErrors,
  ...standardLimits,
  ...standardInvoke,
  ...standardStream,
  ...standardHealthListUsage,
  ...standardBatches,
  ...standardDetails,
};
