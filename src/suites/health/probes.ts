import { probe } from "../../run/probe.ts";
import { unknownAgentId } from "../../run/discovery/discover-target.ts";

export const healthChecked = probe(
  "an agent's health is read twice",
  { needs: ["agents.answering"], requests: 0, reads: true },
  async ({ client, given }) => {
    const first = await client.health(given["agents.answering"]);
    return { first, second: await client.health(given["agents.answering"]) };
  },
);

export const degradedChecked = probe(
  "the health of a degraded agent is read three times",
  { needs: ["agents.degraded"], requests: 0, reads: true },
  async ({ client, given }) => {
    const report = await client.health(given["agents.degraded"]);
    for (let more = 0; more < 2; more += 1) await client.health(given["agents.degraded"]);
    return { report };
  },
);

export const unhealthyChecked = probe(
  "the health of an unhealthy agent is read",
  { needs: ["agents.unhealthy"], requests: 0, reads: true },
  async ({ client, given }) => ({ report: await client.health(given["agents.unhealthy"]) }),
);

/** Reads health again after invokes by other probes. HLT-22 expects that `uptime` and `last_request` have changed. */
export const laterChecked = probe(
  "an agent's health is read after an invoke",
  { needs: ["agents.answering"], requests: 0, stage: "exclusive", reads: true },
  async ({ client, given }) => ({ report: await client.health(given["agents.answering"]) }),
);

export const unknownChecked = probe(
  "the health of an agent that does not exist is read",
  { requests: 0, reads: true },
  async (context) => ({ report: await context.client.health(unknownAgentId(context)) }),
);
