import { createServer, type ServerResponse } from "node:http";

import { z } from "zod";

import { listenOnLoopback } from "../../src/base/network/network.ts";

const optionsSchema = z.object({
  headers: z.record(z.string(), z.string()),
  writes: z.array(z.string()),
});

/** Starts a `node:http` server that answers each request with the same bytes (`writes`), one chunk after the other. */
export async function start(options: unknown): Promise<{ readonly url: string; readonly key: string }> {
  const { headers, writes } = optionsSchema.parse(options);
  const server = createServer((request, response) => {
    request.resume();
    request.once("end", () => void answer(response, headers, writes));
  });
  return { url: `http://127.0.0.1:${await listenOnLoopback(server)}/v1`, key: "" };
}

async function answer(
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
  writes: readonly string[],
): Promise<void> {
  response.writeHead(200, headers);
  const [whole, ...more] = writes;
  if (more.length === 0) return void response.end(whole);
  response.flushHeaders();
  for (const bytes of writes)
    if (!response.write(bytes)) await new Promise((resolve) => response.once("drain", resolve));
  response.end();
}
