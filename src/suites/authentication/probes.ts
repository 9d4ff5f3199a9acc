import { getPath } from "../../base/json.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { endpointNames } from "../../spec/endpoints.ts";
import { type Discovery, probe } from "../../run/probe.ts";
import { usableKeys } from "../../target/target.ts";
import { sendTrials, createTrialSender, type KeyTrials } from "../shared/key-trials/send-trials.ts";
import { type EndpointRequest, prepareFixtures } from "../shared/key-trials/fixtures.ts";
import { isSuccess } from "../shared/response.ts";

/** After all that creates webhooks and operations, so that there is something to ask for. */
export const expiredKeySent = probe(
  "an expired key is used on every endpoint, and on the second page of the list",
  { needs: ["keys.expired"], requests: 0, reads: true, stage: "limits" },
  async (scene): Promise<KeyTrials> => {
    const ground = await prepareFixtures(scene, "of-expired-key");
    const asking = createTrialSender(scene.client.as(scene.given["keys.expired"]), ground, scene);
    const cells = await sendTrials(asking, "an expired key", endpointNames);
    const second = hasSecondPage(scene.discovery) ? await asking.send(secondPage) : null;
    return {
      cells: second === null ? cells : [...cells, { kind: "an expired key", endpoint: "list", exchange: second }],
    };
  },
);

const secondPage: EndpointRequest = { method: "GET", path: "/agents?page=2&limit=2", options: {} };

/** Whether the list has a second page of two, so that nothing but the key is a reason to refuse it. */
function hasSecondPage({ listing }: Discovery): boolean {
  const pages = getPath(bodyJson(listing), "pagination", "pages");
  return isSuccess(listing) && typeof pages === "number" && pages >= 2;
}

/** Health with every valid key, as that costs none of them anything; without an agent there is nothing that is free to ask. */
export const everyKeyUsed = probe(
  "every valid key is used once",
  { requests: 0, reads: true },
  async ({ client, target, discovery }) => {
    const agent = target.agents.answering;
    // The first look has asked with the main key.
    const answers: Exchange[] = [...discovery.health].slice(0, 1);
    const others = usableKeys(target).filter(({ name }) => answers.length === 0 || name !== client.key.name);
    if (agent !== undefined) for (const key of others) answers.push(await client.as(key).health(agent));
    return { answers };
  },
);
