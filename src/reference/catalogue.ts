import { alertFaults, deliveryListFaults, metricsFaults, webhookFaults } from "./faults/webhooks.ts";
import { authenticationFaults } from "./faults/authentication.ts";
import { deliveredEventFaults, deliveryEventFaults } from "./faults/deliveries.ts";
import { combinationFaults } from "./faults/combinations.ts";
import { edgeCaseFaults } from "./faults/edge-cases.ts";
import { attemptFaults, scheduleFaults, signatureFaults, sourceFaults } from "./faults/delivery-policy.ts";
import { errorFaults } from "./faults/errors.ts";
import { headerFaults } from "./faults/headers.ts";
import { invokeFaults } from "./faults/invoke.ts";
import { keyFaults } from "./faults/keys.ts";
import { rateFaults, scopeFaults } from "./faults/limits.ts";
import { batchFaults, operationFaults } from "./faults/operations.ts";
import { healthFaults, healthStateFaults } from "./faults/health.ts";
import { listFaults, usageFaults } from "./faults/list-and-usage.ts";
import { loadFaults, concurrencyFaults } from "./faults/concurrency.ts";
import {
  callFaults,
  executionFaults,
  listingFaults,
  receiverFaults,
  responseFaults,
  severalFaults,
} from "./faults/relations.ts";
import { rareRequestFaults } from "./faults/rare-requests.ts";
import { requestFaults, serviceFaults } from "./faults/requests.ts";
import { eventFaults, sequenceFaults, streamFaults } from "./faults/stream.ts";
import type { Patch } from "./patch.ts";
import { healthVariants, invokeVariants, listVariants, usageVariants } from "./variants/bodies.ts";
import {
  deliveredEventVariants,
  deliveryWireVariants,
  scheduleVariants,
  sourceVariants,
} from "./variants/deliveries.ts";
import { authenticationVariants, errorVariants } from "./variants/errors.ts";
import { keyVariants, detailsVariants, operationVariants } from "./variants/operations.ts";
import { limitVariants } from "./variants/limits.ts";
import { streamVariants } from "./variants/stream.ts";
import { alertVariants, deliveryListVariants, webhookMetricsVariants, webhookVariants } from "./variants/webhooks.ts";
import { wireVariants } from "./variants/wire.ts";

/** All faults. A fault breaks the clauses that are listed with it. */
export const allFaults: readonly Patch[] = [
  ...serviceFaults,
  ...requestFaults,
  ...rareRequestFaults,
  ...invokeFaults,
  ...streamFaults,
  ...sequenceFaults,
  ...eventFaults,
  ...healthFaults,
  ...healthStateFaults,
  ...listFaults,
  ...usageFaults,
  ...authenticationFaults,
  ...keyFaults,
  ...operationFaults,
  ...batchFaults,
  ...webhookFaults,
  ...deliveryListFaults,
  ...metricsFaults,
  ...deliveryEventFaults,
  ...deliveredEventFaults,
  ...signatureFaults,
  ...attemptFaults,
  ...sourceFaults,
  ...scheduleFaults,
  ...alertFaults,
  ...errorFaults,
  ...headerFaults,
  ...edgeCaseFaults,
  ...combinationFaults,
  ...rateFaults,
  ...scopeFaults,
  ...callFaults,
  ...listingFaults,
  ...responseFaults,
  ...executionFaults,
  ...receiverFaults,
  ...severalFaults,
  ...concurrencyFaults,
  ...loadFaults,
];

/** The faults that a run must detect. Only a load run detects the others. */
export const suiteFaults: readonly Patch[] = allFaults.filter(({ detectedBy }) => detectedBy === "suites");

/** All variants. Each variant is another behaviour that the document allows. */
export const allVariants: readonly Patch[] = [
  ...wireVariants,
  ...invokeVariants,
  ...streamVariants,
  ...healthVariants,
  ...listVariants,
  ...usageVariants,
  ...authenticationVariants,
  ...keyVariants,
  ...operationVariants,
  ...detailsVariants,
  ...webhookVariants,
  ...deliveryListVariants,
  ...webhookMetricsVariants,
  ...deliveredEventVariants,
  ...deliveryWireVariants,
  ...sourceVariants,
  ...scheduleVariants,
  ...alertVariants,
  ...errorVariants,
  ...limitVariants,
];

const byName: ReadonlyMap<string, Patch> = new Map(
  [...allFaults, ...allVariants].map((patch) => [`${patch.kind} ${patch.name}`, patch]),
);

/** Finds the fault or variant with this name. */
export function findPatch(kind: Patch["kind"], name: string): Patch | undefined {
  return byName.get(`${kind} ${name}`);
}
