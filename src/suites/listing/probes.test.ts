import { expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import type { Client } from "../../run/send/client.ts";
import { exchange } from "../testing/evidence.ts";
import { listPages } from "./probes.ts";

/** A client whose target reverses its list with each request. `sent` gets the requirement set of each request. */
function reversingClient(sent: string[], since = "1.1"): Pick<Client, "send" | "since"> {
  const pagination = { page: 1, limit: 1, total: 2, pages: 2 };
  return {
    since: (requirements) => reversingClient(sent, requirements) as Client,
    send: async (_, path): Promise<Exchange> => {
      sent.push(since);
      return exchange({ path, json: { data: [{ agent_id: ["even", "odd"][sent.length % 2] }], pagination } });
    },
  };
}

it("pages that are read again are requests of set 1.2", async () => {
  const sent: string[] = [];
  const client = reversingClient(sent) as Client;
  await listPages(client, { limit: 1, count: 3, maxTries: 2 });
  expect(sent).toEqual(["1.1", "1.1", "1.1", "1.2", "1.2", "1.2", "1.2", "1.2"]);
});
