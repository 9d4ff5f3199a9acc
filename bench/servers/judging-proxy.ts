import { z } from "zod";

import { startProxy } from "../../src/app/proxy/run-proxy.ts";
import { plainNetwork } from "../../src/base/network/network.ts";
import { newestRequirements } from "../../src/spec/clause.ts";

const optionsSchema = z.object({ upstream: z.string() });

/** Starts the proxy of `conformance proxy`, which forwards requests to `upstream` and judges the traffic. */
export async function start(options: unknown): Promise<{ readonly url: string; readonly key: string }> {
  const { upstream } = optionsSchema.parse(options);
  const proxy = await startProxy({
    baseUrl: upstream,
    network: plainNetwork,
    host: "127.0.0.1",
    port: 0,
    tls: null,
    tiers: new Map(),
    keepsBodies: true,
    requirements: newestRequirements,
    tierName: "--tier",
    onBreach: () => {},
  });
  return { url: proxy.baseUrl, key: "" };
}
