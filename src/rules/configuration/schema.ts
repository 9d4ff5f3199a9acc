import { z } from "zod";

import { webhookEvents } from "../../spec/events-and-errors.ts";
import { hasZone, isTimestamp } from "../bodies/timestamps.ts";

// Error messages in this file complete the sentence "expected …".

const text = z.string("a string");
const object = "an object";

const localTime = "an ISO 8601 timestamp without a zone, such as 2026-01-05T08:00:00";
const createdAt = z
  .string(localTime)
  .regex(/^[\dWw-]{7,10}([Tt ][\d:.,]+)?$/, { error: localTime, abort: true })
  .refine((written) => isTimestamp(written) && !hasZone(written), localTime);

// The document gives the unit of `timeout` but no type, so a string with a number passes, too.
const seconds = z.union([z.number(), z.string().regex(/^\d+(\.\d+)?$/)], "a number of seconds");

const memory = z
  .string("a string with a number and a unit, such as 512MB")
  .regex(/^\s*\d+(\.\d+)?\s*[A-Za-z]+\s*$/, "a string with a number and a unit, such as 512MB");

const receiverUrl = z
  .string("an http or https URL")
  .refine((written) => /^https?:$/.test(URL.parse(written)?.protocol ?? ""), "an http or https URL")
  .meta({ format: "uri" });

/** Whether a text is an event type, or a wildcard form, such as `agent.*`, that selects at least one type. */
function selectsEvents(written: string): boolean {
  const pattern = written
    .split("*")
    .map((part) => RegExp.escape(part))
    .join(".*");
  return webhookEvents.some((type) => new RegExp(`^${pattern}$`).test(type));
}

const allowedEvent = "an event type of the document, or a wildcard form such as agent.*";
const event = z
  .string(allowedEvent)
  .refine(selectsEvents, allowedEvent)
  .meta({ anyOf: [{ enum: [...webhookEvents, "agent.*"] }, { pattern: "\\*" }] });

/** The name of a header is a token of RFC 9110, section 5.6.2. */
const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "the name of a header");
const headerValue = z.string("a string").regex(/^[\t\x20-\x7e\x80-\uffff]*$/, "a string without line breaks");

const endpoint = z.looseObject(
  {
    url: receiverUrl.describe("Address of the receiver."),
    events: z.array(event, "an array of strings").nullish().describe("Event types, or wildcard forms."),
    headers: z.record(headerName, headerValue, "an object of strings").nullish().describe("Sent with each delivery."),
  },
  object,
);

const entrypoint = z.looseObject(
  {
    file: text.nullish().describe("Path of the source file."),
    module: text.nullish().describe("Name of the function."),
    tag: text.describe("Selects the entrypoint. Must end in _stream for a streaming entrypoint."),
  },
  object,
);

/** Schema from the document's section "Agent configuration (file)". A file fails exactly if it breaks a must clause. */
export const agentConfigurationSchema = z.looseObject(
  {
    agent_name: text,
    framework: text,
    version: text.describe("Version of the agent."),
    agent_architecture: z.looseObject({ entrypoints: z.array(entrypoint, "an array of entrypoints") }, object),
    description: text.nullish(),
    template: text.nullish(),
    created_at: createdAt.nullish().describe("ISO 8601 timestamp without a zone."),
    agent_id: text.nullish().describe("Unique; generated if it is absent."),
    template_source: z
      .looseObject({ repo_url: text.nullish(), author: text.nullish(), path: text.nullish() }, object)
      .nullish(),
    auth_settings: z.looseObject({ type: text.nullish().describe("Default: none.") }, object).nullish(),
    env_vars: z.record(z.string(), text, "an object of strings").nullish(),
    deployment: z
      .looseObject(
        {
          timeout: seconds.nullish().describe("Seconds. Default: 30."),
          memory: memory.nullish().describe("With a unit. Default: 512MB."),
        },
        object,
      )
      .nullish(),
    webhooks: z
      .looseObject({ endpoints: z.array(endpoint, "an array of webhook endpoints").nullish() }, object)
      .nullish(),
  },
  object,
);
