import type { ClauseId } from "../spec/clauses.ts";
import { standardBehaviour, type Behaviour } from "./behaviour/behaviour.ts";

/**
 * Returns the functions of `Behaviour` that it replaces. The new functions may call those of `base`. Each call creates
 * new state, so that servers do not share any.
 */
export type Override = (base: Behaviour) => Partial<Behaviour>;

/**
 * A named change of the server's behaviour. A fault breaks the clauses that it names. A variant is another behaviour
 * that the document allows: it may cause notes in a report, but no failures.
 */
export interface Patch {
  readonly name: string;
  readonly kind: "fault" | "variant";
  /** Heading of the document that the patch concerns. */
  readonly section: string;
  readonly summary: string;
  /**
   * The clauses that the patch breaks. A variant breaks only advisory clauses. A load fault may break no clause, if a
   * load run detects the fault by a rule outside the document.
   */
  readonly breaks: readonly ClauseId[];
  /**
   * Clauses that the patch breaks in some runs only. For example, the headers may describe the hour in one run and the
   * minute in another.
   */
  readonly mayAlsoBreak: readonly ClauseId[];
  /** The tests that must detect the patch. `load`: detection takes concurrent requests, or thousands of requests. */
  readonly detectedBy: "suites" | "load";
  readonly override: Override;
}

/** Applies patches to the standard behaviour, in order. Each patch gets the result of the patches before it. */
export function applyPatches(patches: readonly Patch[]): Behaviour {
  return patches.reduce<Behaviour>((base, { override }) => ({ ...base, ...override(base) }), standardBehaviour);
}

type FaultRow = Pick<Patch, "breaks" | "summary" | "override" | "mayAlsoBreak">;
type VariantRow = Omit<FaultRow, "mayAlsoBreak">;

/** Declares a fault that breaks these clauses. `by` adds the override that causes the fault. */
export const fault = (breaks: ClauseId | readonly ClauseId[], summary: string) => ({
  by: (override: Override, mayAlsoBreak: readonly ClauseId[] = []): FaultRow => {
    return { breaks: typeof breaks === "string" ? [breaks] : breaks, summary, override, mayAlsoBreak };
  },
});

/** Declares a variant. `by` adds its override, and the advisory clauses for which the report has a note. */
export const variant = (summary: string) => ({
  by: (override: Override, notes: readonly ClauseId[] = []): VariantRow => ({ breaks: notes, summary, override }),
});

/** Declares the faults of a section of the document, by name. */
export function faults(
  section: string,
  rows: Readonly<Record<string, FaultRow>>,
  detectedBy: Patch["detectedBy"] = "suites",
): readonly Patch[] {
  return Object.entries(rows).map(([name, row]) => ({ ...row, name, kind: "fault", section, detectedBy }));
}

/** Declares the variants of a section of the document, by name. */
export function variants(section: string, rows: Readonly<Record<string, VariantRow>>): readonly Patch[] {
  return Object.entries(rows).map(([name, row]) => {
    return { ...row, name, kind: "variant", section, mayAlsoBreak: [], detectedBy: "suites" };
  });
}
