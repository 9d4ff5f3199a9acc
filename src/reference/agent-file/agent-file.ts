import { webhookEvents } from "../../spec/events.ts";
import type { Entrypoint } from "../agents.ts";
import { isReservedHeader } from "../behaviour/deliveries.ts";
import { arrayOf, filledText, mapOf, objectOf, simple, text, textOf, type Rule } from "./rules.ts";

/** Where an agent's events are sent. Source: Resources, "Webhook endpoint config". */
export interface WebhookEndpoint {
  readonly url: string;
  readonly events: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

/** An agent configuration file, with the document's defaults. Source: Resources, "Agent configuration". */
export interface AgentFile {
  readonly agentName: string;
  readonly framework: string;
  readonly version: string;
  readonly entrypoints: readonly Entrypoint[];
  readonly description: string | null;
  readonly template: string | null;
  /** ISO 8601 without a zone. */
  readonly createdAt: string | null;
  /** `null` where the file leaves it to the server. */
  readonly agentId: string | null;
  readonly templateSource: TemplateSource;
  readonly authType: string;
  readonly envVars: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  /** A size with its unit. */
  readonly memory: string;
  readonly endpoints: readonly WebhookEndpoint[];
}

export interface TemplateSource {
  readonly repoUrl: string | null;
  readonly author: string | null;
  readonly path: string | null;
}

/** A file that was read, or everything that is wrong with it, a line each. */
export type AgentFileResult =
  | { readonly kind: "agent"; readonly file: AgentFile }
  | { readonly kind: "wrong"; readonly problems: readonly string[] };

/** A file is no larger, in bytes. */
export const maxAgentFileBytes = 1024 * 1024;

/** Reads the text of an agent configuration file. Never throws. */
export function readAgentFile(content: string): AgentFileResult {
  if (Buffer.byteLength(content) > maxAgentFileBytes) return { kind: "wrong", problems: ["the file exceeds 1 MiB"] };
  const problems: string[] = [];
  let value: unknown;
  try {
    // Some editors begin a file with a byte order mark, which RFC 8259, 8.1, lets a reader ignore.
    value = JSON.parse(content.replace(/^\uFEFF/, ""));
  } catch (error) {
    const why = error instanceof Error ? error.message.replaceAll(/\s+/g, " ") : "";
    return { kind: "wrong", problems: [`the file is not JSON: ${why}`] };
  }
  const file = agentFile.read(value, { path: "", complain: (problem) => problems.push(problem) });
  return file === undefined || problems.length > 0 ? { kind: "wrong", problems } : { kind: "agent", file };
}

const zoneless = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;
/** A day that its month does not have becomes one of the next. */
function isTime(value: string): boolean {
  const ms = zoneless.test(value) ? Date.parse(`${value}Z`) : Number.NaN;
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value.slice(0, 10));
}
const time = textOf("an ISO 8601 timestamp without a zone, such as 2026-01-05T08:00:00", isTime);

const memory = textOf("a size with its unit, such as 512MB", (value) => /^\d+(\.\d+)? ?[KMGT]i?B$/i.test(value));

const longestSeconds = 86_400;
const seconds = simple(
  `a number of seconds above 0, at most ${longestSeconds}`,
  (value): value is number => typeof value === "number" && value > 0 && value <= longestSeconds,
);

const id = textOf("a string of letters, digits, '.', '_', '~' and '-', a letter or digit first", (value) =>
  /^[a-z0-9][\w.~-]*$/i.test(value),
);

const wildcards = ["agent.*", "deployment.*"];
const eventTypes = [...webhookEvents, ...wildcards].join(", ");
const eventType = textOf(
  `one of ${eventTypes}`,
  (value) => wildcards.includes(value) || webhookEvents.some((event) => event === value),
);

const url = textOf("an http or https URL", (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol));

const anyHeaderName = textOf("the name of a header", (value) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(value));
const headerName: Rule<string> = {
  allowed: anyHeaderName.allowed,
  read: (value, place) => {
    const name = anyHeaderName.read(value, place);
    if (name === undefined || !isReservedHeader(name)) return name;
    place.complain(`${place.path} would not be sent: the server or its connection sets this header; leave it out`);
    return undefined;
  },
};
const headerValue = textOf("a string that a header can carry", (value) => /^[\t\x20-\x7e\x80-\xff]*$/.test(value));

const entrypoint: Rule<Entrypoint> = objectOf(({ required }) => ({
  file: required("file", text) ?? "",
  module: required("module", text) ?? "",
  tag: required("tag", filledText) ?? "",
}));

const entrypointList = arrayOf("an array of at least one entrypoint", entrypoint, 1);

const entrypoints: Rule<readonly Entrypoint[]> = {
  allowed: entrypointList.allowed,
  read: (value, place) => {
    const list = entrypointList.read(value, place);
    list?.forEach(({ tag }, at) => {
      const first = list.findIndex((other) => other.tag === tag);
      if (tag === "" || first === at) return;
      place.complain(`${place.path}[${at}].tag is "${tag}", as that of [${first}]; it must be another`);
    });
    return list;
  },
};

const endpoint: Rule<WebhookEndpoint> = objectOf(({ required, optional }) => ({
  url: required("url", url) ?? "",
  events: required("events", arrayOf("an array of at least one event type", eventType, 1)) ?? [],
  headers: optional("headers", mapOf(headerValue, headerName), {}),
}));

const templateSource: Rule<TemplateSource> = objectOf(({ optional }) => ({
  repoUrl: optional("repo_url", text, null),
  author: optional("author", text, null),
  path: optional("path", text, null),
}));
const noTemplateSource: TemplateSource = { repoUrl: null, author: null, path: null };

const architecture = objectOf(({ required }) => required("entrypoints", entrypoints) ?? []);
const authSettings = objectOf(({ optional }) => optional("type", filledText, "none"));
const deployment = objectOf(({ optional }) => ({
  timeoutSeconds: optional("timeout", seconds, 30),
  memory: optional("memory", memory, "512MB"),
}));
const webhooks = objectOf(({ optional }) =>
  optional("endpoints", arrayOf("an array of webhook endpoints", endpoint), []),
);

const agentFile: Rule<AgentFile> = objectOf(({ required, optional }) => ({
  agentName: required("agent_name", filledText) ?? "",
  framework: required("framework", filledText) ?? "",
  version: required("version", filledText) ?? "",
  entrypoints: required("agent_architecture", architecture) ?? [],
  description: optional("description", text, null),
  template: optional("template", text, null),
  createdAt: optional("created_at", time, null),
  agentId: optional("agent_id", id, null),
  templateSource: optional("template_source", templateSource, noTemplateSource),
  authType: optional("auth_settings", authSettings, "none"),
  envVars: optional("env_vars", mapOf(text), {}),
  ...optional("deployment", deployment, { timeoutSeconds: 30, memory: "512MB" }),
  endpoints: optional("webhooks", webhooks, []),
}));
