import type { TierLimits, TierName } from "../../interface/tiers.ts";
import type { Patch } from "../../reference/patch.ts";
import type { Reference } from "../../reference/reference.ts";

/** A fault or variant, by name: what it replaces cannot go from one process to another. */
export type PatchName = Pick<Patch, "kind" | "name">;

/** How the server in the other process is started. */
export interface Start {
  readonly patches: readonly PatchName[];
  /** Numbers of the tiers that differ from the server's own. */
  readonly tiers: Partial<Readonly<Record<TierName, TierLimits>>>;
  /** How many times as fast as the machine's its clock runs. */
  readonly speed: number;
}

export type ChildWish =
  | { readonly kind: "start"; readonly start: Start }
  | { readonly kind: "freshKey"; readonly tier: TierName }
  | { readonly kind: "speed"; readonly speed: number }
  | { readonly kind: "nextHour" }
  | { readonly kind: "rss" };

/** What is asked, with a number that its answer repeats. */
export interface ChildRequest {
  readonly id: number;
  readonly wish: ChildWish;
}

export type ChildReply =
  | { readonly id: number; readonly kind: "started"; readonly started: Started }
  | { readonly id: number; readonly kind: "key"; readonly name: string; readonly key: string }
  | { readonly id: number; readonly kind: "clockSet" }
  | { readonly id: number; readonly kind: "rss"; readonly bytes: number }
  | { readonly id: number; readonly kind: "failed"; readonly message: string };

/** What the server is, once it listens. */
export interface Started {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly agents: Reference["agents"];
  readonly tiers: Readonly<Record<TierName, TierLimits>>;
}
