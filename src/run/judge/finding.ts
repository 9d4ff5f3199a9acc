import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Enabler, SkipReason, SkipCause } from "../skip-reason.ts";
import type { Coverage } from "./coverage.ts";

/** A recorded exchange or delivery that supports a finding. */
export type Proof = Exchange | Delivery;

/** The result of a check. A check that judges many cases also says which cells they cover. */
export type Finding<R extends string = string> = FindingKind<R> & { readonly seen?: Coverage };

/** `at` lists the exchanges and deliveries that show the breach. If empty, all messages in the evidence show it. */
type FindingKind<R extends string> =
  | { readonly kind: "holds" }
  | { readonly kind: "follows"; readonly reading: R }
  | { readonly kind: "breach"; readonly expected: string; readonly actual: string; readonly at: readonly Proof[] }
  /** A deviation that may be meant, so it is a note, whatever the level of its clause. */
  | { readonly kind: "noted"; readonly expected: string; readonly actual: string; readonly at: readonly Proof[] }
  /** The clause cannot be judged here, for example because the tier has no published number. */
  | Inapplicable
  /**
   * The evidence is not enough, because a control request failed or no response showed the case. A clause without
   * enough evidence never counts as passed.
   */
  | ({ readonly kind: "unproven" } & SkipReason);

/** `exempt`: the target file says that the clause does not concern the target, so the verdict ignores the clause. */
interface Inapplicable {
  readonly kind: "inapplicable";
  readonly reason: string;
  readonly exempt?: true;
}

export type Breach = Extract<Finding, { kind: "breach" }>;
export type Unproven = Extract<Finding, { kind: "unproven" }>;

/** The result of an observation. */
export type Observation = { readonly kind: "observed"; readonly text: string } | Unproven;

export const holds = (): { readonly kind: "holds" } => ({ kind: "holds" });

export const follows = <const R extends string>(reading: R): { readonly kind: "follows"; readonly reading: R } => ({
  kind: "follows",
  reading,
});

/**
 * Creates a finding that the target breaks a clause.
 *
 * @param at the exchanges and deliveries that show the breach; none means all in the evidence
 */
export const breach = (expected: string, actual: string, ...at: readonly Proof[]): Breach => ({
  kind: "breach",
  expected,
  actual,
  at,
});

/** Turns a breach into a note, because the deviation may be meant. */
export const noted = ({ expected, actual, at }: Breach): Extract<Finding, { kind: "noted" }> => ({
  kind: "noted",
  expected,
  actual,
  at,
});

export const formatBreach = ({ expected, actual }: Breach): string => `expected ${expected}; actual ${actual}`;

/**
 * Creates the finding of a check that lacks evidence.
 *
 * @param needs what would enable the check
 */
export const unproven = (reason: SkipCause, needs: Enabler | null = null): Unproven => ({
  kind: "unproven",
  reason,
  needs,
});

export const inapplicable = (reason: string): { readonly kind: "inapplicable"; readonly reason: string } => ({
  kind: "inapplicable",
  reason,
});

/** Creates the finding of a clause that does not concern the target, as its target file says. */
export const exempt = (reason: string): Inapplicable => ({ kind: "inapplicable", reason, exempt: true });

export const observed = (text: string): Observation => ({ kind: "observed", text });
