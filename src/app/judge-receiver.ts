import { assertOpenFiles } from "../base/open-files.ts";
import { type DeliverySettings, runDeliveries, deliveryHeaders } from "../run/run-deliveries.ts";
import { noExchange } from "../run/review-recording.ts";
import type { Messages } from "../run/skip-reason.ts";
import { latestRequirements } from "../spec/requirements.ts";
import { suitesOfParty } from "../suites/all.ts";
import type { Target } from "../target/target.ts";
import { redactRun } from "./judge/redacted-run.ts";
import { type JudgedTarget, progressOptions, type RunEvents } from "./judge/judge-target.ts";
import { writeAndRename } from "./report-folder/write-files.ts";
import { probesOf } from "../run/judge/check.ts";
import type { OutgoingDelivery, SentDelivery } from "../run/party-session.ts";
import { slug } from "../base/files/file-names.ts";

export interface JudgeReceiverOptions extends DeliverySettings {
  readonly target: Target;
  readonly messages: Messages;
  readonly signal: AbortSignal;
  readonly progress: Pick<RunEvents, "onStart" | "onPlan" | "onProbe">;
}

const maxConnections = 32;

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

/** Writes a run's deliveries into a folder: a file for each body, and the headers in `deliveries.json`. */
export async function writeDeliveries(folder: string, settings: DeliverySettings): Promise<number> {
  const files: Record<string, string> = {};
  const written: object[] = [];
  const checks = suitesOfParty("receiver").flatMap((suite) => suite.checks);
  for (const probe of new Set(checks.flatMap(({ on }) => Object.values(probesOf(on))))) {
    const deliver = async ({ what, body, headers: own }: OutgoingDelivery): Promise<SentDelivery> => {
      const file = `${String(written.length + 1).padStart(2, "0")}-${slug(what)}.json`;
      const headers = Object.fromEntries(deliveryHeaders(body, [...own, ...settings.headers]));
      files[file] = body;
      written.push({ probe: probe.name, what, file, headers });
      return { what, exchange: noExchange };
    };
    await probe.deliver?.({ ...settings, deliver });
  }
  writeAndRename(folder, { ...files, "deliveries.json": `${JSON.stringify(written, null, 2)}\n` });
  return written.length;
}
