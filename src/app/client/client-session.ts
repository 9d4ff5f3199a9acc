import { formatDuration } from "../../base/duration.ts";
import { UsageError } from "../../base/usage-error.ts";
import type { ClientCall, CommandEnd, CommandRun, RunStage } from "../../evidence/client-call.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { ChooseTrouble, Gateway } from "../../gateway/gateway.ts";
import type { TroubleName } from "../../gateway/trouble.ts";
import { planTrouble } from "../../gateway/trouble-plan.ts";
import type { ClientSession } from "../../run/party-session.ts";
import { SkipError, TargetUnavailable } from "../../run/skip-reason.ts";
import { type CommandLine, type EndedCommand, runCommand } from "./run-command.ts";

export interface ClientSettings {
  readonly command: CommandLine;
  readonly environment: Readonly<Record<string, string>>;
  readonly troubles: readonly TroubleName[];
  readonly seed: number;
  readonly isStrict: boolean;
  readonly timeoutMs: number;
  readonly showsOutput: boolean;
  /** Largest `retry_after`, in seconds, of the errors that the harness injects. Default: 3. */
  readonly maxRetryAfterSeconds?: number;
}

interface SessionTools {
  readonly gateway: Gateway;
  readonly signingSecret: string;
  readonly record: (exchange: Exchange) => void;
  readonly signal: AbortSignal;
  readonly onRun: (stage: RunStage, number: number) => void;
  /** Called if the command fails in a run without injected errors. `output` is the end of its output. */
  readonly onFailure: (output: string) => void;
  readonly onUnstartable: (error: UsageError) => void;
}

const maxRuns = 40;
/**
 * Time in which runs with injected errors can start. For a slow command, this time is `maxTroubledRatio` times the
 * duration of the first run.
 */
const maxTroubledMs = 5 * 60_000;
const maxTroubledRatio = 6;

export function createClientSession(settings: ClientSettings, tools: SessionTools): ClientSession {
  let plain: { readonly calls: readonly ClientCall[]; readonly durationMs: number } = { calls: [], durationMs: 0 };

  const runPlainly: ClientSession["runPlainly"] = async () => {
    const { run, command } = await runCommandOnce("plain", () => null, settings, tools);
    if (tools.signal.aborted) throw new SkipError("the run was stopped");
    const problem = describeFailure(run.end);
    if (problem !== null) {
      tools.onFailure(command.output);
      throw new TargetUnavailable(`The command ${problem} without trouble, so nothing can be judged`);
    }
    if (run.calls.length === 0)
      throw new TargetUnavailable(
        `The command sent no request to the address in its environment (${Object.keys(settings.environment).join(", ")})`,
      );
    plain = { calls: run.calls, durationMs: command.durationMs };
    return run;
  };

  const runTroubled: ClientSession["runTroubled"] = async () => {
    const { troubles: names, seed, maxRetryAfterSeconds } = settings;
    if (names.length === 0) throw new SkipError("trouble is switched off");
    const bound = maxRetryAfterSeconds === undefined ? {} : { maxRetryAfterSeconds };
    const plan = planTrouble({ names, seed, plain: plain.calls, ...bound });
    const runs: CommandRun[] = [];
    const untilMs = performance.now() + Math.max(maxTroubledMs, plain.durationMs * maxTroubledRatio);
    while (runs.length < maxRuns && performance.now() < untilMs && !tools.signal.aborted) {
      const stage = plan.begin();
      if (stage === null) break;
      tools.onRun(stage, runs.length + 1);
      runs.push((await runCommandOnce(stage, plan.choose, settings, tools)).run);
    }
    return runs;
  };
  return { signingSecret: tools.signingSecret, isStrict: settings.isStrict, runPlainly, runTroubled };
}

async function runCommandOnce(
  stage: RunStage,
  choose: ChooseTrouble,
  { command, environment, timeoutMs, showsOutput }: ClientSettings,
  { gateway, record, signal, onUnstartable }: SessionTools,
): Promise<{ readonly run: CommandRun; readonly command: EndedCommand }> {
  gateway.begin(choose);
  const options = { command, environment, timeoutMs, signal, showsOutput };
  const ended = await runCommand(options).catch((error: unknown) => {
    if (!(error instanceof UsageError)) throw error;
    onUnstartable(error);
    throw new TargetUnavailable(error.message);
  });
  const calls = await gateway.finish();
  for (const { exchange } of calls) record(exchange);
  return { run: { stage, calls, end: ended.end }, command: ended };
}

function describeFailure(end: CommandEnd): string | null {
  switch (end.kind) {
    case "exited":
      return end.code === 0 ? null : `ended with exit code ${end.code}`;
    case "killed":
      return `was ended by ${end.signal}`;
    case "timed out":
      return `was not over after ${formatDuration(end.afterMs)}`;
    case "interrupted":
      return "was interrupted";
  }
}
