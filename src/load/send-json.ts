import type { Exchange } from "../evidence/exchange.ts";
import type { Transport } from "../wire/transport.ts";
import type { EngineOptions } from "./engine.ts";

/** Sends a request of the harness itself, outside the load, with the main key. */
export function sendJson(
  options: EngineOptions,
  wire: Transport,
  method: string,
  path: string,
  json: unknown,
): Promise<Exchange> {
  return wire.open({
    method,
    url: options.baseUrl + path,
    headers: [
      ["authorization", `Bearer ${options.keys.main ?? ""}`],
      ["accept", "application/json"],
      ...(json === null ? [] : [["content-type", "application/json"] as const]),
    ],
    body: json === null ? null : JSON.stringify(json),
    key: "main",
  }).finished;
}
