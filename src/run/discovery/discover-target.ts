import { bodyJson, envelopeContent, type Exchange, headerValues, statusOf } from "../../evidence/exchange.ts";
import { proxyFor, proxyOrigin } from "../../base/network/network.ts";
import { getPath } from "../../base/json.ts";
import { errorCodes, healthStatuses } from "../../spec/events-and-errors.ts";
import { assignedAgents, type Target } from "../../target/target.ts";
import type { Client } from "../send/client.ts";
import { isKeyRefusal, isSegment } from "../../base/http.ts";
import { type AgentWithoutPath, isBudgetExhausted } from "../skip-reason.ts";
import type { UnjudgedReason } from "../run-result.ts";
import type { Discovery, ProbeContext } from "../probe.ts";
import { seededRandom } from "../../base/numbers.ts";

export type DiscoveryResult =
  | { readonly kind: "ready"; readonly discovery: Discovery; readonly target: Target }
  | (UnjudgedReason & { readonly sentence: string | AgentWithoutPath });

/** Maximum number of listed agents from which discovery chooses an agent, if the user named none. */
const maxCandidates = 5;
const listPath = "/agents?page=1&limit=2";

/**
 * Sends the first requests of a run: reads the agent list, the usage, and the health of agents. Also invokes one or
 * two listed agents if the user named no agent, unless `readOnly` is set.
 */
export async function discoverTarget(client: Client, target: Target, readOnly = false): Promise<DiscoveryResult> {
  const named = target.agents.answering;
  if (named !== undefined && !isSegment(named))
    return { kind: "nothing to judge", why: "stopped", sentence: { why: "agent without a path", agent: named } };
  const listing = await client.send("GET", listPath);
  if (listing.answer.kind === "unanswered") return nothingToJudge(describeUnreachable(target, listing));
  const usage = await client.send("GET", "/usage");
  const again = await readOtherEndpointTwice(client, listing, usage);
  const candidates = named === undefined ? unassignedAgents(target, agentIds(bodyJson(listing))) : [named];
  const health: Exchange[] = [];
  for (const agent of candidates) health.push(await client.health(agent));
  const found = { listing, usage, again, health, invoked: null };
  if (!implementsInterface(found)) return nothingToJudge(describeOtherApi(target, found));
  if (isKeyRefusal(statusOf(listing)) && isKeyRefusal(statusOf(usage)))
    return nothingToJudge(describeRefusedKey(listing, client));
  if (named !== undefined || target.agentSource === "named") return { kind: "ready", discovery: found, target };
  const agents = sortByHealth(candidates, health);
  const invoked = readOnly ? null : await findAnsweringAgent(client, agents, isWorking);
  const agent = invoked?.agent ?? agents[0];
  return {
    kind: "ready",
    discovery: { ...found, invoked: invoked?.exchange ?? null },
    target: agent === undefined ? target : withAnsweringAgent(target, agent),
  };
}

/**
 * Reads the agent list two more times if `/usage` is missing, or `/usage` if the agent list is missing. The responses
 * show whether rate limits count GET requests.
 */
async function readOtherEndpointTwice(client: Client, listing: Exchange, usage: Exchange): Promise<Exchange[]> {
  const isMissing = (exchange: Exchange): boolean => [404, 405].includes(statusOf(exchange) ?? 0);
  if (isMissing(listing) === isMissing(usage)) return [];
  const path = isMissing(usage) ? listPath : "/usage";
  return [await client.send("GET", path), await client.send("GET", path)];
}

function unassignedAgents({ agents: { streaming, ...others } }: Target, listed: readonly string[]): string[] {
  const named = new Set<unknown>(Object.values(others));
  return listed.filter((agent) => agent === streaming || !named.has(agent)).slice(0, maxCandidates);
}

/** Whether an invoke shows that the agent works: any status below 500, even a refusal. `null`: no response. */
export const isWorking = (status: number | null): boolean => status !== null && status < 500;

const nothingToJudge = (sentence: string): DiscoveryResult => ({
  kind: "nothing to judge",
  why: "unreachable",
  sentence,
});

function describeUnreachable(target: Target, { answer }: Exchange): string {
  const detail = answer.kind === "unanswered" ? answer.detail : "";
  const advice = isCertificateError(detail)
    ? "The server is there, but this machine does not trust its certificate. If its authority is your own, name a file with the authority's certificate: `network.ca` in a target file, or NODE_EXTRA_CA_CERTS."
    : answer.kind === "unanswered" && answer.reason === "unreachable"
      ? "Is the server running, and the address right?"
      : "It accepts connections, but does not respond to HTTP requests here.";
  return `No answer from ${target.baseUrl}: ${detail}. ${advice}${describeProxy(target)}`;
}

/** Returns a sentence that names the proxy, which may have caused the failure; an empty text without a proxy. */
function describeProxy({ network, baseUrl }: Target): string {
  const proxy = proxyFor(network, baseUrl);
  return proxy === null ? "" : ` The request went through the proxy ${proxyOrigin(proxy)}.`;
}

const isCertificateError = (detail: string): boolean => /certificate|\b\w*CERT\w*\b|ALTNAME/.test(detail);

function implementsInterface({ listing, usage, health }: Discovery): boolean {
  const [list, used] = [bodyJson(listing), bodyJson(usage)].map(envelopeContent);
  return (
    hasField(list, "pagination") ||
    (statusOf(listing) === 200 && Array.isArray(getPath(list, "data"))) ||
    (hasField(used, "requests") && hasField(used, "tokens")) ||
    health.some((each) => hasField(bodyJson(each), "checks") || isHealthStatus(getPath(bodyJson(each), "status"))) ||
    [listing, usage, ...health].some((each) => isDocumentedCode(getPath(bodyJson(each), "error", "code")))
  );
}

const isDocumentedCode = (code: unknown): boolean => typeof code === "string" && Object.hasOwn(errorCodes, code);
const isHealthStatus = (status: unknown): boolean => healthStatuses.some((each) => each === status);

function describeRefusedKey(listing: Exchange, client: Client): string {
  const code = getPath(bodyJson(listing), "error", "code");
  const codeText = typeof code === "string" ? ` ${code.slice(0, 60)}` : "";
  return `The target refuses the API key (${statusOf(listing)}${codeText}). Check the key \`${client.key.name}\` ($${client.key.variable}); nothing was judged.`;
}

function describeOtherApi(target: Target, { listing }: Discovery): string {
  const status = statusOf(listing) ?? 0;
  const [location] = headerValues(listing, "Location");
  if (status >= 300 && status < 400 && location !== undefined)
    return `${target.baseUrl} redirects to ${location.slice(0, 200)}. The harness follows no redirect: give the final address.`;
  if (isKeyRefusal(status))
    return `The target refuses GET /agents (${status}), and not with an error of the Agent Hosting Service Interface. Check the base URL and the API key.`;
  const [type] = headerValues(listing, "Content-Type");
  return `${target.baseUrl} is not an Agent Hosting Service Interface: GET /agents returns ${status} with ${type?.slice(0, 60) ?? "no content type"}, and neither the list nor usage nor health looks like one. Check the base URL.${describeProxy(target)}`;
}

/**
 * Returns the agent ids in a response to `GET /agents`. Tries several field names, because the document defines none.
 */
export function agentIds(body: unknown): string[] {
  const inner = envelopeContent(body);
  const data = [getPath(inner, "data"), getPath(inner, "agents"), inner].find(Array.isArray) as unknown[] | undefined;
  return (data ?? []).flatMap((item) => {
    const id =
      typeof item === "string"
        ? item
        : ["agent_id", "id", "agentId", "slug", "name", "agent_name"]
            .map((name) => getPath(item, name))
            .find((each) => typeof each === "string" && each !== "");
    return typeof id === "string" && isSegment(id) ? [id] : [];
  });
}

export const listedAgents = (exchanges: readonly Exchange[]): string[] => [
  ...new Set(exchanges.filter(isListing).flatMap((listing) => agentIds(bodyJson(listing)))),
];

const isListing = ({ request: { method, url } }: Exchange): boolean => method === "GET" && /\/agents(\?.*)?$/.test(url);

const hasField = (value: unknown, name: string): boolean => getPath(value, name) !== undefined;

function sortByHealth(candidates: readonly string[], health: readonly Exchange[]): string[] {
  const rankOf = (agent: string): number => {
    const report = health[candidates.indexOf(agent)];
    const status = report === undefined ? undefined : getPath(bodyJson(report), "status");
    if (status === "healthy") return 0;
    if (status === "degraded") return 1;
    return report !== undefined && statusOf(report) === 200 ? 2 : 3;
  };
  return candidates.toSorted((a, b) => rankOf(a) - rankOf(b));
}

const withAnsweringAgent = (target: Target, agent: string): Target => ({
  ...target,
  agents: { ...target.agents, answering: agent, streaming: target.agents.streaming ?? agent },
});

/** The query of invokes that need no particular query. The query asks for few words, because tokens cost money. */
export const defaultQuery = "Hello. Please answer in a few words.";

/** Maximum number of agents to invoke in search of a working agent, because a key may allow few requests. */
const maxInvokedAgents = 2;

interface AgentAttempt {
  readonly agent: string;
  readonly exchange: Exchange;
}

/** Invokes up to two agents, until `isAnswer` accepts a status. Returns the last attempt, whether accepted or not. */
export async function findAnsweringAgent(
  client: Client,
  agents: readonly string[],
  isAnswer: (status: number | null) => boolean,
): Promise<AgentAttempt | null> {
  let last: AgentAttempt | null = null;
  try {
    for (const agent of agents.slice(0, maxInvokedAgents)) {
      const exchange = await client.invoke(agent, { query: defaultQuery });
      last = { agent, exchange };
      if (isAnswer(statusOf(exchange))) break;
    }
  } catch (error) {
    if (!isBudgetExhausted(error)) throw error;
  }
  return last;
}

/** An agent id that is unlikely to exist. Used if no id is known, or if every generated id is a known one. */
const defaultUnknownId = "no-such-agent-7f3a";
/** Minimum number of digits of a generated numeric id, so that the id is unlikely to exist. */
const minDigits = 9;
const maxTries = 20;
const idSeed = 1;

export const unknownAgentId = ({ discovery, target }: Pick<ProbeContext, "discovery" | "target">): string =>
  unknownIdLike([...agentIds(bodyJson(discovery.listing)), ...assignedAgents(target)]);

/** Returns an id that resembles the known ids but is not among them. Equal inputs give equal ids. */
export function unknownIdLike(known: readonly string[]): string {
  const [first] = known;
  if (first === undefined) return defaultUnknownId;
  if (known.every((id) => /^\d+$/.test(id))) return unknownNumber(known);
  const longest = known.reduce((one, other) => (other.length > one.length ? other : one), first);
  const kept = prefixLength(longest, known);
  const letters = characterClasses.map((each) => ({
    each,
    of: charactersIn(
      each,
      known.map((id) => id.slice(kept)),
    ),
  }));
  const next = seededRandom(idSeed);
  for (let tries = 0; tries < maxTries; tries++) {
    const id = Array.from(longest, (letter, at) => {
      const of = letters.find(({ each }) => each.test(letter))?.of;
      return at < kept || of === undefined || isVersionOrVariant(longest, at)
        ? letter
        : of.charAt(Math.floor(next() * of.length));
    }).join("");
    if (!known.includes(id)) return id;
  }
  return defaultUnknownId;
}

const characterClasses: readonly RegExp[] = [/[a-z]/, /[A-Z]/, /\d/];

const charactersIn = (each: RegExp, known: readonly string[]): string =>
  [...new Set(known.join(""))].filter((letter) => each.test(letter)).join("");

function prefixLength(longest: string, known: readonly string[]): number {
  if (known.length < 2 || uuid.test(longest)) return 0;
  const separators = [...longest.matchAll(/[-_.:]/g)].map(({ index }) => index + 1);
  return Math.max(0, ...separators.filter((end) => known.every((id) => id.startsWith(longest.slice(0, end)))));
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const isVersionOrVariant = (id: string, at: number): boolean => uuid.test(id) && (at === 14 || at === 19);

function unknownNumber(known: readonly string[]): string {
  const length = Math.max(minDigits, ...known.map((id) => id.length));
  const number = "907356281".padEnd(length, "3");
  return known.includes(number) ? `${number.slice(0, -1)}7` : number;
}
