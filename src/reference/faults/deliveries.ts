import type { WebhookEvent } from "../../spec/events.ts";
import type { Behaviour } from "../behaviour/behaviour.ts";
import { overrideResult } from "../overrides.ts";
import { editField, setField, removeField } from "../json-edit.ts";
import { faults, type Override } from "../patch.ts";

const event = overrideResult("eventBody");

const eventOf = (type: WebhookEvent, change: (body: unknown) => unknown): Override =>
  event((body, facts) => (facts.type === type ? change(body) : body));

const completed = (change: (body: unknown) => unknown): Override => eventOf("agent.completed", change);
const failure = (change: (body: unknown) => unknown): Override => eventOf("agent.failed", change);

export const eventRecordFaults = faults("Resources / Webhook delivery event", {
  "event-without-id": [["HOOK-1"], "An event has no `id`.", event((body) => removeField(body, "id"))],
  "event-id-number": [
    ["HOOK-1"],
    "The `id` of an event is a number.",
    event((body) => editField(body, "id", (id) => Number(String(id).replace(/\D/g, "")))),
  ],
  "event-types-upper-case": [
    ["HOOK-2"],
    "Event types are in upper case.",
    event((body) => editField(body, "type", (type) => String(type).toUpperCase().replace(".", "_"))),
  ],
  "event-type-of-another-word": [
    ["HOOK-2"],
    "The type `agent.invoked` is called `agent.started`.",
    eventOf("agent.invoked", (body) => setField(body, "type", "agent.started")),
  ],
  "event-created-in-seconds": [
    ["HOOK-3"],
    "`created` is a number.",
    event((body, { createdMs }) => setField(body, "created", Math.floor(createdMs / 1000))),
  ],
  "event-created-in-another-zone": [
    ["HOOK-3"],
    "`created` is in another zone than UTC.",
    event((body, { createdMs }) =>
      setField(body, "created", new Date(createdMs + 7_200_000).toISOString().replace("Z", "+02:00")),
    ),
  ],
  "event-created-with-a-blank": [
    ["HOOK-3"],
    "`created` is a date and a time with the name of the zone.",
    event((body) => editField(body, "created", (time) => `${String(time).slice(0, 19).replace("T", " ")} UTC`)),
  ],
  "event-data-null": [
    ["HOOK-4"],
    "`data` of `agent.invoked` is null.",
    eventOf("agent.invoked", (body) => setField(body, "data", null)),
  ],
  "event-data-as-text": [
    ["HOOK-4"],
    "`data` of `agent.invoked` is JSON in a text.",
    eventOf("agent.invoked", (body) => editField(body, "data", (data) => JSON.stringify(data))),
  ],
  "event-without-agent": [["HOOK-5"], "An event has no `agent_id`.", event((body) => removeField(body, "agent_id"))],
  "event-agent-as-object": [
    ["HOOK-5"],
    "`agent_id` is an object.",
    event((body) => editField(body, "agent_id", (id) => ({ id }))),
  ],
  "failed-told-to-webhooks-of-others": [
    ["WHK-3"],
    "`agent.failed` is told to webhooks that are tied to another agent, too.",
    (base) => {
      let told = "";
      return {
        selectsType: (events, type) => {
          told = type;
          return base.selectsType(events, type);
        },
        selectsAgent: (tiedTo, agentId) => told === "agent.failed" || base.selectsAgent(tiedTo, agentId),
      };
    },
  ],
  "deployments-told-to-webhooks-of-others": [
    ["WHK-3"],
    "Deployment events are told to webhooks that are tied to another agent, too.",
    (base) => {
      let told = "";
      return {
        selectsType: (events, type) => {
          told = type;
          return base.selectsType(events, type);
        },
        selectsAgent: (tiedTo, agentId) => told.startsWith("deployment.") || base.selectsAgent(tiedTo, agentId),
      };
    },
  ],
  "event-of-another-agent": [
    ["HOOK-36"],
    "`agent_id` is that of another agent.",
    event((body) => editField(body, "agent_id", (id) => (id === "echo" ? "plain-01" : "echo"))),
  ],
  "event-of-1970": [
    ["HOOK-37"],
    "`created` is the beginning of 1970.",
    event((body) => editField(body, "created", () => "1970-01-01T00:00:00Z")),
  ],
  "event-in-local-time": [
    ["HOOK-37"],
    "`created` is the time of a zone thirteen hours east, and says UTC.",
    event((body) =>
      editField(body, "created", (at) => new Date(Date.parse(String(at)) + 13 * 3_600_000).toISOString()),
    ),
  ],
  "event-deployment-number": [
    ["HOOK-6"],
    "`deployment_id` is a number.",
    event((body) => setField(body, "deployment_id", 7)),
  ],
});

/** One event type that is sent to nobody. */
const unsent =
  (type: WebhookEvent): Override =>
  (base) => ({ selectsType: (events, given) => given !== type && base.selectsType(events, given) });

export const deliveredEventFaults = faults("Events / Webhook events", {
  "invoked-not-sent": [["HOOK-7"], "`agent.invoked` is not sent.", unsent("agent.invoked")],
  "completed-not-sent": [["HOOK-8"], "`agent.completed` is not sent.", unsent("agent.completed")],
  "failed-not-sent": [["HOOK-9"], "`agent.failed` is not sent.", unsent("agent.failed")],
  "timeout-not-sent": [["HOOK-10"], "`agent.timeout` is not sent.", unsent("agent.timeout")],
  "deployment-created-not-sent": [["HOOK-11"], "`deployment.created` is not sent.", unsent("deployment.created")],
  "deployment-updated-not-sent": [["HOOK-12"], "`deployment.updated` is not sent.", unsent("deployment.updated")],
  "deployment-deleted-not-sent": [["HOOK-13"], "`deployment.deleted` is not sent.", unsent("deployment.deleted")],
  "health-change-not-sent": [
    ["HOOK-14"],
    "`deployment.health_changed` is not sent.",
    unsent("deployment.health_changed"),
  ],
  "subscription-of-deployments-widened": [
    ["HOOK-15"],
    "A webhook of several deployment events gets execution events as well.",
    (base) => ({
      selectsType: (events, type) =>
        events.filter((each) => each.startsWith("deployment.")).length > 1 || base.selectsType(events, type),
    }),
  ],
  "subscription-first-only": [
    ["HOOK-15"],
    "Of two event types a webhook gets the first.",
    (base) => ({
      selectsType: (events, type) => base.selectsType(events.length === 2 ? events.slice(0, 1) : events, type),
    }),
  ],
  "wildcard-selects-nothing": [
    ["HOOK-16"],
    "`agent.*` selects nothing.",
    () => ({ selectsType: (events, type) => events.includes(type) }),
  ],
  "wildcard-selects-all": [
    ["HOOK-16"],
    "`agent.*` selects deployment events as well.",
    (base) => ({ selectsType: (events, type) => events.includes("agent.*") || base.selectsType(events, type) }),
  ],
  ...wildcardWithout("agent.invoked", "agent.completed", "agent.failed", "agent.timeout"),
  "completed-without-request-id": [
    ["HOOK-17"],
    "`data` of `agent.completed` has no `request_id`.",
    completed((body) => removeField(body, "data.request_id")),
  ],
  "completed-input-as-text": [
    ["HOOK-17"],
    "`input` is the query itself.",
    completed((body) => editField(body, "data.input", (input) => JSON.stringify(input))),
  ],
  "completed-result-as-text": [
    ["HOOK-17"],
    "`result` is the text itself.",
    completed((body) => editField(body, "data.result", (result) => JSON.stringify(result))),
  ],
  "completed-without-result": [
    ["HOOK-17"],
    "`data` of `agent.completed` has no `result`.",
    completed((body) => removeField(body, "data.result")),
  ],
  "completed-time-as-text": [
    ["HOOK-17"],
    "`execution_time` is a text with its unit.",
    completed((body) => editField(body, "data.execution_time", (time) => `${String(time)}s`)),
  ],
  "completed-time-negative": [
    ["HOOK-41"],
    "`execution_time` of `agent.completed` is negative.",
    completed((body) => setField(body, "data.execution_time", -1)),
  ],
  "completed-tokens-as-text": [
    ["HOOK-17"],
    "`tokens_used` is a text.",
    completed((body) => editField(body, "data.tokens_used", String)),
  ],
  "completed-tokens-broken": [
    ["HOOK-17"],
    "`tokens_used` is no whole number.",
    completed((body) => editField(body, "data.tokens_used", (tokens) => Number(tokens) + 0.5)),
  ],
  "failed-details-as-object": [
    ["HOOK-18"],
    "`error.details` is an object.",
    failure((body) => editField(body, "data.error.details", (details) => ({ reason: details }))),
  ],
  "failed-error-as-text": [
    ["HOOK-18"],
    "`error` is a text.",
    failure((body) => setField(body, "data.error", "EXECUTION_ERROR")),
  ],
  "failed-without-details": [
    ["HOOK-18"],
    "`error` has no `details`.",
    failure((body) => removeField(body, "data.error.details")),
  ],
  "failed-without-input": [
    ["HOOK-18"],
    "`data` of `agent.failed` has no `input`.",
    failure((body) => removeField(body, "data.input")),
  ],
  "failed-code-of-http": [
    ["HOOK-20"],
    "The code of `agent.failed` is INTERNAL_ERROR.",
    failure((body) => setField(body, "data.error.code", "INTERNAL_ERROR")),
  ],
  "failed-code-lower-case": [
    ["HOOK-20"],
    "The code of `agent.failed` is in lower case.",
    failure((body) => editField(body, "data.error.code", (code) => String(code).toLowerCase())),
  ],
});

/** Faults of a wildcard that leaves one type out. */
function wildcardWithout(...types: readonly WebhookEvent[]) {
  const row = (type: WebhookEvent) =>
    [
      ["HOOK-16"],
      `\`agent.*\` does not select \`${type}\`.`,
      (base: Behaviour) => ({
        selectsType: (events: readonly string[], given: string) =>
          given === type ? events.includes(type) : base.selectsType(events, given),
      }),
    ] as const;
  return Object.fromEntries(types.map((type) => [`wildcard-without-${type.replace("agent.", "")}`, row(type)]));
}
