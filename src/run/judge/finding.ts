import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Enabler, SkipReason, SkipCause } from "../skip-reason.ts";
import type { Coverage } from "./coverage.ts";

/** A recorded exchange or delivery that supports a finding. */
export type Proof = Exchange | Delivery;

/** The result of a check. If the check judges many messages, `seen` counts them. */
export type Finding<R extends string = string> = FindingKind<R> & { readonly seen?: Coverage };

/** The possible results of a check. `at` lists the messages that show the result. */
type FindingKind<R extends string> =
  | { readonly kind: "holds" }
  | { readonly kind: "follows"; readonly reading: R }
  | {
      readonly kind: "breach";
      readonly expected: string;
      readonly actual: string;
      readonly at: readonly Proof[];
      /** By how much a rate limit is exceeded, in percent of the published number. */
      readonly excessPercent?: number;
    }
  /** A deviation that the vendor may intend. The report shows it as a note, even if the clause is a MUST. */
  | { readonly kind: "noted"; readonly expected: string; readonly actual: string; readonly at: readonly Proof[] }
  | Inapplicable
  /** The evidence does not suffice for a verdict; the check counts as skipped. */
  | ({ readonly kind: "unproven" } & SkipReason);

/** The clause does not apply. `exempt`: the target file excludes the clause, and the verdict ignores it. */
interface Inapplicable {
  readonly kind: "inapplicable";
  readonly reason: string;
  readonly exempt?: true;
}

export type Breach = Extract<Finding, { kind: "breach" }>;
export type Unproven = Extract<Finding, { kind: "unproven" }>;

/** How the target behaves where the document is silent, or why nothing was observed. */
export type Observation = { readonly kind: "observed"; readonly text: string } | Unproven;

export const holds = (): { readonly kind: "holds" } => ({ kind: "holds" });

export const follows = <const R extends string>(reading: R): { readonly kind: "follows"; readonly reading: R } => ({
  kind: "follows",
  reading,
});

export const breach = (expected: string, actual: string, ...at: readonly Proof[]): Breach => ({
  kind: "breach",
  expected,
  actual,
  at,
});

export const noted = ({ expected, actual, at }: Breach): Extract<Finding, { kind: "noted" }> => ({
  kind: "noted",
  expected,
  actual,
  at,
});

export const formatBreach = ({ expected, actual }: Breach): string => `expected ${expected}; actual ${actual}`;

export const unproven = (reason: SkipCause, needs: Enabler | null = null): Unproven => ({
  kind: "unproven",
  reason,
  needs,
});

export const inapplicable = (reason: string): { readonly kind: "inapplicable"; readonly reason: string } => ({
  kind: "inapplicable",
  reason,
});

/** Creates the finding for a clause that the target file excludes. */
export const exempt = (reason: string): Inapplicable => ({ kind: "inapplicable", reason, exempt: true });

export const observed = (text: string): Observation => ({ kind: "observed", text });
