import { isObject, getPath } from "../../base/json.ts";
import { parseBoundedJson } from "../../base/bounded-json.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { CreatedResource } from "../../report/model/report.ts";

/**
 * Lists the webhooks, alerts and operations that POST requests of a run created (their status was 2xx), in the order of
 * the exchanges.
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
  const records = candidateObjects(text);
  const path = url.replace(/[?#].*/, "").replace(/\/+$/, "");
  if (path.endsWith("/webhooks")) return { kind: "webhook", id: firstFieldValue(records, ["webhook_id", "id"]) };
  if (path.endsWith("/alerts")) return { kind: "alert", id: firstFieldValue(records, ["alert_id", "id"]) };
  const operation = firstFieldValue(records, ["operation_id"]);
  return operation === null ? null : { kind: "operation", id: operation };
}

type JsonFields = Readonly<Record<string, unknown>>;

/**
 * Returns the JSON objects in a response body that may describe the created resource: the body itself, and nested
 * objects such as `data`. The document does not say which it is.
 */
function candidateObjects(text: string): JsonFields[] {
  const records: JsonFields[] = [];
  let inner = parseBoundedJson(text);
  for (let depth = 0; depth < maxEnvelopeDepth && isObject(inner); depth++) {
    records.push(inner);
    inner = ["data", "result", "webhook", "alert", "operation"].map((name) => getPath(inner, name)).find(isObject);
  }
  return records;
}

const maxEnvelopeDepth = 4;

/** Returns the value of the first of these field names that occurs in any of the objects; `null` if none does. */
const firstFieldValue = (records: readonly JsonFields[], names: readonly string[]): string | null =>
  names.flatMap((name) => records.flatMap((record) => idTexts(getPath(record, name))))[0] ?? null;

const idTexts = (value: unknown): string[] =>
  typeof value === "number" || (typeof value === "string" && value !== "") ? [String(value)] : [];
