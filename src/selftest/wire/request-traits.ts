import type { Header } from "../../evidence/exchange.ts";
import { headerOf } from "../mutants/edits.ts";
import { decodedSegment } from "../../base/http.ts";
import { getPath, isObject, tryParseJson } from "../../base/json.ts";
import { getOrAdd } from "../../base/memoize.ts";
import { referenceAgents } from "../../reference/agents.ts";
import { type Dimension, dimensions } from "../../spec/dimensions.ts";
import { endpointOfRequest } from "../../spec/endpoints.ts";
import { headerNames } from "../../spec/headers.ts";
import { publishedTiers, tierNames } from "../../spec/tiers.ts";
import { textKindOf } from "../../suites/coverage/requests.ts";
import type { Target, TargetKey } from "../../target/target.ts";
import { type RequestTraits, type WireHead } from "./dimensions.ts";

export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly Header[];
  readonly body: Buffer;
}

export interface PendingRequest {
  /** Returns the traits of the request. Must be called when the response's status and headers have arrived. */
  readonly completeTraits: (head: WireHead) => RequestTraits;
  readonly end: () => void;
}

interface KeyUse {
  count: number;
  open: number;
  /** Latest value of the header `X-RateLimit-Reset` in the responses to the key. */
  reset: string | null;
}

type ReadValues = Readonly<Partial<Record<Dimension, string | readonly string[]>>>;

interface TraitsBeforeResponse extends Omit<RequestTraits, "values" | "status" | "second" | "remaining"> {
  readonly key: KeyFacts;
  readonly values: ReadValues;
}

/**
 * Returns a reader of the requests' properties. Call it when a request arrives. It counts the requests of each key,
 * because properties such as `age` need the count.
 */
export function traitReader(target: Target): (request: WireRequest) => PendingRequest {
  const uses = new Map<string, KeyUse>();
  const useOf = (name: string): KeyUse => getOrAdd(uses, name, () => ({ count: 0, open: 0, reset: null }));
  return (request) => {
    const own = ownTraits(request, target);
    const use = own.key.name === null ? null : useOf(own.key.name);
    const holdsAllSlots = (use?.open ?? 0) >= own.key.slots;
    if (use !== null) use.open += 1;
    return {
      completeTraits: (head) => traitsOf(own, head, use, holdsAllSlots),
      end: () => {
        if (use !== null) use.open -= 1;
      },
    };
  };
}

function traitsOf(
  own: TraitsBeforeResponse,
  head: WireHead,
  use: KeyUse | null,
  holdsAllSlots: boolean,
): RequestTraits {
  const { key, values, ...traits } = own;
  const date = Date.parse(headerOf(head.headers, "Date") ?? "");
  const complete: ReadValues = {
    ...values,
    key: key.kind === "temporary" && head.status === 401 ? "outlived" : key.kind,
    state: stateOf(own, head, holdsAllSlots),
    age: use === null ? [] : ageOf(use, headerOf(head.headers, headerNames.rateReset)),
  };
  const all = Object.keys(dimensions).map((name) => [name, [complete[name as Dimension] ?? []].flat()]);
  return {
    ...traits,
    values: Object.fromEntries(all) as RequestTraits["values"],
    status: head.status,
    second: Number.isNaN(date) ? null : new Date(date).getUTCSeconds(),
    remaining: numberIn(head, headerNames.rateRemaining),
  };
}

/** Longest time until a minute window resets: one second more than a minute, because headers show whole seconds. */
const minuteSeconds = 61;

/**
 * Returns the key's state, such as `minute used up`. Health requests never get 429, but their `Remaining: 0` shows that
 * a limit is used up.
 */
function stateOf({ endpoint, key }: TraitsBeforeResponse, head: WireHead, holdsAllSlots: boolean): string {
  const remaining = numberIn(head, headerNames.rateRemaining);
  const resetAfter = numberIn(head, headerNames.rateResetAfter);
  const isRefused = head.status === 429;
  if (remaining === 0 && key.name !== null && (isRefused || endpoint === "health"))
    return resetAfter !== null && resetAfter <= minuteSeconds ? "minute used up" : "hour used up";
  if (isRefused && key.kind === "near quota") return "tokens spent";
  return isRefused || holdsAllSlots ? "slots held" : "fresh";
}

function ageOf(use: KeyUse, reset: string | null): string[] {
  use.count += 1;
  const isAfterReset = use.reset !== null && reset !== null && Number(reset) > Number(use.reset) + 1;
  use.reset = reset ?? use.reset;
  return [
    ...(use.count === 1 ? ["first"] : use.count === 2 ? ["second"] : []),
    ...(isAfterReset ? ["after a reset"] : []),
  ];
}

function numberIn(head: WireHead, name: string): number | null {
  const text = headerOf(head.headers, name);
  return text === null || !/^\d+$/.test(text) ? null : Number(text);
}

function ownTraits({ method, path, headers, body }: WireRequest, target: Target): TraitsBeforeResponse {
  const endpoint = endpointOfRequest(method, path, target.paths)?.endpoint ?? null;
  const [route = "", query = ""] = path.split("?");
  const agentId = /\/agents\/([^/]+)\//.exec(route)?.[1] ?? null;
  const key = keyOf(headers, query, target);
  const text = body.toString("utf8");
  const takesQuery = endpoint === "invoke" || endpoint === "stream";
  const sent: unknown = body.length === 0 ? undefined : tryParseJson(text);
  return {
    endpoint,
    key,
    hasTierKey: tierNames.some((tier) => tier === key.kind),
    values: {
      endpoint: endpoint ?? [],
      method: "documented",
      agent: agentId === null ? [] : rolesOf(decodedSegment(agentId), target),
      ...(method === "POST" ? { body: shapeOf(text, sent, takesQuery) } : {}),
      ...(takesQuery && isObject(sent) ? fieldsOf(sent) : {}),
      ...(endpoint === "list" ? pageOf(new URLSearchParams(query)) : {}),
    },
    accept: headerOf(headers, "Accept") ?? "",
    contentType: headerOf(headers, "Content-Type") ?? "",
    headerNames: headers.map(([name]) => name.toLowerCase()),
    bodyLength: body.length,
    bodyHasOnlyAscii: /^[\0-\x7F]*$/.test(text),
  };
}

function rolesOf(id: string, { agents }: Target): string[] {
  const roles = Object.entries<string | undefined>(agents).flatMap(([role, each]) => (each === id ? [role] : []));
  return roles.length > 0 || referenceAgents.some((agent) => agent.id === id) ? roles : ["unknown"];
}

interface KeyFacts {
  readonly kind: string;
  /** Name of the key in the target; `null` for a key that the target does not list. */
  readonly name: string | null;
  /** Number of concurrent requests that the tier of the key permits. */
  readonly slots: number;
}

const keyWithoutName = (kind: string): KeyFacts => ({ kind, name: null, slots: Number.POSITIVE_INFINITY });

function keyOf(headers: readonly Header[], query: string, { keys, tiers }: Target): KeyFacts {
  const authorization = headerOf(headers, "Authorization");
  if (authorization === null) {
    if (headerOf(headers, "Cookie") !== null) return keyWithoutName("in a cookie");
    if (headerOf(headers, "X-API-Key") !== null) return keyWithoutName("in another header");
    return keyWithoutName(query.includes("key=") ? "in the query" : "missing");
  }
  const text = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  const all = Object.values(keys);
  if (text === undefined) {
    const isWrapped = /^Basic /i.test(authorization) && !all.some(({ key }) => authorization.endsWith(key));
    return keyWithoutName(isWrapped ? "in Basic credentials" : "other scheme");
  }
  const own = all.find(({ key }) => key === text);
  if (own === undefined) return keyWithoutName(alterationOf(text, all));
  const limits = { ...publishedTiers, ...tiers }[own.tier ?? ""];
  return { kind: kindOf(own), name: own.name, slots: limits?.concurrent ?? Number.POSITIVE_INFINITY };
}

/** A wrong key counts as altered if it shares at least this many first characters with a valid key. */
const commonPrefixLength = 12;

function alterationOf(text: string, keys: readonly TargetKey[]): string {
  if (keys.some(({ key }) => text.slice(2) === key.slice(2))) return "other prefix";
  const start = text.slice(0, commonPrefixLength).toLowerCase();
  return keys.some(({ key }) => key.toLowerCase().startsWith(start)) ? "altered" : "wrong";
}

function kindOf(key: TargetKey): string {
  if (key.expired) return "expired";
  if (key.expiresInSeconds !== null) return "temporary";
  if (key.scope !== null) return "read-only";
  if (key.agents !== null) return "one agent";
  if (key.allowedIps !== null) return "other address";
  return key.nearQuota ? "near quota" : (key.tier ?? "");
}

function shapeOf(text: string, sent: unknown, takesQuery: boolean): string {
  if (text === "") return "absent";
  if (sent === undefined) return "truncated";
  if (Array.isArray(sent)) return "array";
  if (!isObject(sent)) return "string";
  if (!takesQuery) return "valid";
  const { query } = sent;
  if (query === undefined) return "without query";
  if (typeof query !== "string") return "query of another type";
  return text === JSON.stringify(sent) ? "valid" : "spelled otherwise";
}

const streamParameters = ["resume_from_index", "stream_delay_ms", "chunk_size"];
const knownParameters = ["temperature", "max_tokens", "context", ...streamParameters];

function fieldsOf(sent: Readonly<Record<string, unknown>>): ReadValues {
  const parameters = isObject(sent["parameters"]) ? sent["parameters"] : {};
  const names = Object.keys(parameters);
  const has = (isThere: boolean, name = "present"): string => (isThere ? name : "absent");
  const numberOf = (name: string): string => (name in parameters ? JSON.stringify(parameters[name]) : "absent");
  const { query, session_id: session } = sent;
  return {
    session: typeof session === "string" ? textKindOf(session) : "absent",
    query: typeof query === "string" ? textKindOf(query) : [],
    temperature: numberOf("temperature"),
    maxTokens: numberOf("max_tokens"),
    context: has(getPath(parameters, "context") !== undefined, "object"),
    unknownParameter: has(names.some((name) => !knownParameters.includes(name))),
    streamParameters: has(names.some((name) => streamParameters.includes(name))),
  };
}

function pageOf(query: URLSearchParams): ReadValues {
  const [page, limit] = [query.get("page"), query.get("limit")];
  if (page === null || limit === null) return { page: "absent", limit: "absent" };
  const pages = Math.max(1, Math.ceil(referenceAgents.length / Number(limit)));
  const number = ["first", "second", "third"][Number(page) - 1];
  const end = Number(page) === pages ? "last" : Number(page) > pages ? "beyond" : undefined;
  const names = end === "beyond" ? ["beyond"] : [number ?? [], end ?? []].flat();
  return { page: names, limit };
}
