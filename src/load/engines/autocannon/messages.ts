import type { Flow, KeyRole } from "../../scenarios.ts";
import type { Network } from "../../../base/network/network.ts";
import type { LoadEvidence } from "../../load-evidence.ts";
import type { CollectedSamples, RequestCounts } from "./sample-collector.ts";
import type { RequestTarget } from "./request.ts";

/** What the sending process is told. Keys go over the channel between the processes and nowhere else. */
export type ToSender = { readonly kind: "send"; readonly job: SendJob } | { readonly kind: "stop" };

export interface SendJob extends RequestTarget {
  /** In our own time. */
  readonly flows: readonly Flow[];
  readonly keys: Readonly<Record<KeyRole, string | null>>;
  readonly speed: number;
  readonly network: Network;
}

/** What the sending process tells. */
export type FromSender =
  | { readonly kind: "ready" }
  | { readonly kind: "progress"; readonly elapsedMs: number; readonly tally: RequestCounts }
  | { readonly kind: "done"; readonly sending: SendResult }
  | { readonly kind: "failed"; readonly message: string };

/** All that came of a job. */
export interface SendResult extends CollectedSamples {
  readonly startedAt: string;
  readonly durationMs: number;
  readonly generator: LoadEvidence["generator"];
  /** Names of the flows that autocannon did not send. */
  readonly byUndici: readonly string[];
}
