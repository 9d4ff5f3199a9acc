import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { getPath } from "../../base/json.ts";
import { decodedSegment, encodedSegment } from "../../base/path-segment.ts";
import { endpointCalled, type EndpointName } from "../../spec/endpoints.ts";
import { defaultQuery } from "../../run/discovery/greeting.ts";
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

/** A request that brings an answer which nothing else of a run may have brought. */
interface Visit {
  /** Where its answer is expected to fall. */
  readonly cell: Cell;
  /** Whether the run sent it already, or something like it. */
  readonly isSent: (exchanges: readonly Exchange[]) => boolean;
  /** Health costs nothing. */
  readonly isFree: boolean;
  readonly send: (client: Client) => Promise<Exchange>;
}

/** Without a clock to move, each request waits for room in a window, so only so many are sent. */
const mostOnRealTime = 8;
/** Of so many listed agents the health is read, which costs nothing: one of them may be degraded or unhealthy. */
const mostAgents = 20;
/** Of a key with few requests, so that all in all it sends few. */
const mostAgentsOnFew = 2;

const hello = { query: defaultQuery } as const;
/** Cut off, so that it is no JSON and creates nothing. */
const malformed = '{"query": "Hello.';
const betweenTheEnds = { ...hello, parameters: { temperature: 0.7 } } as const;

/**
 * Sends, last of all, the cheapest requests that bring what the run has not seen yet: other agents' health, parameters between the ends
 * of their range, ids that do not exist, bodies that are no JSON, a method that is not the endpoint's, and the last page.
 */
export const coverageProbe = probe(
  "what no other request has shown is asked for",
  { requests: mostOnRealTime, reads: true, lane: "visits", mayDropRequests: true },
  async (scene): Promise<UncoveredCells> => {
    const { client, recorder, time } = scene;
    const left: UncoveredCells["left"][number][] = [];
    let sent = 0;
    for (const visit of visitsOf(scene)) {
      const isCheap = visit.isFree || time.canMove;
      if (visit.isSent(recorder.exchanges())) continue;
      if (!isCheap && sent >= mostOnRealTime) {
        left.push({ ...visit.cell, why: { reason: "the key has few requests a minute", needs: moreTime } });
        continue;
      }
      try {
        await visit.send(client);
        if (!visit.isFree) sent += 1;
      } catch (error) {
        if (!(error instanceof SkipError)) throw error;
        left.push({ ...visit.cell, why: error.skipReason });
      }
    }
    return { left };
  },
);

function visitsOf({ target, discovery, time, recorder }: ProbeContext): Visit[] {
  const unknownIn = (parameter: string): string =>
    encodedSegment(unknownIdLike(idsAsked(recorder.exchanges(), parameter)));
  const agent = target.agents.answering;
  const own = { batchPath: target.paths.batch };
  const isSeen =
    (cell: Cell) =>
    (exchanges: readonly Exchange[]): boolean =>
      exchanges.some(
        ({ request, answer }) =>
          answer.kind === "answered" && String(answer.status) === cell.kind && endpointOf({ request }, own) === cell.of,
      );
  const ofStatus = (of: EndpointName, status: number, send: Visit["send"]): Visit => {
    const cell = { of, kind: String(status) };
    return { cell, isSent: isSeen(cell), isFree: false, send };
  };
  const post = (of: EndpointName, path: string | null): Visit[] => {
    if (path === null) return [];
    const isSent = time.canMove ? wasSent(({ body }) => body === malformed, path) : isSeen({ of, kind: "400" });
    return [{ ...ofStatus(of, 400, (client) => client.send("POST", path, { text: malformed })), isSent }];
  };
  const batch = target.paths.batch === null ? null : fillAgentId(target.paths.batch, agent ?? "");
  const ofAgent = (endpoint: "invoke" | "stream" | "health"): string | null =>
    agent === undefined ? null : agentPath(agent, endpoint);
  return [
    ...otherAgents([discovery.listing, ...recorder.exchanges()], target).map(healthOf),
    ...(agent === undefined ? [] : [temperate(agent)]),
    ofStatus("deliveries", 404, (client) => client.send("GET", `/webhooks/${unknownIn("webhook_id")}/deliveries`)),
    ofStatus("operations", 404, (client) => client.send("GET", `/operations/${unknownIn("operation_id")}`)),
    ...post("webhooks", "/webhooks"),
    ...post("alerts", "/alerts"),
    ...post("stream", ofAgent("stream")),
    ...post("batch", batch),
    ...["/webhooks", "/alerts", ofAgent("invoke"), ofAgent("stream"), batch].flatMap(get),
    ...lastPage(discovery.listing),
    ...(agent === undefined || !time.canMove ? [] : [coldOnce(agent), coldAgain(agent), oversized(agent)]),
    // The document does not show the method of an operation.
    ...[
      "/agents",
      "/usage",
      "/keys/usage",
      `/webhooks/${unknownIn("webhook_id")}/deliveries`,
      // It would be refused for the rate: a key with few requests has used them up by now.
      hasFewRequests(target) ? null : ofAgent("health"),
    ].flatMap(put),
  ];
}

/** Ids that stood in a path which answered well. */
const idsAsked = (exchanges: readonly Exchange[], parameter: string): string[] =>
  exchanges
    .filter((each) => statusOf(each) === 200)
    .map(({ request }) => endpointCalled(request.method, request.url)?.parameters[parameter])
    .flatMap((id) => (id === undefined ? [] : [decodedSegment(id)]));

/** Whether a request to a path was sent that is of a kind. */
const wasSent =
  (isOfKind: (sent: { readonly method: string; readonly body: string | null }) => boolean, path: string) =>
  (exchanges: readonly Exchange[]): boolean =>
    exchanges.some(
      ({ request: { method, url, body } }) =>
        url.replace(/\?.*/, "").endsWith(path) && isOfKind({ method, body: body.kind === "text" ? body.text : null }),
    );

const healthOf = (agent: string): Visit => ({
  cell: { of: "health", kind: "200" },
  isSent: wasSent(({ method }) => method === "GET", agentPath(agent, "health")),
  isFree: true,
  send: (client) => client.health(agent),
});

const temperate = (agent: string): Visit => ({
  cell: { of: "invoke", kind: "200" },
  isSent: wasSent(({ body }) => body === JSON.stringify(betweenTheEnds), agentPath(agent, "invoke")),
  isFree: false,
  send: (client) => client.invoke(agent, betweenTheEnds),
});

/** What is asked for again may be answered out of a cache. */
const cold = { query: "Hello again.", parameters: { temperature: 0 } } as const;
const isCold = ({ body }: { readonly body: string | null }): boolean => body === JSON.stringify(cold);

const coldOnce = (agent: string): Visit => ({
  cell: { of: "invoke", kind: "200" },
  isSent: wasSent(isCold, agentPath(agent, "invoke")),
  isFree: false,
  send: (client) => client.invoke(agent, cold),
});
const coldAgain = (agent: string): Visit => ({ ...coldOnce(agent), isSent: () => false });

/** More than most servers read, and no JSON, so that nothing runs. */
const oversized = (agent: string): Visit => ({
  cell: { of: "invoke", kind: "400" },
  isSent: () => false,
  isFree: false,
  send: (client) =>
    client.send("POST", agentPath(agent, "invoke"), { text: malformed.padEnd(oversizedBytes, "../coverage") }),
});
const oversizedBytes = 2 * 1024 * 1024;

const otherMethod =
  (method: "GET" | "PUT") =>
  (path: string | null): Visit[] =>
    path === null
      ? []
      : [
          {
            cell: { of: "other paths", kind: "405" },
            isSent: wasSent((sent) => sent.method === method, path),
            isFree: false,
            send: (client) => client.send(method, path),
          },
        ];

/** Where the document has a POST: it changes nothing. */
const get = otherMethod("GET");
/** Where the document has a GET: the method takes a body, and without one there is nothing that could be put. */
const put = otherMethod("PUT");

/** Agents that were invoked, as they stand in a path. */
const invokedIn = (exchanges: readonly Exchange[]): ReadonlySet<string | undefined> =>
  new Set(
    exchanges
      .map(({ request }) => endpointCalled(request.method, request.url))
      .flatMap((call) => (call?.endpoint === "invoke" ? [call.parameters["agent_id"]] : [])),
  );

/** Not those that play a role and were invoked: a deployment may have given them another version since. */
const otherAgents = (exchanges: readonly Exchange[], target: Target): string[] => {
  const invoked = invokedIn(exchanges);
  return listedAgents(exchanges)
    .filter((id) => !assignedAgents(target).includes(id) || !invoked.has(encodedSegment(id)))
    .slice(0, hasFewRequests(target) ? mostAgentsOnFew : mostAgents);
};

function lastPage(listing: Exchange): Visit[] {
  const pages = getPath(bodyJson(listing), "pagination", "pages");
  if (statusOf(listing) !== 200 || typeof pages !== "number" || !Number.isInteger(pages) || pages < 3) return [];
  const path = `/agents?page=${pages}&limit=2`;
  return [
    {
      cell: { of: "list", kind: "200" },
      isSent: (exchanges) => exchanges.some(({ request }) => request.url.endsWith(path)),
      isFree: false,
      send: (client) => client.send("GET", path),
    },
  ];
}
