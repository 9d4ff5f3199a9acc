import type { Exchange } from "../../evidence/exchange.ts";
import { endpointNames } from "../../interface/endpoints.ts";
import { probe } from "../../run/probe.ts";
import { usableKeys } from "../../target/target.ts";
import { askEach, startAsking, type Tried } from "../access/asking.ts";
import { groundOf } from "../access/requests.ts";

/** After all that creates webhooks and operations, so that there is something to ask for. */
export const expiredAsked = probe(
  "an expired key is used on every endpoint",
  { needs: ["keys.expired"], requests: 0, reads: true, lane: "limits" },
  async (scene): Promise<Tried> => {
    const ground = await groundOf(scene, "of-expired-key");
    const asking = startAsking(scene.client.as(scene.given["keys.expired"]), ground, scene);
    return { cells: await askEach(asking, "an expired key", endpointNames) };
  },
);

/** Health with every valid key, as that costs none of them anything; without an agent there is nothing that is free to ask. */
export const everyKeyUsed = probe(
  "every valid key is used once",
  { requests: 0, reads: true },
  async ({ client, target }) => {
    const agent = target.agents.answering;
    const answers: Exchange[] = [];
    if (agent !== undefined) for (const key of usableKeys(target)) answers.push(await client.as(key).health(agent));
    return { answers };
  },
);
