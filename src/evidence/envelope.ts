import { getPath } from "../base/json.ts";

/** Whether a body is the generic envelope: `success` with `data`, or `error` with `error`. */
const isEnvelope = (body: unknown): boolean =>
  (getPath(body, "status") === "success" && getPath(body, "data") !== undefined) ||
  (getPath(body, "status") === "error" && getPath(body, "error") !== undefined);

/**
 * Returns the object with a response's fields: the body, or `data` or `data.result` of an envelope.
 * @param known names of the endpoint's fields
 */
export function endpointFields(body: unknown, known: readonly string[]): unknown {
  if (known.some((name) => getPath(body, name) !== undefined && !isEnvelope(body))) return body;
  for (const inner of [getPath(body, "data", "result"), getPath(body, "data")])
    if (known.some((name) => getPath(inner, name) !== undefined)) return inner;
  return body;
}

/** Returns `data.result` or `data` of a success envelope, or the body itself if it is none or `data` is a list. */
export function envelopeContent(body: unknown): unknown {
  const data = getPath(body, "data");
  const result = getPath(data, "result");
  if (getPath(body, "status") !== "success" || Array.isArray(data)) return body;
  return result !== undefined && !Array.isArray(result) ? result : (data ?? body);
}
