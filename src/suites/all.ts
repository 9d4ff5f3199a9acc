import type { Suite } from "../run/check.ts";
import { authentication } from "./authentication.ts";
import { errors } from "./errors.ts";
import { headers } from "./headers.ts";
import { health } from "./health.ts";
import { invoke } from "./invoke.ts";
import { limits } from "./limits.ts";
import { listing } from "./listing.ts";
import { requests } from "./requests.ts";
import { service } from "./service.ts";
import { stream } from "./stream.ts";
import { usage } from "./usage.ts";
import { versioning } from "./versioning.ts";

/** Every suite, in the order in which a report shows them. */
export const suites: readonly Suite[] = [
  service,
  requests,
  authentication,
  errors,
  invoke,
  stream,
  health,
  listing,
  usage,
  versioning,
  headers,
  limits,
];
