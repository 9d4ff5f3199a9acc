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
 * Every decision of the server, each a small function. The server calls them and decides nothing itself;
 * none of them calls another through this table, so one can be replaced without moving the rest.
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

/** The behaviour of the document, with this server's choices where the document is silent (`docs/gaps.md`). */
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
