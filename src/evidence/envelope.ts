import { getPath } from "../base/json.ts";

/** Whether a body is the published envelope: `status` of `success` or `error` beside `data` or `error`. */
const isEnvelope = (body: unknown): boolean =>
  (getPath(body, "status") === "success" && getPath(body, "data") !== undefined) ||
  (getPath(body, "status") === "error" && getPath(body, "error") !== undefined);

/**
 * The fields of an endpoint's answer in either published shape: at the top level, or in `data` or `data.result` of the
 * envelope. `known` names fields by which the endpoint's own are told from the envelope's.
 */
export function endpointFields(body: unknown, known: readonly string[]): unknown {
  if (known.some((name) => getPath(body, name) !== undefined && !isEnvelope(body))) return body;
  for (const inner of [getPath(body, "data", "result"), getPath(body, "data")])
    if (known.some((name) => getPath(inner, name) !== undefined)) return inner;
  return body;
}
