import { isObject, getPath } from "../../base/json.ts";
import { parseBoundedJson } from "../../base/bounded-json.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { CreatedResource } from "../../report/model/report.ts";

/**
 * Lists the webhooks, alerts and operations that a run left on its target: a POST request got a 2xx response. Sorted like the exchanges.
 *
 * @param started start of the run, to which the times of exchanges are relative
 */
export function createdResources(exchanges: readonly Exchange[], started: Date): CreatedResource[] {
  return exchanges.flatMap(({ id, key, request, answer }): CreatedResource[] => {
    if (request.method !== "POST" || answer.kind !== "answered") return [];
    if (answer.status < 200 || answer.status > 299) return [];
    const resource = resourceOf(request.url, answer.body.kind === "text" ? answer.body.text : "");
    if (resource === null) return [];
    return [{ ...resource, key, at: new Date(started.getTime() + answer.endMs).toISOString(), exchange: id }];
  });
}

function resourceOf(url: string, text: string): Pick<CreatedResource, "kind" | "id"> | null {
  const records = recordsIn(text);
  const path = url.replace(/[?#].*/, "").replace(/\/+$/, "");
  if (path.endsWith("/webhooks")) return { kind: "webhook", id: idIn(records, ["webhook_id", "id"]) };
  if (path.endsWith("/alerts")) return { kind: "alert", id: idIn(records, ["alert_id", "id"]) };
  const operation = idIn(records, ["operation_id"]);
  return operation === null ? null : { kind: "operation", id: operation };
}

type Members = Readonly<Record<string, unknown>>;

/**
 * Returns the objects in a response body that may be the created resource: the body itself, and objects in its envelope. The document does
 * not say which it is.
 */
function recordsIn(text: string): Members[] {
  const records: Members[] = [];
  let inner = parseBoundedJson(text);
  for (let depth = 0; depth < maxDepth && isObject(inner); depth++) {
    records.push(inner);
    inner = ["data", "result", "webhook", "alert", "operation"].map((name) => getPath(inner, name)).find(isObject);
  }
  return records;
}

const maxDepth = 4;

/** Returns the first id that any of the objects has under one of these names; `null` if there is none. Earlier names take precedence. */
const idIn = (records: readonly Members[], names: readonly string[]): string | null =>
  names.flatMap((name) => records.flatMap((record) => idOf(getPath(record, name))))[0] ?? null;

const idOf = (value: unknown): string[] =>
  typeof value === "number" || (typeof value === "string" && value !== "") ? [String(value)] : [];
