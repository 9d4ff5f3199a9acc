import type { ClauseTable } from "../clause.ts";

const section = "Resources and their fields / Agent configuration (file)";
const untestable = "A file on the vendor's side; the interface has no endpoint that reads or shows it.";

export const configurationClauses = {
  "CFG-1": {
    section,
    level: "policy",
    says: "The file requires `agent_name`, `framework`, `version` (strings) and `agent_architecture` (object).",
    untestable,
  },
  "CFG-2": {
    section,
    level: "policy",
    says: "`agent_architecture.entrypoints` is a required array of entrypoints.",
    untestable,
  },
  "CFG-3": { section, level: "policy", says: "`description` and `template` are optional strings.", untestable },
  "CFG-4": {
    section,
    level: "policy",
    says: "`created_at` is an optional ISO 8601 timestamp without zone.",
    untestable,
  },
  "CFG-5": { section, level: "policy", says: "`agent_id` is optional, unique, and generated when absent.", untestable },
  "CFG-6": {
    section,
    level: "policy",
    says: "`template_source` is an optional object of the strings `repo_url`, `author` and `path`.",
    untestable,
  },
  "CFG-7": { section, level: "policy", says: "`auth_settings.type` is a string and defaults to `none`.", untestable },
  "CFG-8": { section, level: "policy", says: "`env_vars` is an optional map of variable name to string.", untestable },
  "CFG-9": {
    section,
    level: "policy",
    says: "`deployment.timeout` is in seconds and defaults to 30; `deployment.memory` is a string with unit and defaults to 512MB.",
    untestable,
  },
  "CFG-10": {
    section,
    level: "policy",
    says: "`webhooks.endpoints` is an optional array of webhook endpoint configs.",
    untestable,
  },
  "CFG-11": {
    section: "Resources and their fields / Entrypoint",
    level: "policy",
    says: "An entrypoint has the strings `file`, `module` and `tag`; the tag selects it.",
    untestable,
  },
  "CFG-12": {
    section: "Resources and their fields / Entrypoint",
    level: "policy",
    says: "The tag of a streaming entrypoint ends in `_stream`, and only such a tag marks one.",
    untestable,
  },
  "CFG-13": {
    section: "Resources and their fields / Webhook endpoint config (inside the configuration file)",
    level: "policy",
    says: "A configured endpoint has a `url` and `events`; a wildcard such as `agent.*` is accepted.",
    untestable,
  },
  "CFG-14": {
    section: "Resources and their fields / Webhook endpoint config (inside the configuration file)",
    level: "policy",
    says: "`headers` of a configured endpoint are sent with each delivery.",
    untestable,
  },
} as const satisfies ClauseTable;
