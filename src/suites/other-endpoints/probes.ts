import { encodedSegment } from "../../base/path-segment.ts";
import { defaultQuery } from "../../run/discovery/answering-agent.ts";
import { probe } from "../../run/probe.ts";
import { fillAgentId } from "../operations/probes.ts";

export const entrypointExecuted = probe(
  "an entrypoint is executed on its local path",
  { needs: ["paths.execute", "agents.answering"], requests: 1 },
  async ({ client, given }) => {
    const path = given["paths.execute"];
    const agent = given["agents.answering"];
    const body = { query: defaultQuery };
    return { path, answered: await client.send("POST", fillAgentId(path, agent), { json: body, fromOrigin: true }) };
  },
);

/** An agent's details at the path that a user would try first. */
export const agentDetailsRead = probe(
  "an agent's detailed information is read",
  { needs: ["agents.answering"], requests: 1, reads: true },
  async ({ client, given, discovery }) => ({
    read: await client.send("GET", `/agents/${encodedSegment(given["agents.answering"])}`),
    listing: discovery.listing,
  }),
);
