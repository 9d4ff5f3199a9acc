import type { Suite } from "../run/check.ts";
import { alerts } from "./alerts.ts";
import { authentication } from "./authentication.ts";
import { deliveries } from "./deliveries.ts";
import { errors } from "./errors.ts";
import { headers } from "./headers.ts";
import { health } from "./health.ts";
import { invoke } from "./invoke.ts";
import { keys } from "./keys.ts";
import { limits } from "./limits.ts";
import { listing } from "./listing.ts";
import { operations } from "./operations.ts";
import { others } from "./others.ts";
import { requests } from "./requests.ts";
import { service } from "./service.ts";
import { stream } from "./stream.ts";
import { usage } from "./usage.ts";
import { versioning } from "./versioning.ts";
import { webhooks } from "./webhooks.ts";

/** Every suite, in the order in which a report shows them. */
export const suites: readonly Suite[] = [
  service,
  requests,
  authentication,
  keys,
  errors,
  invoke,
  stream,
  health,
  listing,
  usage,
  versioning,
  webhooks,
  deliveries,
  alerts,
  operations,
  others,
  headers,
  limits,
];
