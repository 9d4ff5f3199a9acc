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
 * All decisions of the server, such as which status an error gets. Each is a small function that can be replaced alone,
 * because the functions do not call each other through this table. `docs/gaps.md` lists the decisions that the document
 * leaves open.
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
