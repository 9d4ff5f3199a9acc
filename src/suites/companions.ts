import type { Probe } from "../run/probe.ts";
import type { Suite } from "../run/judge/check.ts";
import type { ClauseId } from "../spec/clauses.ts";
import { oddAlertsCreated } from "./alerts/probes.ts";
import { everyKeyUsed, unauthenticatedSent } from "./authentication/probes.ts";
import { deploymentTriggers } from "./deliveries/deployment-events.ts";
import { failingWithWebhooks } from "./deliveries/probes.ts";
import { failingInvoked, unknownPathRequested } from "./errors/probes.ts";
import { degradedChecked, healthChecked, laterChecked, unknownChecked } from "./health/probes.ts";
import {
  invoked,
  invokedAtMin,
  invokedUnknownAgent,
  invokedWithNumber,
  invokedWithoutQuery,
  slowAgentInvoked,
} from "./invoke/probes.ts";
import { keyUsageRead, oneAgentKeyTried, webhookCreated } from "./keys/probes.ts";
import { allowanceWatched, twoKeys } from "./limits/counting.ts";
import { minuteExhausted } from "./limits/minute-probe.ts";
import { slotsHeld } from "./limits/slot-probes.ts";
import { firstPageListed, listedByDefault, listedOutOfRange, secondPageListed } from "./listing/probes.ts";
import {
  failedInStream,
  streamed,
  streamedSlowly,
  streamedUnknownAgent,
  streamedWithAllFeatures,
  streamedWithoutQuery,
} from "./stream/probes.ts";
import { resumedLate } from "./stream/late-parameters.ts";
import { streamAccounted, usageGrown } from "./usage/probes.ts";

const mistakes = [
  invokedWithoutQuery,
  invokedUnknownAgent,
  invokedWithNumber,
  streamedWithoutQuery,
  streamedUnknownAgent,
];
const errors = [...mistakes, failingInvoked];
const streams = [streamedWithAllFeatures, streamedSlowly, failedInStream];
/** Probes that take some seconds. They run between two health requests, and the second must report a longer uptime. */
const slowProbes = [allowanceWatched, streamAccounted];
const healthProbes = [healthChecked, degradedChecked, laterChecked, unknownChecked];

/**
 * Extra probes for clauses about every response, stream or delivery. If a user selects only one of these clauses, its
 * own probes produce little evidence. The extra probes create nothing on the target unless the clause is about
 * creating.
 */
const companions: Readonly<Partial<Record<ClauseId, readonly Probe[]>>> = {
  "KEY-4": [everyKeyUsed],
  "SVC-1": [...mistakes, keyUsageRead],
  "REQ-3": [invoked, webhookCreated, oddAlertsCreated],
  "REQ-7": [firstPageListed, secondPageListed, listedByDefault],
  "VER-1": [invoked, ...healthProbes],
  "VER-4": [...healthProbes],
  "ERR-1": errors,
  "ERR-2": errors,
  "ERR-3": errors,
  "ERR-4": errors,
  "ERR-7": mistakes,
  "ERR-8": [minuteExhausted],
  "ERR-9": [minuteExhausted],
  "ERR-10": errors,
  "ERR-16": [minuteExhausted],
  "INV-2": [failingInvoked],
  "INV-4": [slowAgentInvoked, invokedAtMin],
  "SSE-3": streams,
  "SSE-5": streams,
  "SSE-13": [resumedLate],
  "SSE-14": streams,
  "HLT-8": [...healthProbes, ...slowProbes],
  "HLT-10": healthProbes,
  "HLT-17": healthProbes,
  "HLT-22": [invoked],
  "LST-3": [listedOutOfRange],
  "USE-4": [usageGrown],
  "WHK-3": [failingWithWebhooks, ...deploymentTriggers],
  "HOOK-5": [failingWithWebhooks],
  "HOOK-16": deploymentTriggers,
  "HDR-2": [...mistakes, oneAgentKeyTried],
  "HDR-3": [unauthenticatedSent],
  "HDR-4": [minuteExhausted],
  "HDR-6": [invoked, streamedWithAllFeatures],
  "HDR-7": healthProbes,
  "HDR-9": [minuteExhausted, slotsHeld],
  "HDR-11": [unknownPathRequested],
  "HDR-12": [allowanceWatched, usageGrown, twoKeys, minuteExhausted, resumedLate],
  "HDR-15": [...slowProbes, minuteExhausted],
  "HDR-18": [minuteExhausted],
  "LIM-6": [streamed],
  "LIM-11": [resumedLate],
};

/** Adds to each check the companion probes of its clause. */
export const addCompanionProbes = ({ title, checks }: Suite): Suite => ({
  title,
  checks: checks.map((check) => ({ ...check, companions: companions[check.clause] ?? [] })),
});
