import { getPath, isObject } from "../../../base/json.ts";
import type { ClauseId } from "../../../spec/clauses.ts";
import { type FieldRow, type FieldTableName, type FieldType, fieldTableOf } from "../../../spec/fields.ts";
import { type JsonPath, replaceAt, jsonPathsOf, valueAt } from "../edits.ts";
import type { MutableMessage } from "../messages.ts";
import { type Mutant, mutantOf } from "../mutant.ts";

const otherTypes: Readonly<Record<FieldType, Readonly<Record<string, unknown>>>> = {
  string: { "a number": 7, true: true, "an object": { text: "seven" }, "a list": ["seven"] },
  integer: { "a string": "7", "a fraction": 7.5, true: true, "an object": { value: 7 } },
  number: { "a string": "7", words: "fast", true: true, "a list": [7] },
  object: { "a string": "seven", "a list": [{ text: "seven" }], "a number": 7, false: false },
  array: { "an object": { first: "seven" }, "a string": "seven", "a number": 7 },
  timestamp: {
    "Unix seconds": 1_772_600_767,
    "Unix seconds as text": "1772600767",
    words: "yesterday",
    "no such day": "2026-02-30T05:06:07Z",
  },
  "UTC timestamp": {
    "Unix seconds": 1_772_600_767,
    words: "yesterday",
    "no such day": "2026-02-30T05:06:07Z",
    "another zone": "2026-03-04T05:06:07+05:00",
  },
  "operation path": { "a number": 7, "another path": "/v1/jobs/7", "an address without a version": "/operations/7" },
};

interface FieldValueChange {
  readonly operator: string;
  /** The new value of the field; `undefined` removes the field. */
  readonly to: unknown;
  readonly isLegal?: boolean;
}

function changesOf(
  row: FieldRow,
  value: unknown,
  isNeeded: boolean,
  mayBeNull: boolean,
  tookMs: number | null,
): FieldValueChange[] {
  const field = isNeeded ? "a required field" : "an optional field";
  const isPartOfMap = /\*$|\[\]$/.test(row.path);
  return [
    ...(isPartOfMap
      ? []
      : [
          { operator: `${field} left out`, to: undefined, isLegal: !isNeeded },
          { operator: `${field} \`null\``, to: null, isLegal: !isNeeded || mayBeNull },
        ]),
    ...Object.entries(otherTypes[row.type]).map(([what, to]) => ({ operator: `${what} for ${row.type}`, to })),
    ...(row.oneOf === null
      ? []
      : [
          { operator: "a value that is not of the list", to: "unheard-of" },
          { operator: "a value of the list in upper case", to: String(value).toUpperCase() },
        ]),
    ...unitChanges(row, value, tookMs),
  ];
}

/**
 * A mutant states `execution_time` in milliseconds only if the value exceeds the measured duration by more than this. A
 * slow server could explain a smaller excess.
 */
const minExcessSeconds = 5;

function unitChanges({ unit, path }: FieldRow, value: unknown, tookMs: number | null): FieldValueChange[] {
  if (unit === null || typeof value !== "number") return [];
  const isDuration = unit === "seconds" && path.endsWith("execution_time");
  const inMs = isDuration && tookMs !== null ? Math.max(value * 1000, Math.round(tookMs)) : value * 1000;
  const isFar = !isDuration || tookMs === null || inMs > tookMs / 1000 + minExcessSeconds;
  return [
    { operator: "a negative quantity", to: -1 - value },
    ...(unit === "seconds" && isFar && inMs !== value ? [{ operator: "milliseconds for seconds", to: inMs }] : []),
    ...(unit === "percent" && value > 1 ? [{ operator: "a share above 100", to: value * 100 }] : []),
  ];
}

export const fieldMutants = (message: MutableMessage): Mutant[] =>
  message.tables.flatMap(({ name, steps: root }) =>
    (fieldTableOf(name).fields ?? []).flatMap((row) => {
      const found = jsonPathsOf(valueAt(message.value, root), row.path);
      // Changes only the first element of a map or a list, because all elements have the same rules.
      return found.slice(0, 1).flatMap((within) => mutantsAt(message, name, row, [...root, ...within]));
    }),
  );

function mutantsAt(message: MutableMessage, table: FieldTableName, row: FieldRow, steps: JsonPath): Mutant[] {
  const value = valueAt(message.value, steps);
  if (value === null) return [];
  const name = `${table}.${row.path}`;
  const root = valueAt(message.value, steps.slice(0, steps.length - row.path.split(/\.|(?=\[)/).length));
  const requiredBy = requiringClause(table, row.path, root);
  const expects = [row.clause, ...(requiredBy === null ? [] : [requiredBy]), ...(relatedClauses[name] ?? [])];
  return changesOf(row, value, row.isRequired || requiredBy !== null, nullableFields.has(name), message.tookMs).map(
    ({ operator, to, isLegal = false }) =>
      mutantOf(operator, { place: message.place, subject: row.path, id: message.id }, isLegal ? [] : expects, () =>
        message.with(replaceAt(message.value, steps, to)),
      ),
  );
}

/** Returns mutants that add unknown fields to objects. Maps are left out, because they may have any key. */
export function unknownFieldMutants(message: MutableMessage): Mutant[] {
  const maps = new Set(
    message.tables.flatMap(({ name }) =>
      (fieldTableOf(name).fields ?? []).flatMap(({ path }) => (path.endsWith(".*") ? [path.slice(0, -2)] : [])),
    ),
  );
  const paths = message.tables.flatMap(({ name, steps }) =>
    (fieldTableOf(name).fields ?? [])
      .filter(({ type, path }) => type === "object" && !maps.has(path))
      .flatMap(({ path }) => jsonPathsOf(valueAt(message.value, steps), path).map((within) => [...steps, ...within])),
  );
  return [[], ...paths].flatMap((steps) => {
    const holder = valueAt(message.value, steps);
    if (!isObject(holder)) return [];
    const where = { place: message.place, subject: steps.join(".") || "the body", id: message.id };
    return [
      mutantOf("unknown fields", where, [], () =>
        message.with(replaceAt(message.value, steps, { ...unknownFields, ...holder, x_last: "more" })),
      ),
    ];
  });
}

const unknownFields = { x_text: "more", x_null: null, x_object: { more: [1, "two", null] } } as const;

const forms = ["ERR-3", "ERR-4"] as const;
const limitErrorClauses = ["HDR-18", "ERR-16"] as const;

/** Clauses that a changed field can break in addition to the clause of its row in src/spec/fields.ts. */
const relatedClauses: Readonly<Record<string, readonly ClauseId[]>> = {
  "invoke.metadata.execution_time": ["INV-9"],
  "invoke.result": ["REQ-7"],
  "health.uptime": ["HLT-17"],
  "health.checks.agent.response_time_ms": ["HLT-17"],
  "health.checks.resources.memory_usage_percent": ["HLT-17"],
  "health.checks.resources.cpu_usage_percent": ["HLT-17"],
  "done.execution_time": ["SSE-31"],
  "completed.data.execution_time": ["HOOK-41"],
  "formA.error": [...forms, "ERR-5", "ERR-6"],
  "formA.error.status": ["ERR-2", ...forms],
  "envelope.status": ["REQ-7"],
  "formB.status": forms,
  "formB.error": [...forms, "ERR-5"],
  "formALimited.error.retry_after": limitErrorClauses,
  "formBLimited.error.details": limitErrorClauses,
  "formBLimited.error.details.retry_after": limitErrorClauses,
  "formBLimited.error.details.reset_at": ["ERR-8", ...limitErrorClauses],
};

/** A field that is optional in its table, but required by another clause in some objects. */
interface ConditionalField {
  readonly table: FieldTableName;
  readonly path: string;
  readonly where: (root: unknown) => boolean;
  readonly clause: ClauseId;
}

const conditionallyRequired: readonly ConditionalField[] = [
  { table: "health", path: "warnings", where: (root) => getPath(root, "status") === "degraded", clause: "HLT-14" },
  {
    table: "streamError",
    path: "retry_after",
    where: (root) => getPath(root, "code") === "CAPACITY_ERROR",
    clause: "SSE-19",
  },
  {
    table: "formB",
    path: "error.details",
    where: (root) => getPath(root, "error", "code") === "INVALID_INPUT",
    clause: "ERR-15",
  },
  {
    table: "formB",
    path: "error.details",
    where: (root) => String(getPath(root, "error", "code")).startsWith("RATE_LIMIT"),
    clause: "ERR-8",
  },
];

const requiringClause = (table: FieldTableName, path: string, root: unknown): ClauseId | null =>
  conditionallyRequired.find((each) => each.table === table && each.path === path && each.where(root))?.clause ?? null;

/** Required fields that may be `null` as long as the server has no value for them. */
const nullableFields: ReadonlySet<string> = new Set([
  "webhookMetrics.average_response_time",
  "webhookMetrics.last_delivery",
]);
