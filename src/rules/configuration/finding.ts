import type { ValuePath } from "../../base/source/source.ts";
import type { FileClause } from "./clauses.ts";

/** Result of one check of a file. If a file breaks a clause in several places, each has a result. */
export type FileFinding = {
  readonly check: string;
  readonly clause: FileClause;
  readonly level: "must" | "advisory";
} & (
  | { readonly kind: "holds" }
  | { readonly kind: "skipped"; readonly reason: string }
  | { readonly kind: "breach"; readonly path: ValuePath; readonly expected: string; readonly actual: string }
);

/** A value of the file that breaks a clause. */
export interface Breach {
  readonly path: ValuePath;
  readonly expected: string;
  readonly actual: string;
}

/** Formats a path as people write it: `webhooks.endpoints[0].url`. */
export function formatPath(path: ValuePath): string {
  const steps = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`));
  return steps.join("").replace(/^\./, "") || "the file";
}

/**
 * Formats a value for a finding, in at most 60 characters. Only the type of an object or array is shown, because it may
 * contain secrets, such as the value of a header.
 */
export function preview(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "an array" : "an object";
  const written = JSON.stringify(value);
  return written.length <= 60 ? written : `${written.slice(0, 57)}…`;
}

/** Returns the type of a value that may be a secret. */
export const typeName = (value: unknown): string => (typeof value === "object" ? preview(value) : `a ${typeof value}`);
