import type { LoadEvidence } from "../evidence/load-evidence.ts";

/** A period in which the target accepted no connection. */
export type LoadOutage = NonNullable<LoadEvidence["outage"]>;

/** Formats a time of day in UTC. */
export const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(11, 19)} UTC`;

/** Describes an outage as part of a sentence. */
export const describeOutage = ({ failedMs, backMs }: LoadOutage): string =>
  backMs === null
    ? `the target died: it has accepted no connection since ${timeText(failedMs)}`
    : `the target was away from ${timeText(failedMs)} to ${timeText(backMs)}`;
