import { dayMs } from "../../../base/duration.ts";
import type { Axis } from "../../html/svg/axes.ts";

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** A moment on the axis of nights: days since 1970, UTC. */
export const dayAt = (ms: number): number => ms / dayMs;

/** `5 Feb 2030`, of a moment in ISO 8601. */
export function dateText(iso: string): string {
  const date = new Date(iso);
  return `${date.getUTCDate()} ${months[date.getUTCMonth()] ?? ""} ${date.getUTCFullYear()}`;
}

function shortDate(day: number): string {
  const date = new Date(day * dayMs);
  return `${date.getUTCDate()} ${months[date.getUTCMonth()] ?? ""}`;
}

/** Ticks on whole days, weeks, and several weeks. */
export const nightsAxis: Axis & { readonly units: readonly number[] } = {
  label: "night (UTC)",
  format: shortDate,
  units: [1, 2, 7, 14, 28, 56, 112],
};
