import { assertOpenFiles } from "../base/open-files.ts";
import { type DeliverySettings, runDeliveries, deliveryHeaders } from "../run/run-deliveries.ts";
import type { Messages } from "../run/skip-reason.ts";
import { latestRequirements } from "../spec/requirements.ts";
import { suitesOfParty } from "../suites/all.ts";
import type { Target } from "../target/target.ts";
import { redactRun } from "./judge/redacted-run.ts";
import type { JudgedTarget, RunEvents } from "./judge/judge-target.ts";
import { packageVersion } from "../base/package-root.ts";
import { writeAndRename } from "./report-folder/write-files.ts";
import { probesOf } from "../run/judge/check.ts";
import type { DeliverySender, OutgoingDelivery, SentDelivery } from "../run/send/delivery-sender.ts";
import { slug } from "../base/file-names.ts";

export interface JudgeReceiverOptions extends DeliverySettings {
  readonly target: Target;
  readonly messages: Messages;
  /** When this signal aborts, the run ends early and judges the evidence that it has. */
  readonly signal: AbortSignal;
  readonly progress: Pick<RunEvents, "onStart" | "onPlan" | "onProbe">;
}

/**
 * Maximum number of connections of a run. A run sends at most 20 deliveries at the same time, and the rest is reserve.
 */
const maxConnections = 32;

/**
 * Sends deliveries to a webhook receiver, and judges its responses by the clauses for receivers. Writes no files.
 *
 * @throws {HarnessLimit} if this process cannot open as many connections as the run may need
 */
export async function judgeReceiver({ progress, messages, ...options }: JudgeReceiverOptions): Promise<JudgedTarget> {
  assertOpenFiles(maxConnections);
  const { target, signal } = options;
  progress.onStart?.(target);
  const started = new Date();
  const result = await runDeliveries({
    ...options,
    suites: suitesOfParty("receiver"),
    onPlan: (probes) => progress.onPlan?.(probes),
    onProbe: ({ planned }) => progress.onProbe?.(planned.probe.name),
  });
  const occasion = {
    version: packageVersion(),
    party: "receiver",
    requirements: latestRequirements,
    started,
    finished: new Date(),
    unselected: [],
    messages,
  } as const;
  return { ...redactRun(result, occasion, { target, messages, signal }), target };
}

/** An entry of `deliveries.json`: a delivery that a run would send, and the name of the file with its body. */
interface WrittenDelivery {
  readonly probe: string;
  readonly what: string;
  readonly file: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Writes the deliveries that a run would send into a folder: a file for each body, and `deliveries.json` with the
 * headers. Sends nothing. Returns their number.
 */
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
