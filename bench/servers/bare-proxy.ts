import { createServer } from "node:http";

import { Agent } from "undici";
import { z } from "zod";

import { listenOnLoopback } from "../../src/base/network/network.ts";

const optionsSchema = z.object({ upstream: z.string() });

/** Starts a minimal proxy in front of `upstream`. It streams requests and responses with undici, and judges nothing. */
export async function start(options: unknown): Promise<{ readonly url: string; readonly key: string }> {
  const { upstream } = optionsSchema.parse(options);
  const { origin, pathname } = new URL(upstream);
  const agent = new Agent();
  const server = createServer((request, response) => {
    void agent
      .stream(
        {
          origin,
          path: request.url ?? "/",
          method: request.method ?? "GET",
          headers: { "content-type": "application/json" },
          body: request.method === "GET" ? null : request,
          opaque: response,
        },
        ({ statusCode, headers }) => response.writeHead(statusCode, headers),
      )
      .catch(() => response.destroy());
  });
  return { url: `http://127.0.0.1:${await listenOnLoopback(server)}${pathname}`, key: "" };
}
