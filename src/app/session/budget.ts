import { isLoopback } from "../../target/base-url.ts";
import type { Target } from "../../target/target.ts";

/** Requests that a run sends at most where its user names no number: a target that somebody else runs gets a budget. */
export const standardBudget = ({ baseUrl }: Target): number => (isLoopback(baseUrl) ? Number.POSITIVE_INFINITY : 1000);
