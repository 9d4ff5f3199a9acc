import { validateHeaderName, validateHeaderValue } from "node:http";

import { line } from "../base/line.ts";
import { readTextFile } from "../base/read-file.ts";
import { UsageError } from "../base/usage-error.ts";
import type { Header } from "../evidence/exchange.ts";
import type { DeliverySettings } from "../run/run-deliveries.ts";
import { headerNames } from "../spec/headers.ts";
import { executionEvents, webhookEvents, type WebhookEvent } from "../spec/events.ts";

/** Flags that describe the webhooks of a receiver. */
export interface DeliveryFlags {
  readonly secretFile: readonly string[];
  readonly header: readonly string[];
  readonly events?: string;
  readonly agent: string;
}

export const secretVariable = "CONFORMANCE_WEBHOOK_SECRET";

/**
 * Reads the settings that all deliveries to a receiver share.
 *
 * @throws {UsageError}
 */
export const readDeliverySettings = (
  flags: DeliveryFlags,
  environment: Readonly<Record<string, string | undefined>>,
): DeliverySettings => ({
  secrets: readSecrets(flags, environment),
  events: readEvents(flags),
  agent: flags.agent,
  headers: flags.header.map(readHeader),
});

function readSecrets(
  { secretFile }: DeliveryFlags,
  environment: Readonly<Record<string, string | undefined>>,
): DeliverySettings["secrets"] {
  const [first, ...others] = secretFile.map(secretIn);
  const secret = first ?? environment[secretVariable];
  if (secret === undefined || secret === "")
    throw new UsageError(line`There is no webhook secret. Set ${secretVariable}, or give --secret-file.`);
  return [secret, ...others];
}

/** Reads a secret from a file. Removes the line feed that editors add at the end. */
function secretIn(path: string): string {
  const secret = readTextFile(path, "--secret-file").replace(/\r?\n$/, "");
  if (secret !== "") return secret;
  throw new UsageError(line`--secret-file is empty: ${path}. It holds the secret of one webhook.`);
}

function readEvents({ events }: DeliveryFlags): DeliverySettings["events"] {
  const chosen = (events ?? webhookEvents.join(",")).split(",").flatMap((name) => eventsNamed(name.trim()));
  const [first, ...others] = new Set(chosen);
  if (first === undefined) throw new UsageError(line`--events is empty. Give event types, separated by commas.`);
  return [first, ...others];
}

function eventsNamed(name: string): readonly WebhookEvent[] {
  if (name === "agent.*") return executionEvents;
  const event = webhookEvents.find((each) => each === name);
  if (event !== undefined) return [event];
  throw new UsageError(
    line`--events has ${JSON.stringify(name)}, which is no event type. Known: agent.*, ${webhookEvents.join(", ")}.`,
  );
}

/**
 * Names, in lower case, of headers that the harness sets in each delivery. A user's value would break the delivery or
 * its signature.
 */
const ownHeaders: readonly string[] = [
  "connection",
  "content-length",
  "content-type",
  "host",
  "transfer-encoding",
  headerNames.deliverySignature.toLowerCase(),
];

function readHeader(text: string): Header {
  const at = text.indexOf(":");
  const [name, value] = [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  if (ownHeaders.includes(name.toLowerCase()))
    throw new UsageError(line`--header must not name ${name}: the harness sets this header for each delivery.`);
  if (at > 0 && isSendable(name, value)) return [name, value];
  // The message does not repeat the header, because its value may be a secret.
  throw new UsageError(line`--header is not a header. Give it like --header 'X-Tenant: acme'.`);
}

function isSendable(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
