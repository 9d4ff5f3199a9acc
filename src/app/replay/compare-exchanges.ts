import { tryParseJson, getPath } from "../../base/json.ts";
import { type Answered, type Body, bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { rateLimitHeaders } from "../../spec/headers.ts";

/**
 * The comparison of one property of two responses, such as the status. `usual` marks a normal difference, e.g. in the
 * `Date` header. `value` marks any other difference that is not significant.
 */
export interface DifferenceRow {
  readonly mark: "same" | "significant" | "value" | "usual";
  readonly name: string;
  readonly kept: string;
  readonly now: string;
}

export const hasSignificantDifference = (rows: readonly DifferenceRow[]): boolean =>
  rows.some(({ mark }) => mark === "significant");

export function compareExchanges(kept: Exchange, now: Exchange): DifferenceRow[] {
  const [was, is] = [kept.answer, now.answer];
  if (was.kind === "unanswered" || is.kind === "unanswered")
    return [differenceRow("response", statusText(kept), statusText(now), "significant")];
  return [
    differenceRow("status", String(was.status), String(is.status), "significant"),
    ...(was.ending.kind === is.ending.kind
      ? []
      : [differenceRow("ending", was.ending.kind, is.ending.kind, "significant")]),
    ...headerRows(was, is),
    ...(was.events.length + is.events.length > 0 ? eventRows(was, is) : bodyRows(kept, now, was, is)),
  ];
}

const differenceRow = (
  name: string,
  kept: string,
  now: string,
  mark: Exclude<DifferenceRow["mark"], "same">,
): DifferenceRow => ({
  mark: kept === now ? "same" : mark,
  name,
  kept,
  now,
});

export const statusText = ({ answer }: Exchange): string =>
  answer.kind === "answered" ? String(answer.status) : answer.reason;

const rateLimitNames = new Set<string>(rateLimitHeaders.map((name) => name.toLowerCase()));
const usuallyDifferentNames = new Set([
  ...rateLimitNames,
  "date",
  "age",
  "content-length",
  "retry-after",
  "set-cookie",
  "connection",
  "keep-alive",
  "transfer-encoding",
]);
const isUsuallyDifferent = (name: string): boolean =>
  usuallyDifferentNames.has(name) || /request-?id|trace|^etag$|^cf-ray$/.test(name);

function headerRows(was: Answered, is: Answered): DifferenceRow[] {
  const [kept, now] = [headersByName(was), headersByName(is)];
  return [...new Set([...kept.keys(), ...now.keys()])].map((name): DifferenceRow => {
    const [before = "absent", after = "absent"] = [kept.get(name), now.get(name)];
    const isInBoth = kept.has(name) && now.has(name);
    const isOfInterface = rateLimitNames.has(name) || name === "content-type" || name === "retry-after";
    const isOther = name === "content-type" && mediaType(before) !== mediaType(after);
    const isSignificant = isInBoth ? isOther : isOfInterface;
    const usual = isUsuallyDifferent(name) ? "usual" : "value";
    return differenceRow(name, before, after, isSignificant ? "significant" : usual);
  });
}

const mediaType = (value: string): string => (value.split(";")[0] ?? "").trim().toLowerCase();

function headersByName({ headers }: Answered): Map<string, string> {
  const values = Map.groupBy(headers, ([name]) => name.toLowerCase());
  return new Map([...values].map(([name, each]) => [name, each.map(([, value]) => value).join(", ")]));
}

function bodyRows(kept: Exchange, now: Exchange, was: Answered, is: Answered): DifferenceRow[] {
  const [before, after] = [bodyJson(kept), bodyJson(now)];
  if (before !== undefined && after !== undefined) return jsonRows(before, after, "body");
  const [kindBefore, kindAfter] = [bodyFormOf(was.body, before), bodyFormOf(is.body, after)];
  if (kindBefore !== kindAfter) return [differenceRow("body", kindBefore, kindAfter, "significant")];
  return kindBefore === "none" ? [] : [differenceRow("body", bodyText(was.body), bodyText(is.body), "value")];
}

function bodyFormOf({ kind }: Body, json: unknown): string {
  if (json !== undefined) return "JSON";
  if (kind === "text") return "text that is not JSON";
  if (kind === "base64") return "bytes that are not UTF-8";
  return kind === "cut" ? "too long to be saved completely" : "none";
}

function bodyText(body: Body): string {
  switch (body.kind) {
    case "none":
      return "";
    case "text":
      return body.text;
    case "base64":
      return body.base64;
    case "cut":
      return `${body.bytes} bytes, SHA-256 ${body.sha256}`;
  }
}

function jsonRows(before: unknown, after: unknown, name: string): DifferenceRow[] {
  const [was, is] = [flattenJson(before, name), flattenJson(after, name)];
  const shapes = shapeChanges(was, is).map(({ path, kept, now }) => differenceRow(path, kept, now, "significant"));
  const values = [...was.values].flatMap(([path, kept]) => {
    const now = is.values.get(path);
    return now === undefined
      ? []
      : [differenceRow(path, kept, now, path === `${name}.error.code` ? "significant" : "value")];
  });
  const changed = new Set(shapes.map(({ name: path }) => path));
  return [...shapes, ...values.filter(({ name: path }) => !changed.has(path))];
}

function eventRows(was: Answered, is: Answered): DifferenceRow[] {
  const [before, after] = [eventNamesText(was), eventNamesText(is)];
  const isSame = withoutChunkCounts(before) === withoutChunkCounts(after);
  return [differenceRow("events", before, after, isSame ? "value" : "significant"), ...firstEventRows(was, is)];
}

function eventNamesText({ events }: Answered): string {
  const runs: { name: string; count: number }[] = [];
  for (const { name } of events) {
    const last = runs.at(-1);
    if (last !== undefined && last.name === (name ?? "message")) last.count += 1;
    else runs.push({ name: name ?? "message", count: 1 });
  }
  return runs.map(({ name, count }) => (count === 1 ? name : `${name} × ${count}`)).join(", ") || "none";
}

const withoutChunkCounts = (names: string): string => names.replace(/\bchunk(?: × \d+)?/g, "chunk");

function firstEventRows(was: Answered, is: Answered): DifferenceRow[] {
  return [...new Set(was.events.map(({ name }) => name))].flatMap((name) => {
    const [before, after] = [was, is].map(({ events }) => events.find((event) => event.name === name));
    if (before === undefined || after === undefined) return [];
    const [kept, now] = [tryParseJson(before.data), tryParseJson(after.data)];
    const label = `event ${name ?? "message"}`;
    if (kept === undefined || now === undefined) {
      const form = (json: unknown): string => (json === undefined ? "not JSON" : "JSON");
      return [differenceRow(label, form(kept), form(now), "significant")];
    }
    const codes = [kept, now].map((json) => valueText(getPath(json, "code"))) as [string, string];
    const code = codes[0] === codes[1] ? [] : [differenceRow(`${label}.code`, ...codes, "significant")];
    return [...code, ...jsonRows(kept, now, label).filter((each) => each.name !== `${label}.code`)];
  });
}

const valueText = (value: unknown): string => (value === undefined ? "absent" : JSON.stringify(value));

/** Maximum depth of JSON values to compare. Deeper values are ignored. */
const maxComparedDepth = 30;
/** Maximum number of JSON leaves to compare by value. Beyond it, only types are compared, and not at every path. */
const maxComparedValues = 2000;

/** A flattened JSON value: the JSON text of each leaf by its path, such as `body.items[0].id`. */
interface FlatJson {
  readonly values: ReadonlyMap<string, string>;
  /** Types of the values at each path, such as `string`. Paths have `[]` in place of an array index. */
  readonly kinds: ReadonlyMap<string, ReadonlySet<string>>;
  readonly empty: ReadonlySet<string>;
}

function flattenJson(json: unknown, name: string): FlatJson {
  const values = new Map<string, string>();
  const kinds = new Map<string, Set<string>>();
  const empty = new Set<string>();
  const walk = (value: unknown, path: string, shape: string, depth: number): void => {
    const known = kinds.get(shape) ?? new Set<string>();
    kinds.set(shape, known.add(jsonTypeOf(value)));
    if (values.size >= maxComparedValues) return;
    if (typeof value !== "object" || value === null || depth >= maxComparedDepth) {
      values.set(path, depth >= maxComparedDepth ? "…" : JSON.stringify(value));
      return;
    }
    if (Array.isArray(value)) {
      if (value.length === 0) empty.add(shape);
      value.forEach((each, index) => walk(each, `${path}[${index}]`, `${shape}[]`, depth + 1));
    } else for (const [key, each] of Object.entries(value)) walk(each, `${path}.${key}`, `${shape}.${key}`, depth + 1);
  };
  walk(json, name, name, 0);
  return { values, kinds, empty };
}

function jsonTypeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

interface JsonTypeChange {
  readonly path: string;
  readonly kept: string;
  readonly now: string;
}

/**
 * Returns the paths at which two JSON values have different types, but no path below a returned path. Ignores the items
 * of an array that is empty in one of the values.
 */
function shapeChanges(kept: FlatJson, now: FlatJson): JsonTypeChange[] {
  const changes: JsonTypeChange[] = [];
  const isBelow = (path: string, above: string): boolean =>
    path.startsWith(above) && /^[.[]/.test(path.slice(above.length));
  const isOpen = (path: string): boolean =>
    [...kept.empty, ...now.empty].some((array) => path.startsWith(`${array}[]`)) ||
    changes.some((change) => isBelow(path, change.path));
  for (const path of new Set([...kept.kinds.keys(), ...now.kinds.keys()])) {
    const [was, is] = [typesAt(kept, path), typesAt(now, path)];
    if (was !== is && !isOpen(path)) changes.push({ path, kept: was, now: is });
  }
  return changes;
}

const typesAt = ({ kinds }: FlatJson, path: string): string =>
  [...(kinds.get(path) ?? ["absent"])].toSorted().join(" or ");
