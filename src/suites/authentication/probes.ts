import type { Exchange } from "../../evidence/exchange.ts";
import { probe } from "../../run/probe.ts";
import { usableKeys } from "../../target/target.ts";

/** One request with an expired key: an invoke where an agent is known, else reading usage. */
export const expiredAsked = probe(
  "an expired key is used",
  { needs: ["keys.expired"], requests: 0 },
  async ({ client, given, target }) => {
    const expired = client.as(given["keys.expired"]);
    const agent = target.agents.answering;
    const asked =
      agent === undefined
        ? await expired.send("GET", "/usage", { unpaced: true })
        : await expired.invoke(agent, { query: "Hello." }, { unpaced: true });
    return { asked };
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
