import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Enabler, SkipReason, SkipCause } from "../skip-reason.ts";
import type { Coverage } from "./coverage.ts";

/** What shows a finding: something that was sent, or something that was received. */
export type Proof = Exchange | Delivery;

/** What a check says of the evidence; one that speaks of a whole set says besides how much of it was seen. */
export type Finding<R extends string = string> = Said<R> & { readonly seen?: Coverage };

/** `at` names what shows it; by default all of the evidence's exchanges and deliveries. */
type Said<R extends string> =
  | { readonly kind: "holds" }
  | { readonly kind: "follows"; readonly reading: R }
  | { readonly kind: "breach"; readonly expected: string; readonly actual: string; readonly at: readonly Proof[] }
  /** The clause says nothing of this instance, such as a tier whose number the document does not show. */
  | { readonly kind: "inapplicable"; readonly reason: string }
  /** The evidence cannot tell: a positive control failed, or the case did not arise. Never a pass. */
  | ({ readonly kind: "unproven" } & SkipReason);

export type Breach = Extract<Finding, { kind: "breach" }>;
export type Unproven = Extract<Finding, { kind: "unproven" }>;

/** What an observation says of a gap. */
export type Observation = { readonly kind: "observed"; readonly text: string } | Unproven;

export const holds = (): { readonly kind: "holds" } => ({ kind: "holds" });

export const follows = <const R extends string>(reading: R): { readonly kind: "follows"; readonly reading: R } => ({
  kind: "follows",
  reading,
});

/** @param at what shows it, where that is less than the whole evidence */
export const breach = (expected: string, actual: string, ...at: readonly Proof[]): Breach => ({
  kind: "breach",
  expected,
  actual,
  at,
});

/** A breach in one line. */
export const formatBreach = ({ expected, actual }: Breach): string => `expected ${expected}; actual ${actual}`;

/** @param needs what would enable the check */
export const unproven = (reason: SkipCause, needs: Enabler | null = null): Unproven => ({
  kind: "unproven",
  reason,
  needs,
});

export const inapplicable = (reason: string): { readonly kind: "inapplicable"; readonly reason: string } => ({
  kind: "inapplicable",
  reason,
});

export const observed = (text: string): Observation => ({ kind: "observed", text });
