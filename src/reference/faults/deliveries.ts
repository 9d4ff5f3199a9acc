import type { WebhookEvent } from "../../spec/events-and-errors.ts";
import { setField } from "../json-edit.ts";
import { fault, faults, overrideJson, overrideResult, withLast, type Override } from "../patch.ts";

const eventBody = overrideJson("eventBody");
const selectsType = overrideResult("selectsType");

const eventOf = (type: WebhookEvent) => eventBody.when((input) => input.type === type);
const invokedBody = eventOf("agent.invoked");
const completedBody = eventOf("agent.completed");
const failedBody = eventOf("agent.failed");

const sendToOtherAgents = (matches: (type: string) => boolean): Override =>
  withLast("selectsType", (last) => overrideResult("selectsAgent")((selects) => selects || matches(last()?.[1] ?? "")));

const deliveryEventFaults = faults("Resources / Webhook delivery event", {
  "event-without-id": fault("HOOK-1", "An event has no `id`.").by(eventBody.remove("id")),
  "event-id-number": fault("HOOK-1", "The `id` of an event is a number.").by(
    eventBody.change("id", (id) => Number(String(id).replace(/\D/g, ""))),
  ),
  "event-types-upper-case": fault("HOOK-2", "Event types are in upper case.").by(
    eventBody.change("type", (type) => String(type).toUpperCase().replace(".", "_")),
  ),
  "event-type-of-another-word": fault("HOOK-2", "The type `agent.invoked` is called `agent.started`.").by(
    invokedBody.set("type", "agent.started"),
  ),
  "event-created-in-seconds": fault("HOOK-3", "`created` is a number.").by(
    eventBody((body, { createdMs }) => setField(body, "created", Math.floor(createdMs / 1000))),
  ),
  "event-created-in-another-zone": fault("HOOK-3", "`created` is in another zone than UTC.").by(
    eventBody((body, { createdMs }) =>
      setField(body, "created", new Date(createdMs + 7_200_000).toISOString().replace("Z", "+02:00")),
    ),
  ),
  "event-created-with-a-blank": fault("HOOK-3", "`created` is a date and a time with the name of the zone.").by(
    eventBody.change("created", (time) => `${String(time).slice(0, 19).replace("T", " ")} UTC`),
  ),
  "event-data-null": fault("HOOK-4", "`data` of `agent.invoked` is null.").by(invokedBody.set("data", null)),
  "event-data-as-text": fault("HOOK-4", "`data` of `agent.invoked` is JSON in a text.").by(
    invokedBody.change("data", (data) => JSON.stringify(data)),
  ),
  "event-without-agent": fault("HOOK-5", "An event has no `agent_id`.").by(eventBody.remove("agent_id")),
  "event-agent-as-object": fault("HOOK-5", "`agent_id` is an object.").by(
    eventBody.change("agent_id", (id) => ({ id })),
  ),
  "failed-told-to-webhooks-of-others": fault("WHK-3", "Webhooks of another agent get `agent.failed`, too.").by(
    sendToOtherAgents((type) => type === "agent.failed"),
  ),
  "deployments-told-to-webhooks-of-others": fault("WHK-3", "Webhooks of another agent get deployment events, too.").by(
    sendToOtherAgents((type) => type.startsWith("deployment.")),
  ),
  "event-of-another-agent": fault("HOOK-36", "`agent_id` is that of another agent.").by(
    eventBody.change("agent_id", (id) => (id === "echo" ? "plain-01" : "echo")),
  ),
  "event-of-1970": fault("HOOK-37", "`created` is the beginning of 1970.").by(
    eventBody.change("created", () => "1970-01-01T00:00:00Z"),
  ),
  "event-in-local-time": fault("HOOK-37", "`created` is the time of a zone thirteen hours east, marked as UTC.").by(
    eventBody.change("created", (at) => new Date(Date.parse(String(at)) + 13 * 3_600_000).toISOString()),
  ),
  "event-deployment-number": fault("HOOK-6", "`deployment_id` is a number.").by(eventBody.set("deployment_id", 7)),
});

const omitEventType = (omitted: WebhookEvent): Override =>
  selectsType((selects, _events, type) => selects && type !== omitted);

const deliveredEventFaults = faults("Events / Webhook events", {
  "invoked-not-sent": fault("HOOK-7", "`agent.invoked` is not sent.").by(omitEventType("agent.invoked")),
  "completed-not-sent": fault("HOOK-8", "`agent.completed` is not sent.").by(omitEventType("agent.completed")),
  "failed-not-sent": fault("HOOK-9", "`agent.failed` is not sent.").by(omitEventType("agent.failed")),
  "timeout-not-sent": fault("HOOK-10", "`agent.timeout` is not sent.").by(omitEventType("agent.timeout")),
  "deployment-created-not-sent": fault("HOOK-11", "`deployment.created` is not sent.").by(
    omitEventType("deployment.created"),
  ),
  "deployment-updated-not-sent": fault("HOOK-12", "`deployment.updated` is not sent.").by(
    omitEventType("deployment.updated"),
  ),
  "deployment-deleted-not-sent": fault("HOOK-13", "`deployment.deleted` is not sent.").by(
    omitEventType("deployment.deleted"),
  ),
  "health-change-not-sent": fault("HOOK-14", "`deployment.health_changed` is not sent.").by(
    omitEventType("deployment.health_changed"),
  ),
  "subscription-of-deployments-widened": fault(
    "HOOK-15",
    "A webhook of several deployment events gets execution events as well.",
  ).by(selectsType((selects, events) => selects || events.filter((each) => each.startsWith("deployment.")).length > 1)),
  "subscription-first-only": fault("HOOK-15", "A webhook of two event types gets only the first.").by(
    (base) => ({
      selectsType: (events, type) => base.selectsType(events.length === 2 ? events.slice(0, 1) : events, type),
    }),
    ["HOOK-16", "HOOK-9"],
  ),
  "wildcard-selects-only-as-first": fault("HOOK-16", "`agent.*` selects nothing if it is not the first event.").by(
    (base) => ({
      selectsType: (events, type) =>
        base.selectsType(
          events.filter((each, at) => at === 0 || each !== "agent.*"),
          type,
        ),
    }),
  ),
  "wildcard-selects-nothing": fault("HOOK-16", "`agent.*` selects nothing.").by(
    selectsType((_, events, type) => events.includes(type)),
  ),
  "wildcard-selects-all": fault("HOOK-16", "`agent.*` selects deployment events as well.").by(
    selectsType((selects, events) => selects || events.includes("agent.*")),
  ),
  "wildcard-selects-removals": fault("HOOK-16", "`agent.*` selects `deployment.deleted` as well.").by(
    selectsType((selects, events, type) => selects || (type === "deployment.deleted" && events.includes("agent.*"))),
  ),
  ...faultsOfWildcard("agent.invoked", "agent.completed", "agent.failed", "agent.timeout"),
  "completed-without-request-id": fault("HOOK-17", "`data` of `agent.completed` has no `request_id`.").by(
    completedBody.remove("data.request_id"),
  ),
  "completed-input-as-text": fault("HOOK-17", "`input` is the query itself.").by(
    completedBody.change("data.input", (input) => JSON.stringify(input)),
    ["HOOK-8"],
  ),
  "completed-result-as-text": fault("HOOK-17", "`result` is the text itself.").by(
    completedBody.change("data.result", (result) => JSON.stringify(result)),
  ),
  "completed-without-result": fault("HOOK-17", "`data` of `agent.completed` has no `result`.").by(
    completedBody.remove("data.result"),
  ),
  "completed-time-as-text": fault("HOOK-17", "`execution_time` is a text with its unit.").by(
    completedBody.change("data.execution_time", (time) => `${String(time)}s`),
  ),
  "completed-time-negative": fault("HOOK-41", "`execution_time` of `agent.completed` is negative.").by(
    completedBody.set("data.execution_time", -1),
  ),
  "completed-tokens-as-text": fault("HOOK-17", "`tokens_used` is a text.").by(
    completedBody.change("data.tokens_used", String),
  ),
  "completed-tokens-broken": fault("HOOK-17", "`tokens_used` is no whole number.").by(
    completedBody.change("data.tokens_used", (tokens) => Number(tokens) + 0.5),
  ),
  "failed-details-as-object": fault("HOOK-18", "`error.details` is an object.").by(
    failedBody.change("data.error.details", (details) => ({ reason: details })),
  ),
  "failed-error-as-text": fault("HOOK-18", "`error` is a text.").by(failedBody.set("data.error", "EXECUTION_ERROR")),
  "failed-without-details": fault("HOOK-18", "`error` has no `details`.").by(failedBody.remove("data.error.details")),
  "failed-without-input": fault("HOOK-18", "`data` of `agent.failed` has no `input`.").by(
    failedBody.remove("data.input"),
  ),
  "failed-code-of-http": fault("HOOK-20", "The code of `agent.failed` is INTERNAL_ERROR.").by(
    failedBody.set("data.error.code", "INTERNAL_ERROR"),
  ),
  "failed-code-lower-case": fault("HOOK-20", "The code of `agent.failed` is in lower case.").by(
    failedBody.change("data.error.code", (code) => String(code).toLowerCase()),
  ),
});

function faultsOfWildcard(...types: readonly WebhookEvent[]) {
  const rows = types.map((type) => {
    const row = fault("HOOK-16", `\`agent.*\` does not select \`${type}\`.`).by(
      selectsType((selects, events, given) => (given === type ? events.includes(type) : selects)),
    );
    return [`wildcard-without-${type.replace("agent.", "")}`, row] as const;
  });
  return Object.fromEntries(rows);
}

export const deliveryFaults = [...deliveryEventFaults, ...deliveredEventFaults];
