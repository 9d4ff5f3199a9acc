import { isObject, tryParseJson } from "../../base/json.ts";
import { referenceAgents } from "../../reference/agents.ts";
import { endpointCalled } from "../../spec/endpoints.ts";
import { headerNames } from "../../spec/headers.ts";
import type { Target, TargetKey } from "../../target/target.ts";
import { headerIn, type RequestTraits, type WireHead, type WireHeader } from "./message.ts";

/** A request as the proxy has received it. */
export interface WireRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: readonly WireHeader[];
  readonly body: Buffer;
}

/** Makes the facts of requests. Remembers how each key was used. */
export interface TraitReader {
  /** Notes that a request has begun. */
  readonly begin: (request: WireRequest) => PendingRequest;
}

/** A request without an answer yet. */
export interface PendingRequest {
  /** Makes the facts when the head of the answer is there. */
  readonly answered: (head: WireHead) => RequestTraits;
  /** Notes that the request is over. */
  readonly end: () => void;
}

/** The use of a key, as the proxy has seen it. */
interface KeyUse {
  /** Answered requests. */
  count: number;
  open: number;
  /** The last `X-RateLimit-Reset`. */
  reset: string | null;
  /** Whether this is the first request after a reset. */
  isAfterReset: boolean;
}

type RequestFacts = Omit<RequestTraits, "state" | "age" | "status" | "second" | "remaining">;

/** Makes a reader for the requests to a target. */
export function traitReader(target: Target): TraitReader {
  const uses = new Map<string, KeyUse>();
  const useOf = (name: string): KeyUse => {
    const known = uses.get(name) ?? { count: 0, open: 0, reset: null, isAfterReset: false };
    uses.set(name, known);
    return known;
  };
  const roles = rolesByAgent(target);
  return {
    begin: (request) => {
      const facts = factsOf(request, target, roles);
      const use = facts.keyName === null ? null : useOf(facts.keyName);
      const isConcurrent = (use?.open ?? 0) > 0;
      if (use !== null) use.open += 1;
      return {
        answered: (head) => traitsOf(facts, head, use, isConcurrent),
        end: () => {
          if (use !== null) use.open -= 1;
        },
      };
    },
  };
}

function traitsOf(facts: RequestFacts, head: WireHead, use: KeyUse | null, isConcurrent: boolean): RequestTraits {
  const remaining = numberIn(head, headerNames.rateRemaining);
  const date = Date.parse(headerIn(head.headers, "Date") ?? "");
  const isUsedUp = head.status === 429 && remaining === 0;
  const key = facts.key === "temporary" && head.status === 401 ? "outlived" : facts.key;
  const state = [
    ...(isUsedUp ? ["used up"] : []),
    ...(isConcurrent ? ["slots held"] : []),
    ...(!isUsedUp && !isConcurrent ? ["fresh"] : []),
  ];
  return {
    ...facts,
    key,
    state,
    age: use === null ? [] : ageOf(use, headerIn(head.headers, headerNames.rateReset)),
    status: head.status,
    second: Number.isNaN(date) ? null : new Date(date).getUTCSeconds(),
    remaining,
  };
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
  const text = headerIn(head.headers, name);
  return text === null || !/^\d+$/.test(text) ? null : Number(text);
}

function factsOf(
  { method, path, headers, body }: WireRequest,
  target: Target,
  roles: ReadonlyMap<string, string>,
): RequestFacts {
  const endpoint = endpointCalled(method, path, target.paths)?.endpoint ?? null;
  const [route = "", query = ""] = path.split("?");
  const agentId = /\/agents\/([^/]+)\//.exec(route)?.[1] ?? null;
  const key = keyOf(headerIn(headers, "Authorization"), target);
  const text = body.toString("utf8");
  const sent: unknown = body.length === 0 ? undefined : tryParseJson(text);
  return {
    endpoint,
    method,
    key: key.kind,
    keyName: key.name,
    agent: agentId === null ? null : (roles.get(decoded(agentId)) ?? "unknown"),
    body: body.length === 0 ? [] : shapesOf(sent),
    parameters: isObject(sent) && isObject(sent["parameters"]) ? parametersIn(sent["parameters"]) : [],
    page: endpoint === "list" ? pageIn(query) : null,
    accept: headerIn(headers, "Accept") ?? "",
    contentType: headerIn(headers, "Content-Type") ?? "",
    headerNames: headers.map(([name]) => name.toLowerCase()),
    bodyLength: body.length,
    bodyHasOnlyAscii: /^[\0-\x7F]*$/.test(text),
    pathEnd: route.split("/").at(-1) ?? "",
  };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Names of roles in a target file, by the names that conditions use. */
const roleNames: Readonly<Record<string, string>> = {
  answering: "answering",
  slow: "slow",
  timingOut: "timing out",
  failing: "failing",
  failingInStream: "failing in stream",
  overloaded: "overloaded",
  degraded: "degraded",
  unhealthy: "unhealthy",
  remembering: "remembering",
};

function rolesByAgent({ agents }: Target): ReadonlyMap<string, string> {
  const named = Object.entries<string | undefined>(agents).flatMap(([role, id]): [string, string][] => {
    const name = roleNames[role];
    return id === undefined || name === undefined ? [] : [[id, name]];
  });
  return new Map([...referenceAgents.map(({ id }): [string, string] => [id, "another"]), ...named]);
}

interface KeyFacts {
  readonly kind: string;
  readonly name: string | null;
}

function keyOf(authorization: string | null, { keys }: Target): KeyFacts {
  if (authorization === null) return { kind: "none", name: null };
  const text = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (text === undefined) return { kind: "altered", name: null };
  const all = Object.values(keys);
  const own = all.find(({ key }) => key === text);
  if (own !== undefined) return { kind: kindOf(own), name: own.name };
  const start = text.slice(0, 12).toLowerCase();
  return { kind: all.some(({ key }) => key.toLowerCase().startsWith(start)) ? "altered" : "wrong", name: null };
}

function kindOf(key: TargetKey): string {
  if (key.expired) return "expired";
  if (key.expiresInSeconds !== null) return "temporary";
  if (key.scope !== null) return "read-only";
  if (key.agents !== null) return "one agent";
  if (key.allowedIps !== null) return "elsewhere";
  return key.nearQuota ? "near its quota" : (key.tier ?? "of no tier");
}

function shapesOf(sent: unknown): string[] {
  if (sent === undefined) return ["not JSON"];
  if (!isObject(sent)) return ["not an object"];
  const { query, session_id: session, parameters } = sent;
  if (query === undefined) return ["without the query"];
  if (typeof query !== "string") return ["query of another type"];
  const more = [
    ...(session === undefined ? [] : ["with a session"]),
    ...(parameters === undefined ? [] : ["with parameters"]),
  ];
  return more.length === 0 ? ["query alone"] : more;
}

const knownParameters = ["temperature", "max_tokens", "context", "resume_from_index", "stream_delay_ms", "chunk_size"];

const parametersIn = (parameters: Readonly<Record<string, unknown>>): string[] => [
  ...new Set(Object.keys(parameters).map((name) => (knownParameters.includes(name) ? name : "an unknown parameter"))),
];

function pageIn(query: string): string {
  const page = new URLSearchParams(query).get("page");
  if (page === null) return "none";
  if (page === "1" || page === "2") return page;
  return /^\d+$/.test(page) && Number(page) >= 3 ? "3 or later" : "out of range";
}
