import { bodyJson, type Exchange, headerValues, statusOf } from "../evidence/exchange.ts";
import { errorCodes } from "../interface/errors.ts";
import { healthStatuses } from "../interface/events.ts";
import type { Target } from "../target/target.ts";
import type { Client } from "./client.ts";
import type { Look } from "./probe.ts";

/** What a first look at a target found: something to judge, or one sentence that says why not. */
export type LookResult =
  | { readonly kind: "ready"; readonly look: Look; readonly target: Target }
  | { readonly kind: "nothing to judge"; readonly sentence: string };

const lookDeadlines = { headMs: 15_000, silenceMs: 10_000, exchangeMs: 20_000 } as const;
/** Agents of the list that are considered for a run that was given none. */
const mostCandidates = 5;

/** Looks before the run leaps: two reads and the health of some agents, all of which later probes use as their own. */
export async function takeLook(client: Client, target: Target): Promise<LookResult> {
  const options = { deadlines: lookDeadlines };
  const listing = await client.send("GET", "/agents?page=1&limit=2", options);
  if (listing.answer.kind === "unanswered") return nothing(unreachable(target, listing));
  const usage = await client.send("GET", "/usage", options);
  const named = target.agents.answering;
  const candidates = named === undefined ? agentIds(bodyJson(listing)).slice(0, mostCandidates) : [named];
  const health: Exchange[] = [];
  for (const agent of candidates) health.push(await client.health(agent, options));
  const found = { listing, usage, health };
  if (!isRecognised(found)) return nothing(strangeness(target, found));
  if (isRefused(listing) && isRefused(usage)) return nothing(refusal(listing, client));
  return { kind: "ready", look: found, target: withAgents(target, candidates, health) };
}

const nothing = (sentence: string): LookResult => ({ kind: "nothing to judge", sentence });

function unreachable(target: Target, { answer }: Exchange): string {
  const detail = answer.kind === "unanswered" ? answer.detail : "";
  const advice =
    answer.kind === "unanswered" && answer.reason === "unreachable"
      ? "Is the server running, and the address right?"
      : "It accepts connections, but does not answer HTTP requests here.";
  return `No answer from ${target.baseUrl}: ${detail}. ${advice}`;
}

/** Whether anything in the first answers is of this interface. */
function isRecognised({ listing, usage, health }: Look): boolean {
  const [list, used] = [bodyJson(listing), bodyJson(usage)].map(unwrapped);
  return (
    hasField(list, "pagination") ||
    (statusOf(listing) === 200 && Array.isArray(field(list, "data"))) ||
    (hasField(used, "requests") && hasField(used, "tokens")) ||
    health.some((each) => hasField(bodyJson(each), "checks") || isHealthStatus(field(bodyJson(each), "status"))) ||
    [listing, usage, ...health].some((each) => isDocumentedCode(field(field(bodyJson(each), "error"), "code")))
  );
}

const isDocumentedCode = (code: unknown): boolean => typeof code === "string" && Object.hasOwn(errorCodes, code);
const isHealthStatus = (status: unknown): boolean => healthStatuses.some((each) => each === status);
const isRefused = (exchange: Exchange): boolean => [401, 403].includes(statusOf(exchange) ?? 0);

function refusal(listing: Exchange, client: Client): string {
  const code = field(field(bodyJson(listing), "error"), "code");
  const said = typeof code === "string" ? ` ${code.slice(0, 60)}` : "";
  return `The target refuses the API key (${statusOf(listing)}${said}). Check the key \`${client.key.name}\` ($${client.key.variable}); nothing was judged.`;
}

function strangeness(target: Target, { listing }: Look): string {
  const status = statusOf(listing) ?? 0;
  const [location] = headerValues(listing, "Location");
  if (status >= 300 && status < 400 && location !== undefined)
    return `${target.baseUrl} redirects to ${location.slice(0, 200)}. The harness follows no redirect: give the address that answers itself.`;
  if (status === 401 || status === 403)
    return `The target refuses GET /agents (${status}), and not in the words of the Agent Hosting Service Interface. Check the base URL and the API key.`;
  const [type] = headerValues(listing, "Content-Type");
  return `${target.baseUrl} is not an Agent Hosting Service Interface: GET /agents answers ${status} with ${type?.slice(0, 60) ?? "no content type"}, and neither list, usage nor health is recognisable. Check the base URL.`;
}

/** Ids of listed agents. The fields of a list item are a gap, so the likely ones are tried. */
function agentIds(body: unknown): string[] {
  const inner = unwrapped(body);
  const data = [field(inner, "data"), field(inner, "agents"), inner].find(Array.isArray) as unknown[] | undefined;
  return (data ?? []).flatMap((item) => {
    const id =
      typeof item === "string"
        ? item
        : ["agent_id", "id", "agentId", "slug", "name", "agent_name"]
            .map((name) => field(item, name))
            .find((each) => typeof each === "string" && each !== "");
    return typeof id === "string" ? [id] : [];
  });
}

/** The fields inside the envelope, where there is one. */
function unwrapped(body: unknown): unknown {
  const data = field(body, "data");
  const result = field(data, "result");
  if (field(body, "status") !== "success" || Array.isArray(data)) return body;
  return result !== undefined && !Array.isArray(result) ? result : (data ?? body);
}

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;

const hasField = (value: unknown, name: string): boolean => field(value, name) !== undefined;

function withAgents(target: Target, candidates: readonly string[], health: readonly Exchange[]): Target {
  if (target.agents.answering !== undefined || target.agentSource === "named") return target;
  const statusAt = (index: number): unknown => field(bodyJson(health[index] as Exchange), "status");
  const answers = candidates.filter((_, index) => statusOf(health[index] as Exchange) === 200);
  const best =
    candidates.find((_, index) => statusAt(index) === "healthy") ??
    candidates.find((_, index) => statusAt(index) === "degraded") ??
    answers[0] ??
    candidates[0];
  if (best === undefined) return target;
  return { ...target, agents: { ...target.agents, answering: best, streaming: target.agents.streaming ?? best } };
}
