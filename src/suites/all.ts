import type { Party } from "../spec/clause.ts";
import { type Suite, withWidened, type Check } from "../run/judge/check.ts";
import { alerts } from "./alerts/checks.ts";
import { authentication } from "./authentication/checks.ts";
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
import { receiverSuite } from "./receiver/checks.ts";
import { requests } from "./requests/checks.ts";
import { service } from "./service/checks.ts";
import { stream } from "./stream/checks.ts";
import { usage } from "./usage/checks.ts";
import { versioning } from "./versioning/checks.ts";
import { webhooks } from "./webhooks/checks.ts";
import type { Probe } from "../run/probe.ts";
import type { ClauseId } from "../spec/clauses.ts";
import { oddAlertsCreated } from "./alerts/probes.ts";
import { everyKeyUsed, unauthenticatedSent } from "./authentication/probes.ts";
import { deploymentTriggers } from "./deliveries/deployment-events.ts";
import { failingWithWebhooks } from "./deliveries/probes.ts";
import { degradedChecked, healthChecked, laterChecked, unknownChecked } from "./health/probes.ts";
import {
  invoked,
  invokedAtMin,
  invokedUnknownAgent,
  invokedWithNumber,
  invokedWithoutQuery,
  slowAgentInvoked,
  failingInvoked,
} from "./invoke/probes.ts";
import { keyUsageRead, oneAgentKeyTried, webhookCreated } from "./keys/probes.ts";
import { allowanceWatched, twoKeysUsed } from "./limits/counting.ts";
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
import { resumedAndLongStreams } from "./stream/resumed-streams.ts";
import { rolesWithEveryField, unusualInvoke, unusualStream } from "./stream/unusual-probes.ts";
import { streamAccounted, usageGrown } from "./usage/probes.ts";
import { agentCallChecks } from "./relations/calls.ts";
import { identityRelations, countAndLimitRelations } from "./relations/responses.ts";
import { deliveryRelations, streamTimesCheck } from "./relations/deliveries.ts";
import { batchSubmitted } from "./operations/probes.ts";
import { unknownPathRequested } from "./requests/probes.ts";

/** Checks that compare two messages of a run, such as two responses. */
export const relations: readonly Check[] = [
  ...agentCallChecks,
  ...countAndLimitRelations,
  ...deliveryRelations,
  streamTimesCheck,
  ...identityRelations,
];

const clausePrefixOf = ({ clause }: Check): string => clause.slice(0, clause.indexOf("-"));

const addRelations = ({ title, checks }: Suite): Suite => {
  const [first] = checks;
  const own = first === undefined ? [] : relations.filter((each) => clausePrefixOf(each) === clausePrefixOf(first));
  return { title, checks: [...checks, ...own] };
};

const mistakes = [
  invokedWithoutQuery,
  invokedUnknownAgent,
  invokedWithNumber,
  streamedWithoutQuery,
  streamedUnknownAgent,
];
const errorCauses = [...mistakes, failingInvoked, rolesWithEveryField];
const streams = [streamedWithAllFeatures, streamedSlowly, failedInStream, rolesWithEveryField];
const slowProbes = [allowanceWatched, streamAccounted];
const healthProbes = [healthChecked, degradedChecked, laterChecked, unknownChecked];

/** Extra probes for a run of selected clauses, by clause. They provide responses, streams or deliveries to judge. */
const companions: Readonly<Partial<Record<ClauseId, readonly Probe[]>>> = {
  "KEY-4": [everyKeyUsed],
  "SVC-1": [...mistakes, keyUsageRead],
  "REQ-3": [invoked, webhookCreated, oddAlertsCreated],
  "REQ-7": [firstPageListed, secondPageListed, listedByDefault],
  "REQ-8": [batchSubmitted],
  "VER-1": [invoked, ...healthProbes],
  "VER-4": [...healthProbes],
  "ERR-1": errorCauses,
  "ERR-2": errorCauses,
  "ERR-3": errorCauses,
  "ERR-4": errorCauses,
  "ERR-5": [rolesWithEveryField],
  "ERR-7": [...mistakes, unusualInvoke],
  "ERR-8": [minuteExhausted],
  "ERR-9": [minuteExhausted],
  "ERR-10": errorCauses,
  "ERR-16": [minuteExhausted],
  "INV-2": [failingInvoked, rolesWithEveryField],
  "INV-3": [rolesWithEveryField, unusualInvoke],
  "INV-4": [slowAgentInvoked, invokedAtMin],
  "INV-5": [rolesWithEveryField],
  "SSE-3": streams,
  "SSE-5": streams,
  "SSE-13": [resumedAndLongStreams, rolesWithEveryField, unusualStream],
  "SSE-14": streams,
  "SSE-15": [rolesWithEveryField],
  "SSE-16": [rolesWithEveryField],
  "HLT-8": [...healthProbes, ...slowProbes],
  "HLT-10": healthProbes,
  "HLT-17": healthProbes,
  "HLT-22": [invoked],
  "LST-3": [listedOutOfRange],
  "USE-4": [usageGrown],
  "WHK-3": [failingWithWebhooks, ...deploymentTriggers],
  "HOOK-5": [failingWithWebhooks],
  "HOOK-16": deploymentTriggers,
  "HDR-2": [...mistakes, oneAgentKeyTried, unusualInvoke],
  "HDR-3": [unauthenticatedSent],
  "HDR-4": [minuteExhausted],
  "HDR-6": [invoked, streamedWithAllFeatures],
  "HDR-7": healthProbes,
  "HDR-9": [minuteExhausted, slotsHeld],
  "HDR-11": [unknownPathRequested],
  "HDR-12": [allowanceWatched, usageGrown, twoKeysUsed, minuteExhausted, resumedAndLongStreams],
  "HDR-15": [...slowProbes, minuteExhausted],
  "HDR-18": [minuteExhausted],
  "LIM-6": [streamed],
  "LIM-11": [resumedAndLongStreams],
};

const addCompanionProbes = ({ title, checks }: Suite): Suite => ({
  title,
  checks: checks.map((check) => ({ ...check, companions: companions[check.clause] ?? [] })),
});

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

const suitesByParty: Readonly<Record<Party, readonly Suite[]>> = {
  server: suites,
  client: [clientCalls],
  receiver: [receiverSuite],
  file: [],
  people: [],
};

export const suitesOfParty = (party: Party): readonly Suite[] => suitesByParty[party];

export const allSuites: readonly Suite[] = Object.values(suitesByParty).flat();
