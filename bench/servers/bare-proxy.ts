import { createServer } from "node:http";

import { Agent } from "undici";
import { z } from "zod";

const optionsSchema = z.object({ upstream: z.string() });

/** Starts a minimal undici proxy, which streams requests and responses. */
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
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no port");
  return { url: `http://127.0.0.1:${address.port}${pathname}`, key: "" };
}
