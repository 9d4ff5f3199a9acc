import type { TierLimits } from "../../spec/tiers.ts";
import { isWithinWindow } from "./header-rules.ts";
import type { RequestSample } from "./sample.ts";

/** Whether the target accepted the key of a request. A response to a rejected key may lack rate-limit headers. */
export const isKeyAccepted = ({ status }: Pick<RequestSample, "status">): boolean =>
  status !== null && status !== 401 && status !== 403;

/** Groups responses that report the same limit and the same reset, in their order. */
export function groupByWindow<A extends RequestSample>(responses: Iterable<A>): A[][] {
  const windows = new Map<string, A[]>();
  for (const response of responses) {
    if (!isKeyAccepted(response) || response.limit === null || response.reset === null) continue;
    const name = `${response.limit} ${response.reset}`;
    const known = windows.get(name);
    if (known === undefined) windows.set(name, [response]);
    else known.push(response);
  }
  return [...windows.values()];
}

/** Smallest `Reset` that can be Unix seconds. Smaller values are skipped, because HDR-14 judges them. */
const minUnixSeconds = 1e9;
/**
 * Minimum time between two responses to compare, in seconds. Over a shorter time, rounding may hide that the value
 * falls.
 */
const minSeconds = 3;
/** Tolerance for the difference of two values, each rounded to whole seconds. */
const roundingSeconds = 2.5;

/** The first and the last response of a window. */
export interface WindowEnds<A> {
  readonly first: A;
  readonly last: A;
}

/**
 * The verdict on one window. `mismatch` says how `Reset-After` fell by another time than has passed; it is `null` if
 * both agree.
 */
export type JudgedTimeLeft<A> = WindowEnds<A> & {
  readonly mismatch: { readonly expected: string; readonly actual: string } | null;
};

/**
 * Judges HDR-15: `Reset-After` is the time left, so within a window it falls as time passes. Skips windows whose first
 * and last responses are too close together.
 *
 * @param passedSeconds the minimum time between two responses by the target's clock
 */
export function judgeTimeLeft<A extends RequestSample>(
  responses: readonly A[],
  limits: TierLimits | null,
  passedSeconds: (from: A, to: A) => number,
): JudgedTimeLeft<A>[] {
  const usable = responses.filter((each) => each.resetAfter !== null && isWithinWindow(each, limits));
  return groupByWindow(usable).flatMap((window): JudgedTimeLeft<A>[] => {
    const [first, last] = [window[0], window.at(-1)];
    if (first === undefined || last === undefined || (first.reset ?? 0) < minUnixSeconds) return [];
    const [before, after] = [first.resetAfter ?? 0, last.resetAfter ?? 0];
    const passed = passedSeconds(first, last);
    if (passed < minSeconds || passed > before) return [];
    const isRight = after <= before - passed + roundingSeconds;
    const expected = `\`Reset-After\` falls with time: from ${before} to about ${Math.round(before - passed)}`;
    return [
      { first, last, mismatch: isRight ? null : { expected, actual: `${after}, ${Math.round(passed)} s later` } },
    ];
  });
}
