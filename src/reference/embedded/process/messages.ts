import type { TierLimits, TierName } from "../../../spec/tiers.ts";
import type { Patch } from "../../patch.ts";
import type { Reference } from "../../reference.ts";

/** A fault or variant, by name: what it replaces cannot go from one process to another. */
export type PatchName = Pick<Patch, "kind" | "name">;

/** How the server in the other process is started. */
export interface StartOptions {
  readonly patches: readonly PatchName[];
  /** Numbers of the tiers that differ from the server's own. */
  readonly tiers: Partial<Readonly<Record<TierName, TierLimits>>>;
  /** How many times as fast as the machine's its clock runs. */
  readonly speed: number;
}

export type ChildCommand =
  | { readonly kind: "start"; readonly start: StartOptions }
  | { readonly kind: "freshKey"; readonly tier: TierName }
  | { readonly kind: "speed"; readonly speed: number }
  | { readonly kind: "nextHour" }
  | { readonly kind: "rss" };

/** What is asked, with a number that its answer repeats. */
export interface ChildRequest {
  readonly id: number;
  readonly command: ChildCommand;
}

export type ChildReply =
  | { readonly id: number; readonly kind: "started"; readonly started: StartedServer }
  | { readonly id: number; readonly kind: "key"; readonly name: string; readonly key: string }
  | { readonly id: number; readonly kind: "clockSet" }
  | { readonly id: number; readonly kind: "rss"; readonly bytes: number }
  | { readonly id: number; readonly kind: "failed"; readonly message: string };

/** What the server is, once it listens. */
export interface StartedServer {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly agents: Reference["agents"];
  readonly tiers: Readonly<Record<TierName, TierLimits>>;
}
