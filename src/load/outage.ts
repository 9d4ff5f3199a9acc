import type { LoadEvidence } from "../evidence/load-evidence.ts";

/** A period in which the target accepted no connection. */
export type LoadOutage = NonNullable<LoadEvidence["outage"]>;

/** Formats a time of day for people. */
export const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(11, 19)} UTC`;

/** Describes an outage in words that fit into a sentence. */
export const describeOutage = ({ failedMs, backMs }: LoadOutage): string =>
  backMs === null
    ? `the target died: it has accepted no connection since ${timeText(failedMs)}`
    : `the target was away from ${timeText(failedMs)} to ${timeText(backMs)}`;
