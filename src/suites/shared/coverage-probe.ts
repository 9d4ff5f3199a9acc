import { bodyJson, type Exchange, statusOf } from "../../evidence/exchange.ts";
import { getPath } from "../../base/json.ts";
import { decodedSegment, encodedSegment } from "../../base/http.ts";
import { endpointOfRequest, type EndpointName } from "../../spec/endpoints.ts";
import { defaultQuery, listedAgents, unknownIdLike } from "../../run/discovery/discover-target.ts";
import { agentPath } from "../../run/send/client.ts";
import { needsMoreTime, SkipError } from "../../run/skip-reason.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import type { Cell, UncoveredCells } from "../../run/judge/finding.ts";
import { assignedAgents, type Target } from "../../target/target.ts";
import { endpointOf } from "./all-exchanges.ts";
import { fillAgentId } from "../operations/probes.ts";

interface CoverageRequest {
  readonly cell: Cell;
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly text?: string;
  /**
   * Condition for skipping the request. Default: the run already sent an equal request. `covered`: the endpoint already
   * returned the status in `cell`. `never`: no condition.
   */
  readonly unless?: "covered" | "never";
}

/** Maximum number of non-health requests without a test clock. Each may have to wait for the next rate-limit window. */
const maxOnRealClock = 8;
/** Maximum number of agents whose health is read, in search of degraded and unhealthy agents. */
const maxAgents = 20;
const maxAgentsWithFewRequests = 2;

/** A server must reject truncated JSON. Therefore a request with this body creates nothing. */
const malformedBody = '{"query": "Hello.';
/** This body is larger than most servers accept. The JSON is malformed, which prevents an agent execution. */
const oversizedBody = malformedBody.padEnd(2 * 1024 * 1024, ".");
const midTemperature = JSON.stringify({ query: defaultQuery, parameters: { temperature: 0.7 } });
/** The probe sends this body twice. If the target caches responses, the second response can come from the cache. */
const cacheableBody = JSON.stringify({ query: "Hello again.", parameters: { temperature: 0 } });

/** Sends cheap requests, to observe combinations of endpoint and status that no other probe may have shown. */
export const coverageProbe = probe(
  "what no other request has shown is asked for",
  { requests: maxOnRealClock, reads: true, stage: "coverage", mayDropRequests: true },
  async (context): Promise<UncoveredCells> => {
    const { client, recorder, target, time } = context;
    const left: UncoveredCells["left"][number][] = [];
    let sent = 0;
    for (const request of coverageRequests(context)) {
      const { cell, method, path, text } = request;
      if (isNeedless(request, recorder.exchangesOutsideOutages(), target)) continue;
      // Health requests do not count toward `maxOnRealClock`, because no rate limit counts them.
      const isFree = cell.of === "health";
      if (!isFree && !time.canAdvance && sent >= maxOnRealClock) {
        left.push({ ...cell, why: { reason: "the key has few requests a minute", needs: needsMoreTime } });
        continue;
      }
      try {
        await client.send(method, path, text === undefined ? {} : { text });
        if (!isFree) sent += 1;
      } catch (error) {
        if (!(error instanceof SkipError)) throw error;
        left.push({ ...cell, why: error.skipReason });
      }
    }
    return { left };
  },
);

function isNeedless(
  { cell, method, path, text, unless }: CoverageRequest,
  exchanges: readonly Exchange[],
  target: Target,
): boolean {
  if (unless === "never") return false;
  if (unless === "covered")
    return exchanges.some(
      ({ request, answer }) =>
        answer.kind === "answered" &&
        String(answer.status) === cell.kind &&
        endpointOf({ request }, { batchPath: target.paths.batch }) === cell.of,
    );
  return exchanges.some(({ request: { method: sentMethod, url, body } }) => {
    const sentPath = path.includes("?") ? url : url.replace(/\?.*/, "");
    const hasText = text === undefined || (body.kind === "text" && body.text === text);
    return sentMethod === method && sentPath.endsWith(path) && hasText;
  });
}

function coverageRequests({ target, discovery, time, recorder }: ProbeContext): CoverageRequest[] {
  const agent = target.agents.answering;
  const batch = target.paths.batch === null ? null : fillAgentId(target.paths.batch, agent ?? "");
  const pathOf = (endpoint: "invoke" | "stream" | "health"): string | null =>
    agent === undefined ? null : agentPath(agent, endpoint);
  const unknownId = (parameter: string): string =>
    encodedSegment(unknownIdLike(idsInPaths(recorder.exchangesSinceOutage(), parameter)));
  const unknownWebhook = `/webhooks/${unknownId("webhook_id")}/deliveries`;
  const request = (
    [of, kind]: readonly [string, string],
    method: CoverageRequest["method"],
    path: string | null,
    more: Pick<CoverageRequest, "text" | "unless"> = {},
  ): CoverageRequest[] => (path === null ? [] : [{ cell: { of, kind }, method, path, ...more }]);
  const postMalformed = (of: EndpointName, path: string | null): CoverageRequest[] =>
    request([of, "400"], "POST", path, { text: malformedBody, ...(!time.canAdvance && { unless: "covered" }) });
  const ifClock = (path: string | null): string | null => (time.canAdvance ? path : null);
  return [
    ...otherAgents([discovery.listing, ...recorder.exchangesSinceOutage()], target).flatMap((id) =>
      request(["health", "200"], "GET", agentPath(id, "health")),
    ),
    ...request(["invoke", "200"], "POST", pathOf("invoke"), { text: midTemperature }),
    ...request(["deliveries", "404"], "GET", unknownWebhook, { unless: "covered" }),
    ...request(["operations", "404"], "GET", `/operations/${unknownId("operation_id")}`, { unless: "covered" }),
    ...postMalformed("webhooks", "/webhooks"),
    ...postMalformed("alerts", "/alerts"),
    ...postMalformed("stream", pathOf("stream")),
    ...postMalformed("batch", batch),
    // The document defines only POST for these paths, so GET should get 405.
    ...["/webhooks", "/alerts", pathOf("invoke"), pathOf("stream"), batch].flatMap((path) =>
      request(["other paths", "405"], "GET", path),
    ),
    ...request(["list", "200"], "GET", lastPage(discovery.listing)),
    ...request(["invoke", "200"], "POST", ifClock(pathOf("invoke")), { text: cacheableBody }),
    ...request(["invoke", "200"], "POST", ifClock(pathOf("invoke")), { text: cacheableBody, unless: "never" }),
    ...request(["invoke", "400"], "POST", ifClock(pathOf("invoke")), { text: oversizedBody, unless: "never" }),
    // The document defines only GET for these paths, so PUT should get 405. If the key has few requests a minute,
    // leaves out health: requests to its path are not paced, and could get 429.
    ...["/agents", "/usage", "/keys/usage", unknownWebhook, hasFewRequests(target) ? null : pathOf("health")].flatMap(
      (path) => request(["other paths", "405"], "PUT", path),
    ),
  ];
}

const idsInPaths = (exchanges: readonly Exchange[], parameter: string): string[] =>
  exchanges
    .filter((each) => statusOf(each) === 200)
    .map(({ request }) => endpointOfRequest(request.method, request.url)?.parameters[parameter])
    .flatMap((id) => (id === undefined ? [] : [decodedSegment(id)]));

function otherAgents(exchanges: readonly Exchange[], target: Target): string[] {
  const calls = exchanges.map(({ request }) => endpointOfRequest(request.method, request.url));
  const invoked = new Set(calls.flatMap((call) => (call?.endpoint === "invoke" ? [call.parameters["agent_id"]] : [])));
  return listedAgents(exchanges)
    .filter((id) => !assignedAgents(target).includes(id) || !invoked.has(encodedSegment(id)))
    .slice(0, hasFewRequests(target) ? maxAgentsWithFewRequests : maxAgents);
}

function lastPage(listing: Exchange): string | null {
  const pages = getPath(bodyJson(listing), "pagination", "pages");
  if (statusOf(listing) !== 200 || typeof pages !== "number" || !Number.isInteger(pages) || pages < 3) return null;
  return `/agents?page=${pages}&limit=2`;
}
