import type { z } from "zod";
import type { Source, ValuePath } from "../../base/source/source.ts";
import { agentConfigurationSchema } from "./schema.ts";
import { clauseIds, type ClauseId } from "../../spec/clauses.ts";

type FileClause = Extract<ClauseId, `CFG-${number}`>;

/** Maps a path, and all paths below it, to a clause. The first match counts. `#` matches any index or name. */
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

function clauseAt(path: ValuePath): FileClause {
  const found = clauseByPath.find(([pattern]) => startsWith(path, pattern.split(".")));
  return found === undefined ? "CFG-1" : found[1];
}

const startsWith = (path: ValuePath, pattern: readonly string[]): boolean =>
  path.length >= pattern.length && pattern.every((step, at) => step === "#" || step === String(path[at]));

/**
 * For each clause, the path of the object or array that contains the clause's fields; default: the top level. If this
 * object or array, or one that contains it, breaks another clause, the clause is skipped.
 */
const requiredPaths: Partial<Readonly<Record<FileClause, ValuePath>>> = {
  "CFG-2": ["agent_architecture"],
  "CFG-11": ["agent_architecture", "entrypoints"],
  "CFG-12": ["agent_architecture", "entrypoints"],
  "CFG-13": ["webhooks", "endpoints"],
  "CFG-14": ["webhooks", "endpoints"],
};

function requiredPathsOf(clause: FileClause): readonly ValuePath[] {
  const innermost = clause === "CFG-1" ? null : (requiredPaths[clause] ?? []);
  return innermost === null ? [] : [...innermost, ""].map((_, length) => innermost.slice(0, length));
}

/** The result of one check. If the file breaks a clause at several paths, each path has its own result. */
export type FileFinding = {
  readonly check: string;
  readonly clause: FileClause;
  readonly level: "must" | "advisory";
} & (
  | { readonly kind: "holds" }
  | { readonly kind: "skipped"; readonly reason: string }
  | ({ readonly kind: "breach" } & Breach)
);

interface Breach {
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
function preview(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "an array" : "an object";
  const written = JSON.stringify(value);
  return written.length <= 60 ? written : `${written.slice(0, 57)}…`;
}

/** Returns only the type of a value, because the value may be a secret. */
const typeName = (value: unknown): string => (typeof value === "object" ? preview(value) : `a ${typeof value}`);

/** All CFG clauses except CFG-12. Only an advisory check in `noteChecks` judges CFG-12. */
const judgedClauses = clauseIds.filter((id): id is FileClause => id.startsWith("CFG-") && id !== "CFG-12");

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
  const outerBreach = breaches.find(({ path }) => requiredPathsOf(clause).some((each) => isSame(path, each)));
  if (outerBreach === undefined) return [{ ...check, kind: "holds" }];
  return [{ ...check, kind: "skipped", reason: `${formatPath(outerBreach.path)} is ${outerBreach.actual}` }];
}

const isSame = (one: ValuePath, other: ValuePath): boolean =>
  one.length === other.length && one.every((step, at) => step === other[at]);

function breachOf(issue: z.core.$ZodIssue): Breach {
  // If a header has an invalid name, zod says only that a key is invalid. The inner issue says why.
  const [inner = issue] = issue.code === "invalid_key" ? issue.issues : [];
  const actual = issue.code === "invalid_key" ? preview(issue.path.at(-1)) : formatIssueValue(issue);
  return { path: issue.path, expected: `${formatPath(issue.path)}: ${inner.message}`, actual };
}

/** Formats a value that breaks a clause. Hides environment variables and headers, because they may be secrets. */
function formatIssueValue({ path, input }: z.core.$ZodIssue): string {
  const isSecret = path[0] === "env_vars" || path.includes("headers");
  return isSecret && input !== undefined ? typeName(input) : preview(input);
}

type AgentConfiguration = z.output<typeof agentConfigurationSchema>;

/** An advisory check of a file: it finds values that contradict the plain meaning of their field. */
interface NoteCheck {
  readonly check: string;
  readonly clause: FileClause;
  readonly find: (file: AgentConfiguration) => readonly Breach[];
}

const noteChecks: readonly NoteCheck[] = [
  { check: "CFG-9/positive", clause: "CFG-9", find: timeoutsWithoutTime },
  { check: "CFG-11/complete", clause: "CFG-11", find: incompleteEntrypoints },
  { check: "CFG-11/distinct", clause: "CFG-11", find: repeatedTags },
  { check: "CFG-12", clause: "CFG-12", find: tagsAlmostStreaming },
  { check: "CFG-13/events", clause: "CFG-13", find: endpointsWithoutEvents },
];

/**
 * Returns the findings of all advisory checks. If the file breaks a must clause, `file` is `null` and every check is
 * skipped.
 */
const notesOn = (file: AgentConfiguration | null): FileFinding[] =>
  noteChecks.flatMap(({ check, clause, find }): FileFinding[] => {
    const head = { check, clause, level: "advisory" } as const;
    if (file === null) return [{ ...head, kind: "skipped", reason: "the file breaks a must clause" }];
    const breaches = find(file);
    return breaches.length === 0
      ? [{ ...head, kind: "holds" }]
      : breaches.map((breach) => ({ ...head, kind: "breach", ...breach }));
  });

const entrypointPath = ["agent_architecture", "entrypoints"] as const;

const breach = (path: Breach["path"], expected: string, actual: unknown): Breach => ({
  path,
  expected: `${formatPath(path)}: ${expected}`,
  actual: preview(actual),
});

function timeoutsWithoutTime({ deployment }: AgentConfiguration): readonly Breach[] {
  const timeout = deployment?.timeout ?? 30;
  return Number(timeout) > 0 ? [] : [breach(["deployment", "timeout"], "a number of seconds above 0", timeout)];
}

function incompleteEntrypoints({ agent_architecture }: AgentConfiguration): readonly Breach[] {
  const names = ["file", "module"] as const;
  return agent_architecture.entrypoints.flatMap((entrypoint, index) =>
    names
      .filter((name) => (entrypoint[name] ?? null) === null)
      .map((name) => breach([...entrypointPath, index, name], "a string", entrypoint[name])),
  );
}

function repeatedTags({ agent_architecture }: AgentConfiguration): readonly Breach[] {
  const tags = agent_architecture.entrypoints.map(({ tag }) => tag);
  return tags.flatMap((tag, index) =>
    tags.indexOf(tag) === index
      ? []
      : [breach([...entrypointPath, index, "tag"], `a tag of its own, other than that of [${tags.indexOf(tag)}]`, tag)],
  );
}

/** Matches a form of "stream" at the end of a name, such as `chat-Stream` or `chat_streaming`. */
const almostStreamSuffix = /(^|[^a-z])stream(ing|ed)?$/i;

/** Finds entrypoints whose tag or function name suggests streaming, although the tag does not end in `_stream`. */
function tagsAlmostStreaming({ agent_architecture }: AgentConfiguration): readonly Breach[] {
  return agent_architecture.entrypoints.flatMap(({ tag, module }, index) => {
    const saysStream = almostStreamSuffix.test(tag) || tag.endsWith("Stream") || module?.endsWith("_stream") === true;
    if (tag.endsWith("_stream") || !saysStream) return [];
    return [breach([...entrypointPath, index, "tag"], "a tag that ends in _stream, if this entrypoint streams", tag)];
  });
}

function endpointsWithoutEvents({ webhooks }: AgentConfiguration): readonly Breach[] {
  return (webhooks?.endpoints ?? []).flatMap(({ events }, index) =>
    (events ?? []).length > 0
      ? []
      : [breach(["webhooks", "endpoints", index, "events"], "at least one event type", events)],
  );
}
