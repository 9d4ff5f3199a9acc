import type { ValuePath } from "../../base/source/source.ts";
import type { ClauseId } from "../../spec/clauses.ts";

export type FileClause = Extract<ClauseId, `CFG-${number}`>;

/** Maps paths of the file to clauses. The first match counts, and `#` matches any index or name. */
const clauseByPath: readonly (readonly [string, FileClause])[] = [
  ["agent_architecture.entrypoints.#.file", "CFG-11"],
  ["agent_architecture.entrypoints.#.module", "CFG-11"],
  ["agent_architecture.entrypoints.#.tag", "CFG-11"],
  ["agent_architecture.entrypoints", "CFG-2"],
  ["description", "CFG-3"],
  ["template", "CFG-3"],
  ["created_at", "CFG-4"],
  ["agent_id", "CFG-5"],
  ["template_source", "CFG-6"],
  ["auth_settings", "CFG-7"],
  ["env_vars", "CFG-8"],
  ["deployment", "CFG-9"],
  ["webhooks.endpoints.#.url", "CFG-13"],
  ["webhooks.endpoints.#.events", "CFG-13"],
  ["webhooks.endpoints.#.headers", "CFG-14"],
  ["webhooks", "CFG-10"],
];

export function clauseAt(path: ValuePath): FileClause {
  const found = clauseByPath.find(([pattern]) => startsWith(path, pattern.split(".")));
  return found === undefined ? "CFG-1" : found[1];
}

const startsWith = (path: ValuePath, pattern: readonly string[]): boolean =>
  path.length >= pattern.length && pattern.every((step, at) => step === "#" || step === String(path[at]));

/**
 * If the value at a clause's path is wrong or missing, the clause is skipped. Default path: the top level of the file.
 */
const requiredPaths: Partial<Readonly<Record<FileClause, ValuePath>>> = {
  "CFG-2": ["agent_architecture"],
  "CFG-11": ["agent_architecture", "entrypoints"],
  "CFG-12": ["agent_architecture", "entrypoints"],
  "CFG-13": ["webhooks", "endpoints"],
  "CFG-14": ["webhooks", "endpoints"],
};

export function requiredPathsOf(clause: FileClause): readonly ValuePath[] {
  const innermost = clause === "CFG-1" ? null : (requiredPaths[clause] ?? []);
  return innermost === null ? [] : [...innermost, ""].map((_, length) => innermost.slice(0, length));
}

/** The result of one check for one place of the file. A clause can be broken in several places. */
export type FileFinding = {
  readonly check: string;
  readonly clause: FileClause;
  readonly level: "must" | "advisory";
} & (
  | { readonly kind: "holds" }
  | { readonly kind: "skipped"; readonly reason: string }
  | { readonly kind: "breach"; readonly path: ValuePath; readonly expected: string; readonly actual: string }
);

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

/** Formats a value in at most 60 characters. Objects may contain secrets: only their type is shown. */
export function preview(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "an array" : "an object";
  const written = JSON.stringify(value);
  return written.length <= 60 ? written : `${written.slice(0, 57)}…`;
}

/** Returns only the type of a value, because the value may be a secret. */
export const typeName = (value: unknown): string => (typeof value === "object" ? preview(value) : `a ${typeof value}`);
