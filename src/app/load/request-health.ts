import { performance } from "node:perf_hooks";

import type { Exchange } from "../../evidence/exchange.ts";
import { agentPath } from "../../run/send/client.ts";
import type { Target, TargetKey } from "../../target/target.ts";
import { openTransport } from "../../wire/transport.ts";

/**
 * Requests an agent's health with a key, for the rate-limit headers of the response. Health requests do not count
 * against rate limits.
 */
export async function requestHealth({ baseUrl, network, agents }: Target, { key, name }: TargetKey): Promise<Exchange> {
  const wire = openTransport({ now: () => performance.now(), clockOffsetMs: () => 0, network });
  try {
    return await wire.open({
      method: "GET",
      url: baseUrl + agentPath(agents.answering ?? "", "health"),
      headers: [
        ["authorization", `Bearer ${key}`],
        ["accept", "application/json"],
      ],
      body: null,
      key: name,
    }).finished;
  } finally {
    await wire.close();
  }
}
