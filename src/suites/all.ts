import type { Party } from "../spec/clause.ts";
import { type Suite, withWidened } from "../run/judge/check.ts";
import { alerts } from "./alerts/checks.ts";
import { authentication } from "./authentication/checks.ts";
import { addCompanionProbes } from "./companions.ts";
import { clientCalls } from "./client/checks.ts";
import { deliveries } from "./deliveries/checks.ts";
import { errors } from "./errors/checks.ts";
import { headers } from "./headers/checks.ts";
import { health } from "./health/checks.ts";
import { invoke } from "./invoke/checks.ts";
import { keys } from "./keys/checks.ts";
import { limits } from "./limits/checks.ts";
import { listing } from "./listing/checks.ts";
import { operations } from "./operations/checks.ts";
import { otherEndpoints } from "./other-endpoints/checks.ts";
import { addRelations } from "./relations/table.ts";
import { receiverSuite } from "./receiver/checks.ts";
import { requests } from "./requests/checks.ts";
import { service } from "./service/checks.ts";
import { stream } from "./stream/checks.ts";
import { usage } from "./usage/checks.ts";
import { versioning } from "./versioning/checks.ts";
import { webhooks } from "./webhooks/checks.ts";

/** Every suite of a server, in the order in which a report shows them. */
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
  otherEndpoints,
  headers,
  limits,
].map((suite) => withWidened(addCompanionProbes(addRelations(suite))));

/** The suites of each party. */
const suitesByParty: Readonly<Record<Party, readonly Suite[]>> = {
  server: suites,
  client: [clientCalls],
  receiver: [receiverSuite],
  file: [],
  people: [],
};

/** Returns the suites that judge a party. */
export const suitesOfParty = (party: Party): readonly Suite[] => suitesByParty[party];

/** The suites of all parties. */
export const allSuites: readonly Suite[] = Object.values(suitesByParty).flat();
