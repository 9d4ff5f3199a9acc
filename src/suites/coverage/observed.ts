import type { Row } from "../../base/covering-array.ts";
import { getPath, isObject } from "../../base/json.ts";
import { decodedSegment } from "../../base/http.ts";
import { type Exchange, requestHeaderValues, sentJson, statusOf } from "../../evidence/exchange.ts";
import { tierNames } from "../../spec/tiers.ts";
import { publishedEndpoints } from "../../spec/endpoints.ts";
import { hasFields, withoutOwnFields } from "../../target/own-request.ts";
import type { Target, TargetKey } from "../../target/target.ts";
import { endpointsAtRequestPath } from "../shared/all-exchanges.ts";
import { neverIssuedKey, replaceLastCharacter } from "../shared/key-requests/altered-keys.ts";
import { agentOfRole, keyOfKind } from "./missing-settings.ts";
import { dimensions } from "../../spec/dimensions.ts";
import { textKindOf } from "./requests.ts";

interface RowReader {
  readonly target: Target;
  /** The main key. Invalid keys are classified by how they differ from this key. */
  readonly mainKey: string;
  readonly listed: number | null;
  readonly listedAgents: ReadonlySet<string>;
}

/** Returns a request's values as rows, such as one for each role of its agent. Without a response, returns none. */
export function rowsOfExchange(exchange: Exchange, reader: RowReader): Row[] {
  const { request } = exchange;
  if (request.body.kind === "base64") return [];
  if (statusOf(exchange) === null || (statusOf(exchange) === 429 && exchange.keyState === undefined)) return [];
  const calls = endpointsAtRequestPath(exchange, { batchPath: reader.target.paths.batch });
  const call = calls.find(({ endpoint }) => publishedEndpoints[endpoint].method === request.method) ?? calls[0];
  const key = keyKindOf(exchange, reader);
  if (call === undefined || key === null) return [];
  const isDocumented = publishedEndpoints[call.endpoint].method === request.method;
  const id = call.parameters["agent_id"];
  const roles = rolesOf(id === undefined ? undefined : decodedSegment(id), exchange, reader);
  const pages = call.endpoint === "list" && isDocumented ? pagesIn(request.url, reader.listed) : [noPage];
  return roles.flatMap((agent) =>
    pages.map((page) => ({
      endpoint: call.endpoint,
      method: isDocumented ? "documented" : "other",
      key,
      state: exchange.keyState ?? "fresh",
      agent,
      ...(isDocumented && publishedEndpoints[call.endpoint].method === "POST"
        ? fieldsIn(exchange, call.endpoint, reader.target)
        : noFields),
      ...page,
    })),
  );
}

const noFields = {
  body: "none",
  session: "none",
  query: "none",
  temperature: "none",
  maxTokens: "none",
  context: "none",
  unknownParameter: "none",
  streamParameters: "none",
} as const;
const noPage = { page: "none", limit: "none" } as const;

function keyKindOf({ key: name, request }: Exchange, { target, mainKey }: RowReader): string | null {
  const valueOf = (header: string): string | undefined => requestHeaderValues(request, header)[0];
  const authorization = valueOf("authorization");
  if (name !== null) return kindOfKey(target.keys[name], target);
  if (authorization === undefined) {
    if (valueOf("cookie") !== undefined) return "in a cookie";
    if (valueOf("x-api-key") !== undefined) return "in another header";
    return request.url.includes("api_key=") ? "in the query" : "missing";
  }
  const [scheme, text = ""] = authorization.split(" ");
  if (scheme !== "Bearer") return scheme === "Basic" && text !== mainKey ? "in Basic credentials" : "other scheme";
  if (text === mainKey) return null;
  if (text.slice(3) === mainKey.slice(3)) return "other prefix";
  if (text === replaceLastCharacter(mainKey)) return "altered";
  return text === neverIssuedKey(mainKey) ? "wrong" : null;
}

function kindOfKey(key: TargetKey | undefined, target: Target): string | null {
  if (key === undefined || key.signed) return null;
  const named = ["read-only", "one agent", "near quota", "expired", "other address"].find(
    (kind) => keyOfKind(kind, target)?.key === key.key,
  );
  // Only a key that does not expire has its tier as its kind. A temporary key may be expired by now.
  if (named !== undefined || key.expiresInSeconds !== null) return named ?? null;
  return tierNames.find((tier) => tier === key.tier) ?? null;
}

function rolesOf(id: string | undefined, { request }: Exchange, { target, listedAgents }: RowReader): string[] {
  if (id === undefined) return ["none"];
  const roles = dimensions.agent.values.filter((value) => {
    const agent = agentOfRole(value, target);
    if (agent === null || typeof agent === "string") return agent === id;
    return agent.agent === id && hasFields(chosenBody(request, target), agent.body);
  });
  const isKnown = Object.values(target.agents).includes(id);
  if (roles.length > 0 || isKnown) return roles;
  return [listedAgents.has(id) ? "none" : "unknown"];
}

const chosenBody = (request: Exchange["request"], target: Target): unknown =>
  withoutOwnFields(target, new URL(request.url).pathname, sentJson(request));

function fieldsIn({ request }: Exchange, endpoint: string, target: Target): Readonly<Record<string, string>> {
  const { body } = request;
  if (body.kind === "none") return { ...noFields, body: "absent" };
  const sent = chosenBody(request, target);
  if (sent === undefined) return { ...noFields, body: "truncated" };
  if (Array.isArray(sent)) return { ...noFields, body: "array" };
  if (!isObject(sent)) return { ...noFields, body: "string" };
  if (endpoint !== "invoke" && endpoint !== "stream") return { ...noFields, body: "valid" };
  const query = sent["query"];
  const parameters = sent["parameters"];
  const isRespelled = body.kind === "text" && body.text !== JSON.stringify(sentJson(request));
  const whole = isRespelled ? "spelled otherwise" : "valid";
  return {
    body: query === undefined ? "without query" : typeof query === "string" ? whole : "query of another type",
    session: textKindOrAbsent(sent["session_id"]),
    query: typeof query === "string" ? textKindOf(query) : "none",
    temperature: valueOrAbsent(getPath(parameters, "temperature")),
    maxTokens: valueOrAbsent(getPath(parameters, "max_tokens")),
    context: getPath(parameters, "context") === undefined ? "absent" : "object",
    unknownParameter: hasUnknownParameter(parameters) ? "present" : "absent",
    streamParameters: streamNames.some((name) => getPath(parameters, name) !== undefined) ? "present" : "absent",
  };
}

const streamNames = ["resume_from_index", "stream_delay_ms", "chunk_size"] as const;
const knownNames: readonly string[] = ["temperature", "max_tokens", "context", ...streamNames];
const hasUnknownParameter = (parameters: unknown): boolean =>
  isObject(parameters) && Object.keys(parameters).some((name) => !knownNames.includes(name));
const valueOrAbsent = (value: unknown): string => (value === undefined ? "absent" : JSON.stringify(value));
const textKindOrAbsent = (value: unknown): string => (typeof value === "string" ? textKindOf(value) : "absent");

function pagesIn(url: string, listed: number | null): Readonly<Record<"page" | "limit", string>>[] {
  const { searchParams } = new URL(url);
  const [page, limit] = [searchParams.get("page"), searchParams.get("limit")];
  if (page === null || limit === null) return [{ page: "absent", limit: "absent" }];
  const pages = Math.max(1, Math.ceil((listed ?? 0) / Number(limit)));
  const byNumber = ["first", "second", "third"][Number(page) - 1] ?? "other";
  const byEnd = Number(page) === pages ? "last" : Number(page) > pages ? "beyond" : byNumber;
  return [...new Set([byNumber, byEnd])].map((name) => ({ page: name, limit }));
}
