import type { TierLimits } from "../../spec/tiers.ts";
import { isWithinWindow } from "./header-rules.ts";
import type { RequestSample } from "./sample.ts";

/** Answers in which the limiter of a key spoke: what is said to a caller who is not let in is open. */
export const isKeyAccepted = ({ status }: Pick<RequestSample, "status">): boolean =>
  status !== null && status !== 401 && status !== 403;

/** Answers that named the same limit and the same instant of reset, in the order in which they come. */
export function groupByWindow<A extends RequestSample>(answers: Iterable<A>): A[][] {
  const windows = new Map<string, A[]>();
  for (const answer of answers) {
    if (!isKeyAccepted(answer) || answer.limit === null || answer.reset === null) continue;
    const name = `${answer.limit} ${answer.reset}`;
    const known = windows.get(name);
    if (known === undefined) windows.set(name, [answer]);
    else known.push(answer);
  }
  return [...windows.values()];
}

/** Whatever is less is no instant of these years: that is another clause's to say (HDR-14). */
const leastUnixSeconds = 1e9;
/** So much time must lie between two answers for a fall to be told from rounding. */
const leastSeconds = 3;
/** Two values, each rounded to whole seconds. */
const roundingSeconds = 2.5;

/** The first and the last answer of a window. */
export interface WindowEnds<A> {
  readonly first: A;
  readonly last: A;
}

/** What is wrong with the time left at the end of a window, in words; `null` where it fell as it should. */
export type TimeLeft<A> = WindowEnds<A> & {
  readonly mismatch: { readonly expected: string; readonly actual: string } | null;
};

/**
 * Judges that `Reset-After` is the time that is left (HDR-15): it falls from the first to the last answer of a window as time passes. Only
 * windows whose ends lie some seconds apart tell.
 * @param passedSeconds what has certainly passed of the target's time between two answers
 */
export function judgeTimeLeft<A extends RequestSample>(
  answers: readonly A[],
  limits: TierLimits | null,
  passedSeconds: (from: A, to: A) => number,
): TimeLeft<A>[] {
  const usable = answers.filter((each) => each.resetAfter !== null && isWithinWindow(each, limits));
  return groupByWindow(usable).flatMap((window): TimeLeft<A>[] => {
    const [first, last] = [window[0], window.at(-1)];
    if (first === undefined || last === undefined || (first.reset ?? 0) < leastUnixSeconds) return [];
    const [before, after] = [first.resetAfter ?? 0, last.resetAfter ?? 0];
    const passed = passedSeconds(first, last);
    if (passed < leastSeconds || passed > before) return [];
    const isRight = after <= before - passed + roundingSeconds;
    const expected = `\`Reset-After\` falls with time: from ${before} to about ${Math.round(before - passed)}`;
    return [
      { first, last, mismatch: isRight ? null : { expected, actual: `${after}, ${Math.round(passed)} s later` } },
    ];
  });
}
