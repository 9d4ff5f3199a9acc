import { fileTroubles, processTroubles } from "./machine.ts";
import { networkTroubles, targetTroubles } from "./target-and-network.ts";
import type { Trouble } from "./trouble.ts";

/** Every kind of trouble. To add a kind, add a row to one of these tables. */
export const troubles: readonly Trouble[] = [
  ...targetTroubles,
  ...networkTroubles,
  ...fileTroubles,
  ...processTroubles,
];
