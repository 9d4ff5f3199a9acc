import { readFileSync } from "node:fs";
import { join } from "node:path";

import { getPath, tryParseJson } from "../base/json.ts";
import { line } from "../base/line.ts";
import { UsageError } from "../base/usage-error.ts";
import type { Evidence } from "../evidence/evidence.ts";
import type { Body, Header } from "../evidence/exchange.ts";
import { deliveryLines, exchangeLines } from "../report/model/exchange-text.ts";
import { readEvidence } from "../report/model/report-file.ts";
import { folderOf, withReadErrors } from "./report-folder/saved-run.ts";

/**
 * Part of the message to print. `all`: the exchange or delivery as findings show it. `secret`: the webhook's secret.
 */
export type MessagePart = "all" | "headers" | "body" | "secret";

export interface RecordedPartChoice {
  readonly path: string;
  readonly id: string;
  readonly part: MessagePart;
  /** Whether to print the exchange's request instead of its response. Has no effect on a delivery. */
  readonly isRequest: boolean;
}

export type RecordedPart =
  | { readonly kind: "bytes"; readonly bytes: Buffer }
  | { readonly kind: "lines"; readonly lines: readonly string[] };

export function readRecordedPart(choice: RecordedPartChoice): RecordedPart {
  const { exchanges, deliveries } = readRecordedEvidence(choice.path);
  const delivery = deliveries.find(({ id }) => id === choice.id);
  if (delivery !== undefined)
    return choice.part === "all"
      ? { kind: "lines", lines: deliveryLines(delivery) }
      : selectPart(delivery.request, choice);
  const exchange = exchanges.find(({ id }) => id === choice.id);
  if (exchange === undefined) throw new UsageError(missingMessageText(choice, exchanges.length, deliveries.length));
  if (choice.part === "all") return { kind: "lines", lines: exchangeLines(exchange) };
  if (choice.isRequest || choice.part === "secret") return selectPart(exchange.request, choice);
  if (exchange.answer.kind === "answered") return selectPart(exchange.answer, choice);
  throw new UsageError(line`${choice.id} has no response. Give --request for its request.`);
}

const missingMessageText = ({ path, id }: RecordedPartChoice, exchanges: number, deliveries: number) =>
  line`${path} has no exchange or delivery ${JSON.stringify(id)}. It has ${exchanges} exchanges and ${deliveries} deliveries; each finding names its own.`;

function readRecordedEvidence(path: string): Pick<Evidence, "exchanges" | "deliveries"> {
  return withReadErrors(line`The evidence cannot be read: ${path}`, "Give the folder that a run has written.", () => {
    const file = join(folderOf(path), "evidence.json");
    return readEvidence(readFileSync(file, "utf8"), file);
  });
}

interface RecordedMessage {
  readonly headers: readonly Header[];
  readonly body: Body;
}

function selectPart({ headers, body }: RecordedMessage, { id, part }: RecordedPartChoice): RecordedPart {
  if (part === "headers")
    return { kind: "bytes", bytes: Buffer.from(headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")) };
  if (body.kind === "cut")
    throw new UsageError(line`The body of ${id} was not kept whole: it had ${body.bytes} bytes.`);
  const bytes = bytesOf(body);
  if (part !== "secret") return { kind: "bytes", bytes };
  const secret = getPath(tryParseJson(bytes.toString("utf8")), "secret");
  if (typeof secret === "string") return { kind: "bytes", bytes: Buffer.from(secret) };
  throw new UsageError(line`The request ${id} sets no secret of a webhook.`);
}

function bytesOf(body: Exclude<Body, { kind: "cut" }>): Buffer {
  if (body.kind === "none") return Buffer.alloc(0);
  return body.kind === "text" ? Buffer.from(body.text, "utf8") : Buffer.from(body.base64, "base64");
}
