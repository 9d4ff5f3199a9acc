import type { z } from "zod";

import type { Source, ValuePath } from "../../base/source/source.ts";
import { clauseAt, requiredPathsOf, type FileClause } from "./clauses.ts";
import { type Breach, type FileFinding, formatPath, preview, typeName } from "./finding.ts";
import { notesOn } from "./notes.ts";
import { agentConfigurationSchema } from "./schema.ts";

/** The clauses that a configuration file alone can break. */
const judgedClauses = [
  "CFG-1",
  "CFG-2",
  "CFG-3",
  "CFG-4",
  "CFG-5",
  "CFG-6",
  "CFG-7",
  "CFG-8",
  "CFG-9",
  "CFG-10",
  "CFG-11",
  "CFG-13",
  "CFG-14",
] as const satisfies readonly FileClause[];

/** Judges an agent configuration file by each clause. Each defect of the file breaks exactly one clause. */
export function judgeConfiguration(source: Pick<Source, "value">): FileFinding[] {
  const parsed = agentConfigurationSchema.safeParse(source.value, { reportInput: true });
  const breaches = (parsed.error?.issues ?? []).map(breachOf);
  const stated = judgedClauses.flatMap((clause) => statedFindings(clause, breaches));
  return [...stated, ...notesOn(parsed.success ? parsed.data : null)];
}

function statedFindings(clause: FileClause, breaches: readonly Breach[]): FileFinding[] {
  const check = { check: clause, clause, level: "must" } as const;
  const own = breaches.filter(({ path }) => clauseAt(path) === clause);
  if (own.length > 0) return own.map((breach) => ({ ...check, kind: "breach", ...breach }));
  const missing = breaches.find(({ path }) => requiredPathsOf(clause).some((each) => isSame(path, each)));
  if (missing === undefined) return [{ ...check, kind: "holds" }];
  return [{ ...check, kind: "skipped", reason: `${formatPath(missing.path)} is ${missing.actual}` }];
}

const isSame = (one: ValuePath, other: ValuePath): boolean =>
  one.length === other.length && one.every((step, at) => step === other[at]);

function breachOf(issue: z.core.$ZodIssue): Breach {
  // For an invalid name in an object, zod puts the issue itself inside the issue that it reports.
  const [inner = issue] = issue.code === "invalid_key" ? issue.issues : [];
  const actual = issue.code === "invalid_key" ? preview(issue.path.at(-1)) : formatIssueValue(issue);
  return { path: issue.path, expected: `${formatPath(issue.path)}: ${inner.message}`, actual };
}

/** Formats a value that breaks a clause. Values of variables and headers are left out, because they may be secrets. */
function formatIssueValue({ path, input }: z.core.$ZodIssue): string {
  const isSecret = path[0] === "env_vars" || path.includes("headers");
  return isSecret && input !== undefined ? typeName(input) : preview(input);
}
