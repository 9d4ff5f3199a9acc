import type { Enabler, SkipCause, Setting, Messages } from "../../run/skip-reason.ts";
import type { Need } from "../../run/plan/needs.ts";
import { type Hint, targetFileHint } from "./target-file-hints.ts";

/** What a way in calls things. */
export interface MessageTerms {
  /** Names of what bounds a run. */
  readonly names: {
    readonly agent: string;
    readonly maxExecutions: string;
    readonly maxRequests: string;
    readonly maxWait: string;
    readonly maxWindow: string;
    readonly readOnly: string;
  };
  /** What enables something, where each way in has its own. */
  readonly hints: Readonly<Record<Setting | "receiver", Hint>>;
}

/** Says reasons and needs in the words of a way in. */
export function createMessages({ names, hints }: MessageTerms): Messages {
  const reason = (given: SkipCause): string => {
    if (typeof given === "string") return given;
    switch (given.why) {
      case "too long a wait":
        return `${given.for}: ${seconds(given.ms)} to wait, and ${names.maxWait} leaves ${seconds(given.leftMs)}`;
      case "no time left":
        return `${given.takes}, which ${names.maxWait} does not leave`;
      case "no time left to":
        return `${given.so}: \`${names.maxWait}\` does not leave the time to ${given.to}`;
      case "requests used up":
        return `${names.maxRequests} ${given.most} is used up`;
      case "executions used up":
        return `${names.maxExecutions} ${given.most} is used up`;
      case "large window":
        return `it uses up a window of ${given.requests} requests, which is done only where ${names.maxWindow} allows it`;
      case "too many requests":
        return `it sends ${given.requests} requests, and ${names.maxRequests} leaves ${given.left}`;
      case "requests without a bound":
        return `answers decide how many requests it sends, so that ${names.maxRequests} cannot bound it`;
      case "read only":
        return `${names.readOnly}: it sends more than GET requests`;
      case "agent without a path":
        return `The agent that answers is named ${JSON.stringify(given.agent)}, which no URL keeps as it is, so that no request can name it. Give another under \`agents.answering\`, or with ${names.agent}.`;
      case "nothing judged":
        return `Nothing was judged: ${reason(given.because)}.`;
    }
  };
  const lineOf = (need: Need | Setting): Hint => (isOwn(need) ? hints[need] : targetFileHint(need));
  const isOwn = (need: Need | Setting): need is keyof typeof hints => Object.hasOwn(hints, need);
  const needs = (enabler: Enabler): string => {
    if (typeof enabler === "string") return enabler;
    if ("anyOf" in enabler) return either(enabler.anyOf.map(shortly));
    const { give, is } = lineOf(enabler.need);
    return is === null ? give : `${give}: ${is}`;
  };
  const shortly = (enabler: Enabler): string =>
    typeof enabler === "object" && "need" in enabler ? lineOf(enabler.need).give : needs(enabler);
  return { reason, needs };
}

/** `a, or b`; `a, b, or c`. */
const either = (texts: readonly string[]): string => `${texts.slice(0, -1).join(", ")}, or ${texts.at(-1)}`;

const seconds = (ms: number): string => `${Math.max(0, Math.round(ms / 1000))} s`;
