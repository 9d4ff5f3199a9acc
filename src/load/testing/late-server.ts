import { createHmac } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

import { listenOnLoopback } from "../../base/network/network.ts";
import { headerNames } from "../../spec/headers.ts";
import { publishedTiers } from "../../spec/tiers.ts";

/** Delays and duplicates of a server that the document allows. */
export interface Lateness {
  /** How many reads of usage after the load still return the report of before the load. */
  readonly staleReports: number;
  /** Number of copies of each delivery except the last one. */
  readonly copies: number;
  /** Delay of the last delivery in ms. */
  readonly lastDeliveryMs: number;
}

interface Hook {
  readonly url: string;
  readonly secret: string;
}

const { perMinute } = publishedTiers.pro;

/**
 * Starts a server on loopback that admits everything, with late and duplicated reports. The last of `invokes` requests
 * causes the last delivery.
 */
export async function startLateServer(late: Lateness, invokes: number) {
  let admitted = 0;
  let staleReports = late.staleReports;
  const hooks: Hook[] = [];
  const sending = new Set<Promise<unknown>>();
  const invoked = (response: ServerResponse): void => {
    admitted += 1;
    const requestId = `r${admitted}`;
    const isLast = admitted === invokes;
    for (const hook of hooks)
      for (let copy = 0; copy < (isLast ? 1 : late.copies); copy += 1)
        sending.add(deliver(hook, requestId, isLast ? late.lastDeliveryMs : 0));
    answer(response, admitted, {
      result: {},
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    });
  };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      if (request.url === "/v1/usage") {
        const isStale = admitted > 0 && staleReports > 0;
        if (isStale) staleReports -= 1;
        return answer(response, admitted, reportOf(isStale ? 0 : admitted));
      }
      if (request.url?.endsWith("/invoke")) return invoked(response);
      if (request.url !== "/v1/webhooks") return answer(response, admitted, {});
      hooks.push(JSON.parse(body) as Hook);
      return answer(response, 0, { webhook_id: "w1" });
    });
  });
  const port = await listenOnLoopback(server);
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    tiers: { pro: publishedTiers.pro },
    issueKey: () => Promise.resolve({ key: "ak_made-for-a-test" }),
    close: async () => {
      await Promise.all(sending);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const reportOf = (used: number) => ({
  period: "2026-11-01T00:00:00Z",
  requests: { used, limit: 1_000_000, remaining: 1_000_000 - used },
  tokens: { used: 2 * used, limit: 2_000_000, remaining: 2_000_000 - 2 * used },
});

async function deliver({ url, secret }: Hook, requestId: string, afterMs: number): Promise<void> {
  await sleep(afterMs);
  const body = JSON.stringify({ id: `e-${requestId}`, type: "agent.completed", data: { request_id: requestId } });
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  await fetch(url, { method: "POST", body, headers: { [headerNames.deliverySignature]: signature } });
}

function answer(response: ServerResponse, used: number, body: unknown): void {
  response.writeHead(200, {
    "content-type": "application/json",
    "x-ratelimit-limit": perMinute,
    "x-ratelimit-remaining": Math.max(0, perMinute - used),
    "x-ratelimit-reset": Math.ceil(Date.now() / 1000) + 30,
    "x-ratelimit-reset-after": 30,
  });
  response.end(JSON.stringify(body));
}
