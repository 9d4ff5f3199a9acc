import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";

import { renderHtml, writeReport } from "agent-hosting-conformance";
import { conformanceTests } from "agent-hosting-conformance/vitest";
import { afterAll, beforeAll } from "vitest";

import { type Greeter, startGreeter } from "../src/server.ts";

const apiKey = "gr_0123456789abcdef";
const folder = "conformance-report";
let greeter: Greeter;
let movedMs = 0;

// The run moves our clock, so that it need not wait for minutes to pass.
const clock = createServer((request, response) => {
  void json(request).then((body) => {
    movedMs += (body as { seconds: number }).seconds * 1000;
    response.end();
  });
});

beforeAll(async () => {
  greeter = await startGreeter({ apiKey, now: () => Date.now() + movedMs });
  await new Promise<void>((resolve) => clock.listen(0, "127.0.0.1", resolve));
});

afterAll(() => {
  greeter.close();
  clock.close();
});

conformanceTests({
  title: "greeter",
  target: () => ({
    name: "greeter",
    baseUrl: greeter.baseUrl,
    keys: { pro: { key: apiKey, tier: "pro", fresh: true } },
    agents: { answering: "greeter", streaming: "greeter" },
    clock: {
      advance: {
        url: `http://127.0.0.1:${(clock.address() as AddressInfo).port}`,
        body: { seconds: "${seconds}" },
      },
    },
  }),
  // What the greeter does not offer.
  skip: ["Webhooks", "Webhook deliveries", "Usage alerts", "Keys", "Operations and batch", "Other endpoints"],
  baseline: [],
  onJudged: (judged) => {
    writeReport(judged, folder);
    writeFileSync(join(folder, "index.html"), renderHtml(judged.document));
  },
});
