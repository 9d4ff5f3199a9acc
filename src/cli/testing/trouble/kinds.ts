import { fileTroubles, processTroubles } from "./machine.ts";
import { networkTroubles, targetTroubles } from "./target-and-network.ts";
import type { Trouble } from "./trouble.ts";

/** Every kind of trouble. A new kind is a new row of one of the tables. */
export const troubles: readonly Trouble[] = [
  ...targetTroubles,
  ...networkTroubles,
  ...fileTroubles,
  ...processTroubles,
];
