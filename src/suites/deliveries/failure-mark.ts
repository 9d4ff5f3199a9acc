import { getPath, isObject } from "../../base/json.ts";
import { itemsIn } from "../webhooks/checks.ts";

/** What a target shows of a delivery whose last attempt failed. */
export type FailureMark =
  | { readonly kind: "marked"; readonly which: "delivery" | "webhook" }
  | { readonly kind: "not marked"; readonly states: readonly string[] }
  /** Nothing that is shown tells a state. */
  | { readonly kind: "unknown" };

const stateNames = ["status", "state", "delivery_status", "outcome", "result"];
const failedWord = /fail|dead|exhaust|abandon|gave.?up|undeliver|disabled|suspend|inactive|error/i;
const otherWord = /pending|queue|schedul|retry|progress|wait|active|enabled|deliver|success|sent|complete|ok/i;

/** Looks for the mark in the list of deliveries, and in the webhook's own record where that is shown. */
export function findFailureMark(list: unknown, record: unknown): FailureMark {
  const items = itemsIn(list) ?? [];
  const states = items.flatMap(statesOf);
  if (states.some((each) => failedWord.test(each)) || items.some((each) => getPath(each, "failed") === true))
    return { kind: "marked", which: "delivery" };
  const own = [list, getPath(list, "webhook"), record, getPath(record, "data"), getPath(record, "webhook")].flatMap(
    statesOf,
  );
  if (own.some((each) => failedWord.test(each))) return { kind: "marked", which: "webhook" };
  const known = states.filter((each) => otherWord.test(each));
  return known.length > 0 ? { kind: "not marked", states: known } : { kind: "unknown" };
}

const statesOf = (value: unknown): string[] =>
  isObject(value)
    ? stateNames.flatMap((name) => {
        const state = value[name];
        return typeof state === "string" ? [state] : [];
      })
    : [];
