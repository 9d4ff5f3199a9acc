import type { ClauseId } from "./clauses.ts";

/** Clauses that can be tested and whose checks are still to come. A clause leaves this list with its first check. */
export const clausesToCome: readonly ClauseId[] = [
  ...(["WHK-1", "WHK-2", "WHK-3", "WHK-4", "WHK-5", "WHK-6", "WHK-7", "WHK-8", "WHK-9"] as const),
  ...(["WHK-10", "WHK-11", "WHK-12"] as const),
  ...(["HOOK-1", "HOOK-2", "HOOK-3", "HOOK-4", "HOOK-5", "HOOK-6", "HOOK-7", "HOOK-8", "HOOK-9", "HOOK-10"] as const),
  ...(["HOOK-11", "HOOK-12", "HOOK-13", "HOOK-14", "HOOK-15", "HOOK-16", "HOOK-17", "HOOK-18", "HOOK-19"] as const),
  ...(["HOOK-20", "HOOK-21", "HOOK-22", "HOOK-24", "HOOK-25", "HOOK-26", "HOOK-27", "HOOK-28", "HOOK-29"] as const),
  ...(["HOOK-31", "HOOK-32", "HOOK-33"] as const),
  ...(["ALR-1", "ALR-2", "ALR-3", "ALR-4", "ALR-5"] as const),
  ...(["KEY-3", "KEY-4", "KEY-5", "KEY-6", "KEY-7", "KEY-9", "KEY-10", "KEY-11"] as const),
  ...(["OPS-1", "OPS-2", "OPS-3", "OPS-4", "OPS-5", "OPS-6"] as const),
  ...(["BAT-1", "BAT-2", "BAT-3"] as const),
  ...(["OTH-1", "OTH-2", "OTH-3", "OTH-4"] as const),
  ...(["AUTH-10", "AUTH-11", "AUTH-13"] as const),
  ...(["LIM-19", "LIM-20"] as const),
];
