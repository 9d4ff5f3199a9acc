import { member } from "../base/json.ts";

/** Whether a body is the published envelope: `status` of `success` or `error` beside `data` or `error`. */
const isEnvelope = (body: unknown): boolean =>
  (member(body, "status") === "success" && member(body, "data") !== undefined) ||
  (member(body, "status") === "error" && member(body, "error") !== undefined);

/**
 * The fields of an endpoint's answer in either published shape: at the top level, or in `data` or `data.result` of the
 * envelope. `known` names fields by which the endpoint's own are told from the envelope's.
 */
export function fieldsIn(body: unknown, known: readonly string[]): unknown {
  if (known.some((name) => member(body, name) !== undefined && !isEnvelope(body))) return body;
  for (const inner of [member(body, "data", "result"), member(body, "data")])
    if (known.some((name) => member(inner, name) !== undefined)) return inner;
  return body;
}
