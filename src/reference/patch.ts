import type { ClauseId } from "../spec/clauses.ts";
import { standard, type Behaviour } from "./behaviour/behaviour.ts";

/** Returns decisions that replace some of those of `base`. Each call makes new state for them. */
export type Override = (base: Behaviour) => Partial<Behaviour>;

/**
 * A named change of the server's behaviour. A fault breaks the clauses that it names. A variant is another behaviour
 * that the document allows: the report may have notes on it, but no failures.
 */
export interface Patch {
  readonly name: string;
  readonly kind: "fault" | "variant";
  /** Heading of the document that the patch concerns. */
  readonly section: string;
  readonly summary: string;
  /**
   * The clauses that the patch breaks. A variant breaks advisory clauses only. A load fault may break none: the load's
   * own rules find it.
   */
  readonly breaks: readonly ClauseId[];
  /** Clauses that the patch breaks in some runs only, for example when the headers happen to report the other window. */
  readonly mayAlsoBreak: readonly ClauseId[];
  /** Who has to detect the patch. `load`: it takes concurrent requests, or thousands of them. */
  readonly detectedBy: "suites" | "load";
  readonly override: Override;
}

/** The standard behaviour with patches applied in order. Each patch gets the result of the patches before it. */
export function applyPatches(patches: readonly Patch[]): Behaviour {
  return patches.reduce<Behaviour>((base, { override }) => ({ ...base, ...override(base) }), standard);
}

type FaultRow = Pick<Patch, "breaks" | "summary" | "override" | "mayAlsoBreak">;
type VariantRow = Omit<FaultRow, "mayAlsoBreak">;

/** A fault of these clauses. `by` adds the override that causes it. */
export const fault = (breaks: ClauseId | readonly ClauseId[], summary: string) => ({
  by: (override: Override, mayAlsoBreak: readonly ClauseId[] = []): FaultRow => {
    return { breaks: typeof breaks === "string" ? [breaks] : breaks, summary, override, mayAlsoBreak };
  },
});

/** A variant. `by` adds its override, and the advisory clauses on which the report has a note. */
export const variant = (summary: string) => ({
  by: (override: Override, notes: readonly ClauseId[] = []): VariantRow => ({ breaks: notes, summary, override }),
});

/** Faults of a section, by name. */
export function faults(
  section: string,
  rows: Readonly<Record<string, FaultRow>>,
  detectedBy: Patch["detectedBy"] = "suites",
): readonly Patch[] {
  return Object.entries(rows).map(([name, row]) => ({ ...row, name, kind: "fault", section, detectedBy }));
}

/** Variants of a section, by name. */
export function variants(section: string, rows: Readonly<Record<string, VariantRow>>): readonly Patch[] {
  return Object.entries(rows).map(([name, row]) => {
    return { ...row, name, kind: "variant", section, mayAlsoBreak: [], detectedBy: "suites" };
  });
}
