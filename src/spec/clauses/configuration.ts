import { policy, type ClauseTable } from "../clause.ts";

const section = "Resources and their fields / Agent configuration (file)";
const untestable = "A file on the vendor's side; the interface has no endpoint that reads or shows it.";

export const configurationClauses = {
  "CFG-1": policy(
    section,
    "The file requires `agent_name`, `framework`, `version` (strings) and `agent_architecture` (object).",
    { untestable },
  ),
  "CFG-2": policy(section, "`agent_architecture.entrypoints` is a required array of entrypoints.", { untestable }),
  "CFG-3": policy(section, "`description` and `template` are optional strings.", { untestable }),
  "CFG-4": policy(section, "`created_at` is an optional ISO 8601 timestamp without zone.", { untestable }),
  "CFG-5": policy(section, "`agent_id` is optional, unique, and generated when absent.", { untestable }),
  "CFG-6": policy(section, "`template_source` is an optional object of the strings `repo_url`, `author` and `path`.", {
    untestable,
  }),
  "CFG-7": policy(section, "`auth_settings.type` is a string and defaults to `none`.", { untestable }),
  "CFG-8": policy(section, "`env_vars` is an optional map of variable name to string.", { untestable }),
  "CFG-9": policy(
    section,
    "`deployment.timeout` is in seconds and defaults to 30; `deployment.memory` is a string with unit and defaults to 512MB.",
    { untestable },
  ),
  "CFG-10": policy(section, "`webhooks.endpoints` is an optional array of webhook endpoint configs.", { untestable }),
  "CFG-11": policy(
    "Resources and their fields / Entrypoint",
    "An entrypoint has the strings `file`, `module` and `tag`; the tag selects it.",
    { untestable },
  ),
  "CFG-12": policy(
    "Resources and their fields / Entrypoint",
    "The tag of a streaming entrypoint ends in `_stream`, and only such a tag marks one.",
    { untestable },
  ),
  "CFG-13": policy(
    "Resources and their fields / Webhook endpoint config (inside the configuration file)",
    "A configured endpoint has a `url` and `events`; a wildcard such as `agent.*` is accepted.",
    { untestable },
  ),
  "CFG-14": policy(
    "Resources and their fields / Webhook endpoint config (inside the configuration file)",
    "`headers` of a configured endpoint are sent with each delivery.",
    { untestable },
  ),
} as const satisfies ClauseTable;
