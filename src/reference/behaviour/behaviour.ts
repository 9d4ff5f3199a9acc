import { standardAlerts, standardWebhooks } from "./webhooks.ts";
import { standardAuthentication } from "./authentication.ts";
import { standardBatches } from "./batches.ts";
import { standardDeliveries } from "./deliveries.ts";
import { standardErrors } from "./errors.ts";
import { standardDetails, standardHealthListUsage } from "./health-list-usage.ts";
import { standardInvoke } from "./invoke.ts";
import { standardLimits } from "./limits.ts";
import { standardStream } from "./stream.ts";
import { standardTransport } from "./transport.ts";

/**
 * All decisions of the server, such as which status an error gets. Each is one small function. No function calls
 * another through this table, so that each can be replaced alone. `docs/gaps.md` lists the choices where the document
 * is silent.
 */
export const standardBehaviour = {
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

export type Behaviour = typeof standardBehaviour;
