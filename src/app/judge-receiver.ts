import { assertOpenFiles } from "../base/open-files.ts";
import { type DeliverySettings, runDeliveries, deliveryHeaders } from "../run/run-deliveries.ts";
import type { Messages } from "../run/skip-reason.ts";
import { latestRequirements } from "../spec/requirements.ts";
import { suitesOfParty } from "../suites/all.ts";
import type { Target } from "../target/target.ts";
import { redactRun } from "./judge/redacted-run.ts";
import { type JudgedTarget, progressOptions, type RunEvents } from "./judge/judge-target.ts";
import { writeAndRename } from "./report-folder/write-files.ts";
import { probesOf } from "../run/judge/check.ts";
import type { DeliverySender, OutgoingDelivery, SentDelivery } from "../run/party-session.ts";
import { slug } from "../base/files/file-names.ts";

export interface JudgeReceiverOptions extends DeliverySettings {
  readonly target: Target;
  readonly messages: Messages;
  readonly signal: AbortSignal;
  readonly progress: Pick<RunEvents, "onStart" | "onPlan" | "onProbe">;
}

/** A run sends at most 20 deliveries at the same time, and the rest is reserve. */
const maxConnections = 32;

/** Sends deliveries to a webhook receiver, and judges its responses by the clauses for receivers. */
export async function judgeReceiver({ progress, messages, ...options }: JudgeReceiverOptions): Promise<JudgedTarget> {
  assertOpenFiles(maxConnections);
  const { target } = options;
  progress.onStart?.(target);
  const started = new Date();
  const result = await runDeliveries({
    ...options,
    suites: suitesOfParty("receiver"),
    ...progressOptions(progress),
  });
  const facts = { party: "receiver", requirements: latestRequirements, started, messages } as const;
  return { ...redactRun(result, facts, options), target };
}

/** An entry of `deliveries.json`: a delivery that a run would send, and the name of the file with its body. */
interface WrittenDelivery {
  readonly probe: string;
  readonly what: string;
  readonly file: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Writes into a folder what a run would send: a file for each body, and `deliveries.json` with the headers. */
export async function writeDeliveries(folder: string, settings: DeliverySettings): Promise<number> {
  const files: Record<string, string> = {};
  const written: WrittenDelivery[] = [];
  const checks = suitesOfParty("receiver").flatMap((suite) => suite.checks);
  for (const probe of new Set(checks.flatMap(({ on }) => Object.values(probesOf(on))))) {
    const deliver = async (delivery: OutgoingDelivery): Promise<SentDelivery> => {
      const number = String(written.length + 1).padStart(2, "0");
      const file = `${number}-${slug(delivery.what)}.json`;
      files[file] = delivery.body;
      written.push({ probe: probe.name, what: delivery.what, file, headers: headersOfDelivery(delivery, settings) });
      return deliveryNotSent(delivery);
    };
    await probe.deliver?.({ ...settings, deliver });
  }
  writeAndRename(folder, { ...files, "deliveries.json": `${JSON.stringify(written, null, 2)}\n` });
  return written.length;
}

const headersOfDelivery = (
  { body, headers }: OutgoingDelivery,
  settings: DeliverySettings,
): Readonly<Record<string, string>> => Object.fromEntries(deliveryHeaders(body, [...headers, ...settings.headers]));

const deliveryNotSent = ({ what }: OutgoingDelivery): Awaited<ReturnType<DeliverySender["deliver"]>> => ({
  what,
  exchange: {
    id: "x0",
    key: null,
    request: { method: "POST", url: "", headers: [], body: { kind: "none" } },
    sentMs: 0,
    clockMs: 0,
    answer: { kind: "unanswered", reason: "unreachable", detail: "not sent", endMs: 0 },
  },
});
