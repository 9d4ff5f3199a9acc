import { getPath } from "../base/json.ts";

/**
 * Whether a body is the document's generic envelope: `status` `success` with `data`, or `status` `error` with `error`.
 */
const isEnvelope = (body: unknown): boolean =>
  (getPath(body, "status") === "success" && getPath(body, "data") !== undefined) ||
  (getPath(body, "status") === "error" && getPath(body, "error") !== undefined);

/**
 * Returns the fields of a response in either published form: at the top level, or in `data` or `data.result` of the
 * generic envelope. `known` lists fields of the endpoint, by which the function recognises the right object.
 */
export function endpointFields(body: unknown, known: readonly string[]): unknown {
  if (known.some((name) => getPath(body, name) !== undefined && !isEnvelope(body))) return body;
  for (const inner of [getPath(body, "data", "result"), getPath(body, "data")])
    if (known.some((name) => getPath(inner, name) !== undefined)) return inner;
  return body;
}

/** Returns the content of a success envelope, or the body itself if the body is not an envelope. */
export function envelopeContent(body: unknown): unknown {
  const data = getPath(body, "data");
  const result = getPath(data, "result");
  if (getPath(body, "status") !== "success" || Array.isArray(data)) return body;
  return result !== undefined && !Array.isArray(result) ? result : (data ?? body);
}
