import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Enabler, SkipCause, SkipReason } from "../skip-reason.ts";
import type { Probe } from "../probe.ts";

/** A group of similar messages, such as all `invoke` responses with status 200, or all events of one name. */
export interface Cell {
  /** The source of the messages, e.g. an endpoint's name, `stream events` or `deliveries received`. */
  readonly of: string;
  /** A property that all messages in the group share, e.g. the status, the event name or the kind of key. */
  readonly kind: string;
}

/** A cell of a coverage matrix. */
export interface MatrixCell extends Cell {
  /** The setting that a run needs to get messages of this cell; `null` if no setting is needed. */
  readonly reach: Enabler | null;
}

/** The messages to which a clause applies. Each cell is a group of messages, such as all 404 responses to `invoke`. */
export interface CoverageMatrix {
  readonly description: string;
  readonly cells: readonly MatrixCell[];
  readonly coverageProbe: Probe<UncoveredCells> | null;
}

export interface UncoveredCells {
  /** Cells for which the coverage probe could not send a request, each with the reason. */
  readonly left: readonly (Cell & { readonly why: SkipReason })[];
}

/** Number of judged messages of one cell (`looked`), and of those that break the clause (`broken`). */
export interface CellCoverage extends Cell {
  readonly looked: number;
  readonly broken: number;
}

/**
 * Number of messages that a check judged (`looked`), and of those that break the clause (`broken`). `unseen` lists the
 * cells without a message.
 */
export interface Coverage {
  readonly looked: number;
  readonly broken: number;
  readonly cells: readonly CellCoverage[];
  readonly unseen: readonly MatrixCell[];
}

export const cellName = ({ of, kind }: Cell): string => `${of} ${kind}`;

/** A recorded exchange or delivery that supports a finding. */
export type Proof = Exchange | Delivery;

/** The result of a check. `seen` counts the judged messages, if the check judges many. */
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
      /** Percentage added to the published limit to explain all admitted requests, rounded up to a step, e.g. 10. */
      readonly excessPercent?: number;
    }
  /** A deviation that may be intended. The report shows the deviation as a note, even if the clause is a MUST. */
  | { readonly kind: "noted"; readonly expected: string; readonly actual: string; readonly at: readonly Proof[] }
  | Inapplicable
  /** The evidence does not suffice for a verdict; the check counts as skipped. */
  | ({ readonly kind: "unproven" } & SkipReason);

/** The clause does not apply. `exempt`: due to the target file, e.g. `auth: none`. The verdict then ignores it. */
export interface Inapplicable {
  readonly kind: "inapplicable";
  readonly reason: string;
  readonly exempt?: true;
}

export type Breach = Extract<Finding, { kind: "breach" }>;
export type Unproven = Extract<Finding, { kind: "unproven" }>;

/** The target's behaviour in a case that the document leaves open, or the reason why no behaviour was observed. */
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

export const inapplicable = (reason: string): Inapplicable => ({ kind: "inapplicable", reason });

/** Creates the finding for a clause that does not apply because of the target file, e.g. `auth: none`. */
export const exempt = (reason: string): Inapplicable => ({ kind: "inapplicable", reason, exempt: true });

export const observed = (text: string): Observation => ({ kind: "observed", text });
