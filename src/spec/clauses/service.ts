import { type ClauseTable, gap, must, policy, withExtras } from "../clause.ts";

const service = "What the service does";

export const serviceClauses = {
  "SVC-1": must(`${service} 1`, "Bodies of requests and responses are JSON."),
  "SVC-2": must(`${service} 1`, "Streaming uses Server-Sent Events."),
  "SVC-3": must(`${service} 2`, "Every path starts with `/v1`, and the published base address already ends in it."),
  "SVC-4": policy(`${service} 2`, "A client must not send the version segment twice.", {
    party: "client",
    untestable:
      "A rule for clients, which CLI-1 judges. The harness keeps it: a base address works with and without `/v1` and a trailing slash.",
  }),
  "SVC-5": policy(`${service} 2`, "A local development server is reachable at a local address.", {
    untestable: "The document leaves the address out; the harness judges whichever address it is given.",
  }),
  "SVC-6": policy(
    `${service} 3`,
    "The service offers invocation, streaming, health, listing, usage, webhooks, alerts, key usage, operations and batches.",
    {
      untestable: "A summary: each capability has its own clauses (INV, SSE, HLT, LST, USE, WHK, ALR, KEY, OPS, BAT).",
    },
  ),
  "SVC-7": policy(
    `${service} 4`,
    "An agent is defined by a configuration file that lists entrypoints, each a function with a tag.",
    { party: "file", untestable: "No request shows the file; `conformance config FILE` judges its entrypoints." },
  ),
  "SVC-8": policy(`${service} 5`, "An agent can run locally or in the cloud.", {
    party: "people",
    untestable: "A deployment choice; the same clauses hold for both.",
  }),
  "SVC-9": gap(`${service} 6`, "Creating, deploying, updating and deleting agents over HTTP is not shown.", {
    untestable: "Trying it could create or delete agents of the target, so the harness never does.",
  }),
} as const satisfies ClauseTable;

const configuration = "Resources and their fields / Agent configuration (file)";
const ownFile = {
  party: "file",
  untestable: "No request shows the file; `conformance config FILE` judges it.",
} as const;

export const configurationClauses = withExtras(ownFile, {
  "CFG-1": policy(
    configuration,
    "The file requires `agent_name`, `framework`, `version` (strings) and `agent_architecture` (object).",
  ),
  "CFG-2": policy(configuration, "`agent_architecture.entrypoints` is a required array of entrypoints."),
  "CFG-3": policy(configuration, "`description` and `template` are optional strings."),
  "CFG-4": policy(configuration, "`created_at` is an optional ISO 8601 timestamp without zone."),
  "CFG-5": policy(configuration, "`agent_id` is optional, unique, and generated when absent."),
  "CFG-6": policy(
    configuration,
    "`template_source` is an optional object of the strings `repo_url`, `author` and `path`.",
  ),
  "CFG-7": policy(configuration, "`auth_settings.type` is a string and defaults to `none`."),
  "CFG-8": policy(configuration, "`env_vars` is an optional map of variable name to string."),
  "CFG-9": policy(
    configuration,
    "`deployment.timeout` is in seconds and defaults to 30; `deployment.memory` is a string with unit and defaults to 512MB.",
  ),
  "CFG-10": policy(configuration, "`webhooks.endpoints` is an optional array of webhook endpoint configs."),
  "CFG-11": policy(
    "Resources and their fields / Entrypoint",
    "An entrypoint has the strings `file`, `module` and `tag`; the tag selects it.",
  ),
  "CFG-12": policy(
    "Resources and their fields / Entrypoint",
    "The tag of a streaming entrypoint ends in `_stream`, and only such a tag marks one.",
  ),
  "CFG-13": policy(
    "Resources and their fields / Webhook endpoint config (inside the configuration file)",
    "A configured endpoint has a `url` and `events`; a wildcard such as `agent.*` is accepted.",
  ),
  "CFG-14": policy(
    "Resources and their fields / Webhook endpoint config (inside the configuration file)",
    "`headers` of a configured endpoint are sent with each delivery.",
  ),
});

const requestRules = "Endpoints / Common request rules";

export const requestClauses = {
  "REQ-1": must(requestRules, "The cloud address is served over HTTPS.", {
    readings: {
      https: "the address is served over HTTPS",
      local: "a local address, of which the document does not ask it",
    },
  }),
  "REQ-2": must(requestRules, "Every endpoint requires the header `Authorization: Bearer <API_KEY>`."),
  "REQ-3": must(requestRules, "A request body is sent as `application/json`, and is accepted as such."),
  "REQ-4": must(
    requestRules,
    "`Accept: application/json` is answered with JSON, and on the stream endpoint `text/event-stream` with an event stream.",
  ),
  "REQ-5": must(requestRules, "A POST with a JSON body is accepted, whatever its white space and key order."),
  "REQ-6": gap(requestRules, "What happens to a body that is not JSON, or is declared as another type, is not shown."),
  "REQ-7": must(
    requestRules,
    "An endpoint answers in one of the two published shapes: its fields at the top level, or the envelope.",
    {
      readings: {
        "top-level": "the endpoint's own fields stand at the top level",
        envelope: "the fields stand in `data` (or `data.result`) of `{status, data}`",
      },
    },
  ),
  "REQ-8": must(
    requestRules,
    "In the envelope, `status` is `success` or `error`, `data.metadata.execution_time` is a number and `tokens_used` an integer.",
    {
      readings: {
        absent: "no endpoint answers with the envelope",
        envelope: "the envelope is used, with its fields as published",
      },
    },
  ),
  "REQ-10": gap(
    requestRules,
    "Whether a body type that is written with a parameter, such as `; charset=utf-8`, is accepted is not shown.",
  ),
  "REQ-11": must(
    "Errors / Error codes",
    "A body that is no JSON, or JSON and no object, is invalid input: it answers 400, with a code that the table does not give to another status.",
    { since: "1.1" },
  ),
  "REQ-9": gap(requestRules, "Which endpoints other than invoke and health use which response shape is not shown."),
} as const satisfies ClauseTable;

const versioning = "Versioning";

export const versioningClauses = {
  "VER-1": must(`${versioning} 1`, "The version is carried in the path, and the current version is `v1`."),
  "VER-2": policy(`${versioning} 2`, "A superseded version is supported for 12 months.", {
    party: "people",
    untestable: "A promise about time.",
  }),
  "VER-3": policy(`${versioning} 3`, "Deprecation is announced 6 months in advance.", {
    party: "people",
    untestable: "A promise about time and people.",
  }),
  "VER-4": must(
    `${versioning} 4`,
    "`metadata.agent_version` of invoke and `version` of health are the same version of an agent.",
    {
      readings: {
        same: "both show it, and agree",
        "not-shown": "one of the two optional fields, or both, are left out",
      },
    },
  ),
} as const satisfies ClauseTable;
