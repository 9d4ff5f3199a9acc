import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { getPath } from "../../base/json.ts";
import { decodedSegment, encodedSegment } from "../../base/path-segment.ts";
import { endpointCalled, type EndpointName } from "../../spec/endpoints.ts";
import { defaultQuery } from "../../run/discovery/answering-agent.ts";
import { agentPath, type Client } from "../../run/send/client.ts";
import { moreTime, SkipError } from "../../run/skip-reason.ts";
import { listedAgents } from "../../run/discovery/discover-target.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import { unknownIdLike } from "../../run/discovery/unknown-agent-id.ts";
import type { Cell, UncoveredCells } from "../../run/judge/coverage.ts";
import { assignedAgents, type Target } from "../../target/target.ts";
import { endpointOf } from "./all-exchanges.ts";
import { fillAgentId } from "../operations/probes.ts";

/** A request that covers a cell which no other probe may have covered. */
interface CoverageRequest {
  /** The cell that its response is expected to cover. */
  readonly cell: Cell;
  /** Whether the run already sent this request or an equivalent one. */
  readonly isSent: (exchanges: readonly Exchange[]) => boolean;
  /** Whether no limit counts it, as for a health check. */
  readonly isFree?: true;
  readonly send: (client: Client) => Promise<Exchange>;
}

/** Most requests on a real clock, where each may wait for a window to reset. */
const maxOnRealClock = 8;
/** Most listed agents whose health is read: one of them may be degraded or unhealthy. */
const maxAgents = 20;
/** The same with a key of few requests. */
const maxAgentsWithFewRequests = 2;

const hello = { query: defaultQuery } as const;
/** Not JSON, because it is cut off, and so creates nothing. */
const malformed = '{"query": "Hello.';
/** Larger than most servers accept, and not JSON, so that no agent runs. */
const oversized = malformed.padEnd(2 * 1024 * 1024, ".");
const midTemperature = { ...hello, parameters: { temperature: 0.7 } } as const;
/** Sent twice: a server may answer the second request from a cache. */
const cacheable = { query: "Hello again.", parameters: { temperature: 0 } } as const;

/**
 * Sends, at the end of a run, the cheapest requests for cells that are not yet covered: health of other agents,
 * parameters within their range, unknown ids, malformed bodies, wrong methods, and the last page of the list.
 */
export const coverageProbe = probe(
  "what no other request has shown is asked for",
  { requests: maxOnRealClock, reads: true, stage: "coverage", mayDropRequests: true },
  async (context): Promise<UncoveredCells> => {
    const { client, recorder, time } = context;
    const left: UncoveredCells["left"][number][] = [];
    let sent = 0;
    for (const request of coverageRequests(context)) {
      if (request.isSent(recorder.exchanges())) continue;
      const isFree = request.isFree === true;
      if (!isFree && !time.canAdvance && sent >= maxOnRealClock) {
        left.push({ ...request.cell, why: { reason: "the key has few requests a minute", needs: moreTime } });
        continue;
      }
      try {
        await request.send(client);
        if (!isFree) sent += 1;
      } catch (error) {
        if (!(error instanceof SkipError)) throw error;
        left.push({ ...request.cell, why: error.skipReason });
      }
    }
    return { left };
  },
);

function coverageRequests({ target, discovery, time, recorder }: ProbeContext): CoverageRequest[] {
  const agent = target.agents.answering;
  const batch = target.paths.batch === null ? null : fillAgentId(target.paths.batch, agent ?? "");
  const pathOf = (endpoint: "invoke" | "stream" | "health"): string | null =>
    agent === undefined ? null : agentPath(agent, endpoint);
  const unknownId = (parameter: string): string =>
    encodedSegment(unknownIdLike(idsInPaths(recorder.exchanges(), parameter)));
  const isCovered =
    ({ of, kind }: Cell) =>
    (exchanges: readonly Exchange[]): boolean =>
      exchanges.some(
        ({ request, answer }) =>
          answer.kind === "answered" &&
          String(answer.status) === kind &&
          endpointOf({ request }, { batchPath: target.paths.batch }) === of,
      );
  const unknown = (of: EndpointName, path: string): CoverageRequest => {
    const cell = { of, kind: "404" };
    return { cell, isSent: isCovered(cell), send: (client) => client.send("GET", path) };
  };
  const postMalformed = (of: EndpointName, path: string | null): CoverageRequest[] => {
    if (path === null) return [];
    const cell = { of, kind: "400" };
    const isSent = time.canAdvance ? wasSent(path, ({ body }) => body === malformed) : isCovered(cell);
    return [{ cell, isSent, send: (client) => client.send("POST", path, { text: malformed }) }];
  };
  return [
    ...otherAgents([discovery.listing, ...recorder.exchanges()], target).map(readHealth),
    ...(agent === undefined ? [] : [invoke(agent, midTemperature)]),
    unknown("deliveries", `/webhooks/${unknownId("webhook_id")}/deliveries`),
    unknown("operations", `/operations/${unknownId("operation_id")}`),
    ...postMalformed("webhooks", "/webhooks"),
    ...postMalformed("alerts", "/alerts"),
    ...postMalformed("stream", pathOf("stream")),
    ...postMalformed("batch", batch),
    // The document has a POST at these paths; a GET changes nothing.
    ...["/webhooks", "/alerts", pathOf("invoke"), pathOf("stream"), batch].flatMap((path) => wrongMethod("GET", path)),
    ...lastPage(discovery.listing),
    ...(agent === undefined || !time.canAdvance
      ? []
      : [invoke(agent, cacheable), { ...invoke(agent, cacheable), isSent: () => false }, sendOversized(agent)]),
    // The document has a GET at these paths; a PUT without a body changes nothing. The method of an operation is not specified.
    ...[
      "/agents",
      "/usage",
      "/keys/usage",
      `/webhooks/${unknownId("webhook_id")}/deliveries`,
      // A key of few requests is exhausted by now, so its PUT would get a 429.
      hasFewRequests(target) ? null : pathOf("health"),
    ].flatMap((path) => wrongMethod("PUT", path)),
  ];
}

/** The ids in the paths of successful requests. */
const idsInPaths = (exchanges: readonly Exchange[], parameter: string): string[] =>
  exchanges
    .filter((each) => statusOf(each) === 200)
    .map(({ request }) => endpointCalled(request.method, request.url)?.parameters[parameter])
    .flatMap((id) => (id === undefined ? [] : [decodedSegment(id)]));

/** Whether a request to a path was sent whose method and body pass a test. */
const wasSent =
  (path: string, test: (sent: { readonly method: string; readonly body: string | null }) => boolean) =>
  (exchanges: readonly Exchange[]): boolean =>
    exchanges.some(
      ({ request: { method, url, body } }) =>
        url.replace(/\?.*/, "").endsWith(path) && test({ method, body: body.kind === "text" ? body.text : null }),
    );

const readHealth = (agent: string): CoverageRequest => ({
  cell: { of: "health", kind: "200" },
  isSent: wasSent(agentPath(agent, "health"), ({ method }) => method === "GET"),
  isFree: true,
  send: (client) => client.health(agent),
});

const invoke = (agent: string, json: object): CoverageRequest => ({
  cell: { of: "invoke", kind: "200" },
  isSent: wasSent(agentPath(agent, "invoke"), ({ body }) => body === JSON.stringify(json)),
  send: (client) => client.invoke(agent, json),
});

const sendOversized = (agent: string): CoverageRequest => ({
  cell: { of: "invoke", kind: "400" },
  isSent: () => false,
  send: (client) => client.send("POST", agentPath(agent, "invoke"), { text: oversized }),
});

const wrongMethod = (method: "GET" | "PUT", path: string | null): CoverageRequest[] =>
  path === null
    ? []
    : [
        {
          cell: { of: "other paths", kind: "405" },
          isSent: wasSent(path, (sent) => sent.method === method),
          send: (client) => client.send(method, path),
        },
      ];

/** Listed agents, without those that play a role and were invoked: a deployment may have changed their version since. */
function otherAgents(exchanges: readonly Exchange[], target: Target): string[] {
  const calls = exchanges.map(({ request }) => endpointCalled(request.method, request.url));
  const invoked = new Set(calls.flatMap((call) => (call?.endpoint === "invoke" ? [call.parameters["agent_id"]] : [])));
  return listedAgents(exchanges)
    .filter((id) => !assignedAgents(target).includes(id) || !invoked.has(encodedSegment(id)))
    .slice(0, hasFewRequests(target) ? maxAgentsWithFewRequests : maxAgents);
}

function lastPage(listing: Exchange): CoverageRequest[] {
  const pages = getPath(bodyJson(listing), "pagination", "pages");
  if (statusOf(listing) !== 200 || typeof pages !== "number" || !Number.isInteger(pages) || pages < 3) return [];
  const path = `/agents?page=${pages}&limit=2`;
  return [
    {
      cell: { of: "list", kind: "200" },
      isSent: (exchanges) => exchanges.some(({ request }) => request.url.endsWith(path)),
      send: (client) => client.send("GET", path),
    },
  ];
}
