import { formatValue, getPath, isObject } from "../../base/json.ts";
import { encodedSegment } from "../../base/http.ts";
import { defaultQuery } from "../../run/discovery/discover-target.ts";
import { type EvidenceOf, observe, suite } from "../../run/judge/check.ts";
import { observed, unproven } from "../../run/judge/finding.ts";
import { probe } from "../../run/probe.ts";
import { listingOf } from "../listing/probes.ts";
import { fillAgentId } from "../operations/probes.ts";
import { describeResponse, fieldNamesOf, fieldsOf, isSuccess } from "../shared/response.ts";

const entrypointExecuted = probe(
  "an entrypoint is executed on its local path",
  { needs: ["paths.execute", "agents.answering"], requests: 1 },
  async ({ client, given }) => {
    const path = given["paths.execute"];
    const agent = given["agents.answering"];
    const body = { query: defaultQuery };
    return { path, answered: await client.send("POST", fillAgentId(path, agent), { json: body, fromOrigin: true }) };
  },
);

/**
 * Reads an agent's details. The interface document names this endpoint without its path, so this probe tries the most
 * likely one.
 */
const agentDetailsRead = probe(
  "an agent's detailed information is read",
  { needs: ["agents.answering"], requests: 1, reads: true },
  async ({ client, given, discovery }) => ({
    read: await client.send("GET", `/agents/${encodedSegment(given["agents.answering"])}`),
    listing: discovery.listing,
  }),
);

const agentFields = ["agent_id", "agent_name", "agent_architecture", "entrypoints", "deployment"] as const;

function recordsIn({ read, listing }: EvidenceOf<typeof agentDetailsRead>): unknown[] {
  const { agents } = listingOf(listing);
  const detail = isSuccess(read) ? [fieldsOf(read, agentFields)] : [];
  return [...detail, ...(Array.isArray(agents) ? agents : [])];
}

const valuesOf = (records: readonly unknown[], ...names: readonly string[]): string[] => [
  ...new Set(
    records.flatMap((record) =>
      names.flatMap((name) => {
        const value = getPath(record, name);
        return value === undefined
          ? []
          : [`\`${name}\`: ${isObject(value) ? fieldNamesOf(value) : formatValue(value)}`];
      }),
    ),
  ),
];

export const otherEndpoints = suite("Other endpoints", [
  observe("OTH-1", entrypointExecuted, ({ path, answered }) =>
    observed(`POST ${path} with a \`query\`, as the target file says: ${describeResponse(answered)}`),
  ),
  observe("OTH-2", agentDetailsRead, ({ read }) => observed(`GET /agents/{agent_id}: ${describeResponse(read)}`)),
  observe("OTH-3", agentDetailsRead, (evidence) => {
    const states = valuesOf(recordsIn(evidence), "status", "state", "lifecycle", "lifecycle_status");
    return states.length > 0 ? observed(states.join("; ")) : unproven("no record of an agent names a state");
  }),
  observe("OTH-4", agentDetailsRead, (evidence) => {
    const fields = valuesOf(recordsIn(evidence), "deployment", "deployment_id", "deployments");
    return fields.length > 0 ? observed(fields.join("; ")) : unproven("no record of an agent names a deployment");
  }),
]);
