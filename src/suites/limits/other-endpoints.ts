import type { Exchange } from "../../evidence/exchange.ts";
import { agentPath, type Client } from "../../run/send/client.ts";
import { hello } from "./exhaust.ts";
import { unpacedRequest } from "./timed-retry.ts";

/** Truncated JSON, so that an admitted request creates nothing. */
const malformed = { ...unpacedRequest, text: '{"url": "https://' } as const;

/**
 * Sends requests to other endpoints while a key's allowance is exhausted, for the checks of all responses.
 * @param isThorough whether to request all endpoints instead of only stream and list
 * @returns the exchange of the stream, which counts as an invoke does
 */
export async function requestOtherEndpoints(client: Client, agent: string, isThorough: boolean): Promise<Exchange> {
  const stream = await client.send("POST", agentPath(agent, "stream"), {
    ...unpacedRequest,
    json: hello,
    accept: "text/event-stream",
  });
  await client.send("GET", "/agents?page=1&limit=2", unpacedRequest);
  if (!isThorough) return stream;
  await client.send("GET", "/usage", unpacedRequest);
  await client.send("GET", "/keys/usage", unpacedRequest);
  await client.send("GET", "/webhooks/no-such-webhook-7f3a/deliveries", unpacedRequest);
  await client.send("GET", "/operations/no-such-operation-7f3a", unpacedRequest);
  await client.send("POST", "/webhooks", malformed);
  await client.send("POST", "/alerts", malformed);
  return stream;
}
