import { getPath } from "../base/json.ts";

const isEnvelope = (body: unknown): boolean =>
  (getPath(body, "status") === "success" && getPath(body, "data") !== undefined) ||
  (getPath(body, "status") === "error" && getPath(body, "error") !== undefined);

/** Finds the object that holds a response's fields: the body, or its `data` or `data.result`. */
export function endpointFields(body: unknown, known: readonly string[]): unknown {
  if (known.some((name) => getPath(body, name) !== undefined && !isEnvelope(body))) return body;
  for (const inner of [getPath(body, "data", "result"), getPath(body, "data")])
    if (known.some((name) => getPath(inner, name) !== undefined)) return inner;
  return body;
}

/** Returns a success response's `data.result` or `data`, or else the body itself. */
export function envelopeContent(body: unknown): unknown {
  const data = getPath(body, "data");
  const result = getPath(data, "result");
  if (getPath(body, "status") !== "success" || Array.isArray(data)) return body;
  return result !== undefined && !Array.isArray(result) ? result : (data ?? body);
}
