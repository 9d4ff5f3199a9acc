import { standardAlerting, type Alerting } from "./alerting.ts";
import { standardAuthentication, type Authentication } from "./authentication.ts";
import { standardDelivering, type Delivering } from "./delivering.ts";
import { standardDescribing, type Describing } from "./describing.ts";
import { standardErrors, type Errors } from "./errors.ts";
import { standardInvoking, type Invoking } from "./invoking.ts";
import { standardLimiting, type Limiting } from "./limiting.ts";
import { standardReading, type Reading } from "./reading.ts";
import { standardStreaming, type Streaming } from "./streaming.ts";
import { standardSubmitting, type Submitting } from "./submitting.ts";
import { standardTransport, type Transport } from "./transport.ts";
import { standardWebhooking, type Webhooking } from "./webhooking.ts";

/**
 * Every decision of the server, each a small function. The server calls them and decides nothing itself;
 * none of them calls another through this table, so one can be replaced without moving the rest.
 */
export type Behaviour = Delivering &
  Webhooking &
  Alerting &
  Transport &
  Authentication &
  Errors &
  Limiting &
  Invoking &
  Streaming &
  Reading &
  Submitting &
  Describing;

/** The behaviour of the document, with this server's choices where the document is silent (`docs/gaps.md`). */
export const standard: Behaviour = {
  ...standardDelivering,
  ...standardWebhooking,
  ...standardAlerting,
  ...standardTransport,
  ...standardAuthentication,
  ...standardErrors,
  ...standardLimiting,
  ...standardInvoking,
  ...standardStreaming,
  ...standardReading,
  ...standardSubmitting,
  ...standardDescribing,
};
