import type { Flow, KeyRole } from "../../../../scenarios/scenario.ts";
import type { Network } from "../../../base/network/network.ts";
import type { LoadEvidence } from "../../load-evidence.ts";
import type { CollectedSamples, Tally } from "./collection.ts";
import type { Where } from "./calls.ts";

/** What the sending process is told. Keys go over the channel between the processes and nowhere else. */
export type ToSender = { readonly kind: "send"; readonly job: Job } | { readonly kind: "stop" };

export interface Job extends Where {
  /** In our own time. */
  readonly flows: readonly Flow[];
  readonly keys: Readonly<Record<KeyRole, string | null>>;
  readonly speed: number;
  readonly network: Network;
}

/** What the sending process tells. */
export type FromSender =
  | { readonly kind: "ready" }
  | { readonly kind: "progress"; readonly elapsedMs: number; readonly tally: Tally }
  | { readonly kind: "done"; readonly sending: Sending }
  | { readonly kind: "failed"; readonly message: string };

/** All that came of a job. */
export interface Sending extends CollectedSamples {
  readonly startedAt: string;
  readonly durationMs: number;
  readonly generator: LoadEvidence["generator"];
  /** Names of the flows that autocannon did not send. */
  readonly byUndici: readonly string[];
}
