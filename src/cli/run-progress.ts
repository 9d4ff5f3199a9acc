import type { RunEvents } from "../app/judge/judge.ts";
import { packageVersion } from "../app/version.ts";
import { startProgress } from "./progress.ts";

/** Shows a person at standard error how a run goes on. */
export function showRunProgress(isQuiet: boolean): { readonly events: RunEvents; readonly done: () => void } {
  const progress = startProgress(process.stderr, { quiet: isQuiet });
  const events: RunEvents = {
    onStart: ({ name, baseUrl }) => progress.started(packageVersion(), name, baseUrl),
    onPlan: progress.planned,
    onProbe: progress.probeDone,
    onWait: progress.waiting,
  };
  return { events, done: progress.done };
}
