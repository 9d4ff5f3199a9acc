import type { Exchange } from "../../evidence/exchange.ts";
import { agentPath, type Client } from "../../run/client.ts";
import { hello } from "./traffic.ts";
import { whole } from "./later.ts";

/** Cut off, so that it creates nothing should it be let in. */
const malformed = { ...whole, text: '{"url": "https://' } as const;

/**
 * Asks other endpoints than invoke while a key's allowance is used up: what they answer is judged with all answers.
 *
 * @param isThorough all of them, not only those that need a key and an agent
 * @returns what came of the stream: it counts as an invoke does
 */
export async function askElsewhere(client: Client, agent: string, isThorough: boolean): Promise<Exchange> {
  const stream = await client.send("POST", agentPath(agent, "stream"), {
    ...whole,
    json: hello,
    accept: "text/event-stream",
  });
  await client.send("GET", "/agents?page=1&limit=2", whole);
  if (!isThorough) return stream;
  await client.send("GET", "/usage", whole);
  await client.send("GET", "/keys/usage", whole);
  await client.send("GET", "/webhooks/no-such-webhook-7f3a/deliveries", whole);
  await client.send("GET", "/operations/no-such-operation-7f3a", whole);
  await client.send("POST", "/webhooks", malformed);
  await client.send("POST", "/alerts", malformed);
  return stream;
}
