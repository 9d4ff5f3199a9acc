import { bodyFor, agentPath } from "../../run/send/client.ts";
import type { SendOptions } from "../../run/send/send-guard.ts";
import { type EndpointName, publishedEndpoints } from "../../spec/endpoints.ts";
import type { Row } from "../../base/covering-array.ts";
import type { RoleAssignment, Target } from "../../target/target.ts";
import { type EndpointRequest, type Fixtures, requestFor } from "../shared/key-requests/send-requests.ts";
import { neverIssuedKey, prefixOf, replaceLastCharacter } from "../shared/key-requests/altered-keys.ts";
import { agentOfRole } from "./missing-settings.ts";

export interface RequestParts {
  readonly target: Target;
  readonly fixtures: Fixtures;
  readonly unknownAgent: string;
  readonly listed: number | null;
}

export function requestOfRow(row: Row, parts: RequestParts): EndpointRequest | null {
  const endpoint = row["endpoint"] as EndpointName;
  const { method: documented } = publishedEndpoints[endpoint];
  const path = pathOf(row, endpoint, parts);
  if (path === null) return null;
  if (row["method"] === "other") return { method: documented === "GET" ? "PUT" : "GET", path, options: {} };
  const accept: SendOptions = endpoint === "stream" ? { accept: "text/event-stream" } : {};
  const body = documented === "GET" ? {} : bodyOf(row, endpoint, parts);
  return body === null ? null : { method: documented, path, options: { ...accept, ...body } };
}

function pathOf(row: Row, endpoint: EndpointName, parts: RequestParts): string | null {
  if (endpoint === "invoke" || endpoint === "stream" || endpoint === "health") {
    const agent = agentOf(row, parts);
    return agent === null ? null : agentPath(agent, endpoint);
  }
  if (endpoint === "list") return `/agents${listQuery(row, parts)}`;
  const { fixtures } = parts;
  const path = requestFor[endpoint]({ ...fixtures, webhook: fixtures.webhook ?? placeholder })?.path;
  if (path !== undefined) return path;
  // Without a known webhook or operation, uses an id that does not exist: a server must then respond 404.
  if (endpoint === "deliveries") return "/webhooks/no-such-webhook-7f3a/deliveries";
  return endpoint === "operations" ? "/operations/no-such-operation-7f3a" : null;
}

/** A webhook body that is never sent: `pathOf` uses only the path of the request. */
const placeholder = { url: "", events: [], secret: "" };

const agentOf = ({ agent = "" }: Row, { target, unknownAgent }: RequestParts): string | RoleAssignment | null =>
  agent === "unknown" ? unknownAgent : agentOfRole(agent, target);

const pagesBefore = { first: 0, second: 1, third: 2 } as const;

function listQuery({ page = "", limit = "" }: Row, { listed }: RequestParts): string {
  if (page === "absent" || page === "none") return "";
  const pages = Math.max(1, Math.ceil((listed ?? 2) / Number(limit)));
  const number =
    page in pagesBefore ? pagesBefore[page as keyof typeof pagesBefore] + 1 : page === "last" ? pages : pages + 1;
  return `?page=${number}&limit=${limit}`;
}

const brokenBodies: Readonly<Partial<Record<string, string>>> = {
  array: '["Grüße, 你好 🙂. This text is not ASCII, and longer than that of other bodies."]',
  string: '"Hello."',
  truncated: '{"query": "Hello.',
  absent: "",
};

function bodyOf(row: Row, endpoint: EndpointName, parts: RequestParts): SendOptions | null {
  const text = brokenBodies[row["body"] ?? ""];
  if (text !== undefined) return { text };
  if (endpoint !== "invoke" && endpoint !== "stream") return requestFor[endpoint](parts.fixtures)?.options ?? null;
  const agent = agentOf(row, parts);
  const fields = bodyFor(agent ?? "", fieldsOf(row));
  return row["body"] === "spelled otherwise" ? { text: respellJson(fields) } : { json: fields };
}

function fieldsOf(row: Row): Record<string, unknown> {
  const text = (name: string): string | undefined => {
    const kind = row[name] ?? "";
    return isTextKind(kind) ? textKinds[kind] : undefined;
  };
  const parameters = parametersOf(row);
  const query = row["body"] === "query of another type" ? wrongQueryOf(row) : text("query");
  return {
    ...(query === undefined || row["body"] === "without query" ? {} : { query }),
    ...(text("session") === undefined
      ? {}
      : { session_id: row["session"] === "plain" ? "conformance-corner" : text("session") }),
    ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
  };
}

const wrongQueryOf = ({ context }: Row): unknown => (context === "object" ? null : ["Hello."]);

const parametersOf = ({ temperature = "", maxTokens = "", context, unknownParameter, streamParameters }: Row) => ({
  ...(/^\d/.test(temperature) ? { temperature: Number(temperature) } : {}),
  ...(/^\d/.test(maxTokens) ? { max_tokens: Number(maxTokens) } : {}),
  ...(context === "object" ? { context: { user: { name: "Ada" } } } : {}),
  ...(unknownParameter === "present" ? { conformance_unknown: true } : {}),
  ...(streamParameters === "present" ? { resume_from_index: 0, stream_delay_ms: 0, chunk_size: 8 } : {}),
});

const respellJson = (fields: object): string =>
  `\r\n\t${JSON.stringify(Object.fromEntries(Object.entries(fields).toReversed()), null, "\t")}\n`.replace(
    '"query"',
    String.raw`"\u0071uery"`,
  );

type Credentials = Pick<SendOptions, "authorization" | "headers"> & { readonly query?: string };

const credentialsByKind: Readonly<Record<string, (key: string) => Credentials>> = {
  missing: () => ({ authorization: null }),
  wrong: (key) => ({ authorization: `Bearer ${neverIssuedKey(key)}` }),
  "other prefix": (key) => ({ authorization: `Bearer ${withOtherPrefix(key)}` }),
  altered: (key) => ({ authorization: `Bearer ${replaceLastCharacter(key)}` }),
  "other scheme": (key) => ({ authorization: `Token ${key}` }),
  "in a cookie": (key) => ({ authorization: null, headers: [["Cookie", `api_key=${key}; token=${key}`]] }),
  "in another header": (key) => ({ authorization: null, headers: [["X-API-Key", key]] }),
  "in Basic credentials": (key) => ({ authorization: `Basic ${Buffer.from(`${key}:`).toString("base64")}` }),
  "in the query": (key) => ({ authorization: null, query: `api_key=${encodeURIComponent(key)}` }),
};

export const credentialsOf = (kind: string, key: string): Credentials => credentialsByKind[kind]?.(key) ?? {};

function withOtherPrefix(key: string): string {
  const prefix = prefixOf(key);
  return prefix === null ? `zz_${key}` : (prefix === "zz_" ? "qq_" : "zz_") + key.slice(prefix.length);
}

export const withQuery = (path: string, query: string | undefined): string =>
  query === undefined ? path : `${path}${path.includes("?") ? "&" : "?"}${query}`;

const textKinds = {
  plain: "Hello.",
  "not ASCII": "Grüße, 你好 🙂.",
  "digits alone": "20260304",
  true: "true",
  hexadecimal: "deadbeefcafe0123",
  base64: "SGVsbG8sIHdvcmxkISDwn5mC+/8=",
  long: "Please repeat this sentence. ".repeat(70),
} as const satisfies Readonly<Record<string, string>>;

type TextKind = keyof typeof textKinds;

const isTextKind = (name: string): name is TextKind => Object.hasOwn(textKinds, name);

const minLong = 1500;

export function textKindOf(text: string): TextKind {
  if (text.length >= minLong) return "long";
  if (!/^[\x20-\x7e]*$/.test(text)) return "not ASCII";
  if (/^\d+$/.test(text)) return "digits alone";
  if (text === "true") return "true";
  if (/^[0-9a-f]{8,}$/.test(text)) return "hexadecimal";
  return /^[A-Za-z0-9+/]{16,}={1,2}$/.test(text) ? "base64" : "plain";
}
