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

/** All decisions of the server, such as the status of an error. Faults and variants replace single functions. */
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
