import { isDeepStrictEqual } from "node:util";

import { getPath, isObject, tryParseJson } from "../base/json.ts";
import { encodedSegment } from "../base/http.ts";
import type { AgentRole, OwnRequest, RoleAssignment, Target } from "./target.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Placeholder in a `query` from the target file. The harness replaces the placeholder by its own query. */
const queryPlaceholder = "{query}";

const streamRoles: readonly AgentRole[] = ["streaming", "rememberingInStream"];

/**
 * Adds an agent's fields from the target file to a request body, or to each item of a batch. Fields of the body win,
 * except a `query` that triggers no role: see {@link queryEdits}. A body without a text as `query` stays unchanged.
 */
export function withOwnFields(target: OwnRequestTarget, path: string, text: string): string {
  if (target.ownRequests.length === 0) return text;
  const sent = tryParseJson(text);
  const items = getPath(sent, "batch");
  if (Array.isArray(items))
    return JSON.stringify({
      batch: items.map((item) => tryParseJson(withOwnFields(target, path, JSON.stringify(item)))),
    });
  const own = ownRequestAt(target, path);
  if (own === null || !isObject(sent) || typeof sent["query"] !== "string") return text;
  const { query, ...others } = own.body;
  const triggersRole = Object.values(target.roleAssignments).some(
    ({ agent, body }) => agent === own.agent && body["query"] === sent["query"],
  );
  const edits = [
    ...(query === undefined || triggersRole ? [] : queryEdits(text, sent["query"], query)),
    ...missingFields(text, 0, sent, others),
  ];
  return edits.toSorted((one, other) => other.at - one.at).reduce(applyEdit, text);
}

export type OwnRequestTarget = Pick<Target, "agents" | "ownRequests" | "roleAssignments" | "paths">;

function ownRequestAt({ ownRequests, agents, paths }: OwnRequestTarget, path: string): OwnRequest | null {
  const segments = path.split("?", 1)[0]?.split("/") ?? [];
  const isAnswering = path === paths.batch || path === paths.operation;
  const own = ownRequests.filter(
    ({ agent }) => segments.includes(encodedSegment(agent)) || (isAnswering && agent === agents.answering),
  );
  const isStream = segments.at(-1) === "stream";
  return own.find(({ role }) => streamRoles.includes(role) === isStream) ?? own[0] ?? null;
}

interface Edit {
  readonly at: number;
  readonly removed: number;
  readonly inserted: string;
}

const applyEdit = (text: string, { at, removed, inserted }: Edit): string =>
  text.slice(0, at) + inserted + text.slice(at + removed);

/**
 * Returns the edit that replaces a request's `query` by the query from the target file. There, `{query}` stands for the
 * request's original query. Returns no edit if the query was replaced before.
 */
function queryEdits(text: string, sent: string, own: unknown): Edit[] {
  const found = membersAt(text, 0).find(({ name }) => name === "query");
  if (found === undefined) return [];
  const [before = "", ...after] = typeof own === "string" ? own.split(queryPlaceholder) : [];
  if (after.length > 0 && sent.startsWith(before) && sent.endsWith(after.at(-1) ?? "")) return [];
  const inserted = JSON.stringify(own).replaceAll(queryPlaceholder, () => found.token.slice(1, -1));
  return [{ at: found.at, removed: found.token.length, inserted }];
}

function missingFields(text: string, open: number, sent: Fields, own: Fields): Edit[] {
  const members = membersAt(text, open);
  const nested = Object.entries(own).flatMap(([name, value]) => {
    const given = sent[name];
    const at = members.find((each) => each.name === name)?.at;
    return at !== undefined && isObject(given) && isObject(value) ? missingFields(text, at, given, value) : [];
  });
  const missing = Object.entries(own).filter(([name]) => !Object.hasOwn(sent, name));
  if (missing.length === 0) return nested;
  const inserted = JSON.stringify(Object.fromEntries(missing)).slice(1, -1) + (members.length === 0 ? "" : ",");
  return [...nested, { at: text.indexOf("{", open) + 1, removed: 0, inserted }];
}

interface JsonMember {
  readonly name: unknown;
  readonly at: number;
  readonly token: string;
}

function membersAt(text: string, open: number): JsonMember[] {
  const members: JsonMember[] = [];
  let depth = 0;
  let name: string | null = null;
  for (const { 0: token, index } of text.slice(open).matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]]|[^\s{}[\],:"]+/g)) {
    if (depth === 1 && name !== null) members.push({ name: tryParseJson(name), at: open + index, token });
    name = depth === 1 && name === null && token.startsWith('"') ? token : null;
    if (token === "{" || token === "[") depth += 1;
    if (token === "}" || token === "]") depth -= 1;
    if (depth === 0) break;
  }
  return members;
}

/** Undoes {@link withOwnFields} for one body: removes the added fields, and the text around the original query. */
export function withoutOwnFields(target: OwnRequestTarget, path: string, sent: unknown): unknown {
  const own = ownRequestAt(target, path);
  if (own === null || !isObject(sent) || typeof sent["query"] !== "string") return sent;
  const { query, ...others } = own.body;
  const rest = difference(sent, others);
  return typeof query === "string" ? { ...rest, query: originalQuery(sent["query"], query) } : rest;
}

function originalQuery(sent: string, own: string): string {
  const [before = "", after] = own.split(queryPlaceholder);
  const isOwn = after !== undefined && sent.startsWith(before) && sent.endsWith(after);
  return isOwn ? sent.slice(before.length, sent.length - after.length) : sent;
}

function difference(sent: Fields, own: Fields): Fields {
  const rest = Object.entries(sent).flatMap(([name, value]): [string, unknown][] => {
    const needed = own[name];
    if (isDeepStrictEqual(value, needed)) return [];
    if (!isObject(value) || !isObject(needed)) return [[name, value]];
    return [[name, difference(value, needed)]];
  });
  return Object.fromEntries(rest);
}

export const hasFields = (sent: unknown, wanted: Fields): boolean =>
  Object.entries(wanted).every(([name, value]) => {
    const given = getPath(sent, name);
    return isObject(value) ? hasFields(given, value) : isDeepStrictEqual(given, value);
  });

/** Returns the agent and request fields that a load test uses for each role that is an object in the target file. */
export function roleRequestsOf(
  target: Pick<Target, "ownRequests" | "roleAssignments" | "agents">,
): Partial<Readonly<Record<AgentRole, RoleAssignment>>> {
  const own = Object.fromEntries(
    target.ownRequests.map(({ role, agent, body }): [string, RoleAssignment] => [
      role,
      { agent, body: { ...body, ...queryOfLoad(body) }, path: null },
    ]),
  );
  const { answering, streaming } = own;
  const shared = answering !== undefined && streaming === undefined && target.agents.streaming === answering.agent;
  return { ...own, ...(shared && { streaming: answering }), ...target.roleAssignments };
}

const queryOfLoad = ({ query }: Fields): Fields =>
  typeof query === "string" ? { query: query.replaceAll(queryPlaceholder, "hello") } : {};
