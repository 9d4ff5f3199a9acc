import type { RequirementSet } from "../../spec/clause.ts";
import type { Coverage } from "../../run/judge/finding.ts";

/** The result of judging a clause. `seen` counts the judged responses or streams, if each must keep the clause. */
export type JudgeResult = Result & { readonly seen?: Coverage };

type Result =
  | { readonly kind: "holds"; readonly detail: string }
  /** `witness` lists the requests that prove the breach, one per line. */
  | { readonly kind: "breach"; readonly expected: string; readonly actual: string; readonly witness: readonly string[] }
  /** The evidence does not suffice for a verdict. This never counts as a pass. */
  | { readonly kind: "unproven"; readonly reason: string; readonly needs: string | null }
  | { readonly kind: "inapplicable"; readonly reason: string }
  /** `text` describes behaviour that the document leaves open, or a measurement without a required value. */
  | { readonly kind: "observed"; readonly text: string };

export type LoadFinding = JudgeResult & {
  /** A name such as `LIM-1/minute-limit`. Begins with `load/` for a requirement that is not in the document. */
  readonly check: string;
  readonly clause: string | null;
  readonly since: RequirementSet;
  /** The tested tier, e.g. `pro`: a check has one finding per tier. `null` if the evidence names no tier. */
  readonly instance: string | null;
};

export const holds = (detail: string): JudgeResult => ({ kind: "holds", detail });

export const breach = (expected: string, actual: string, witness: readonly string[] = []): JudgeResult => ({
  kind: "breach",
  expected,
  actual,
  witness:
    witness.length > maxLines
      ? [...witness.slice(0, maxLines - 1), `… ${witness.length - maxLines + 1} more`]
      : witness,
});

export const unproven = (reason: string, needs: string | null = null): JudgeResult => ({
  kind: "unproven",
  reason,
  needs,
});
export const inapplicable = (reason: string): JudgeResult => ({ kind: "inapplicable", reason });
export const observed = (text: string): JudgeResult => ({ kind: "observed", text });

/** Maximum number of lines in the `witness` of a breach. */
const maxLines = 60;
