import { member } from "../../base/json.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { endpointNames } from "../../interface/endpoints.ts";
import { type Look, probe } from "../../run/probe.ts";
import { usableKeys } from "../../target/target.ts";
import { askEach, startAsking, type Tried } from "../access/asking.ts";
import { type Call, groundOf } from "../access/requests.ts";
import { isSuccess } from "../answers/shape.ts";

/** After all that creates webhooks and operations, so that there is something to ask for. */
export const expiredAsked = probe(
  "an expired key is used on every endpoint, and on the second page of the list",
  { needs: ["keys.expired"], requests: 0, reads: true, lane: "limits" },
  async (scene): Promise<Tried> => {
    const ground = await groundOf(scene, "of-expired-key");
    const asking = startAsking(scene.client.as(scene.given["keys.expired"]), ground, scene);
    const cells = await askEach(asking, "an expired key", endpointNames);
    const second = hasSecondPage(scene.look) ? await asking.send(secondPage) : null;
    return {
      cells: second === null ? cells : [...cells, { kind: "an expired key", endpoint: "list", exchange: second }],
    };
  },
);

const secondPage: Call = { method: "GET", path: "/agents?page=2&limit=2", options: {} };

/** Whether the list has a second page of two, so that nothing but the key is a reason to refuse it. */
function hasSecondPage({ listing }: Look): boolean {
  const pages = member(bodyJson(listing), "pagination", "pages");
  return isSuccess(listing) && typeof pages === "number" && pages >= 2;
}

/** Health with every valid key, as that costs none of them anything; without an agent there is nothing that is free to ask. */
export const everyKeyUsed = probe(
  "every valid key is used once",
  { requests: 0, reads: true },
  async ({ client, target, look }) => {
    const agent = target.agents.answering;
    // The first look has asked with the main key.
    const answers: Exchange[] = [...look.health].slice(0, 1);
    const others = usableKeys(target).filter(({ name }) => answers.length === 0 || name !== client.key.name);
    if (agent !== undefined) for (const key of others) answers.push(await client.as(key).health(agent));
    return { answers };
  },
);
