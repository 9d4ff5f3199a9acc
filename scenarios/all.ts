import { burst } from "./burst.ts";
import { concurrency } from "./concurrency.ts";
import { farOver } from "./far-over.ts";
import { healthWhileExhausted } from "./health-while-exhausted.ts";
import { heldStreams } from "./held-streams.ts";
import { hourLimit } from "./hour-limit.ts";
import { minuteLimit } from "./minute-limit.ts";
import { noisyNeighbour } from "./noisy-neighbour.ts";
import { recovery } from "./recovery.ts";
import type { Scenario } from "./scenario.ts";
import { slotsBack } from "./slots-back.ts";
import { soak } from "./soak.ts";
import { streamIntegrity } from "./stream-integrity.ts";
import { sustained } from "./sustained.ts";
import { usageLedger } from "./usage-ledger.ts";
import { webhookStorm } from "./webhook-storm.ts";

export const scenarios: readonly Scenario[] = [
  minuteLimit,
  hourLimit,
  burst,
  concurrency,
  heldStreams,
  slotsBack,
  recovery,
  noisyNeighbour,
  sustained,
  farOver,
  healthWhileExhausted,
  streamIntegrity,
  usageLedger,
  webhookStorm,
  soak,
];
