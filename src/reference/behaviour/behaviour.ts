import { standardAuthentication, type Authentication } from "./authentication.ts";
import { standardErrors, type Errors } from "./errors.ts";
import { standardInvoking, type Invoking } from "./invoking.ts";
import { standardLimiting, type Limiting } from "./limiting.ts";
import { standardReading, type Reading } from "./reading.ts";
import { standardStreaming, type Streaming } from "./streaming.ts";
import { standardTransport, type Transport } from "./transport.ts";

/**
 * Every decision of the server, each a small function. The server calls them and decides nothing itself;
 * none of them calls another through this table, so one can be replaced without moving the rest.
 */
export type Behaviour = Transport & Authentication & Errors & Limiting & Invoking & Streaming & Reading;

/** The behaviour of the document, with this server's choices where the document is silent (`docs/gaps.md`). */
export const standard: Behaviour = {
  ...standardTransport,
  ...standardAuthentication,
  ...standardErrors,
  ...standardLimiting,
  ...standardInvoking,
  ...standardStreaming,
  ...standardReading,
};
