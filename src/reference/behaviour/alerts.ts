import { fieldsOf, isoTime } from "../json-edit.ts";
import type { WindowStatus } from "../limits/windows.ts";
import { type ApiError, fieldError } from "./errors.ts";

/** A usage alert. Source: Endpoints, "8. Create a usage alert". */
export interface Alert {
  readonly id: string;
  readonly owner: string;
  readonly type: string;
  /** Percentage of used requests at which the server sends the alert, from 0 to 100. */
  readonly threshold: number;
  readonly webhookUrl: string;
  readonly createdMs: number;
}

export interface UsageChange {
  readonly before: WindowStatus;
  readonly after: WindowStatus;
}

type AlertRequest = Pick<Alert, "type" | "threshold" | "webhookUrl">;

/** The reference server's standard behaviour for usage alerts. Source: Endpoints, "8. Create a usage alert". */
export const standardAlerts = {
  validateAlert: (body: unknown, addressRefusal: (url: string) => string | null): ApiError | null => {
    const { type, threshold, webhook_url: url } = fieldsOf(body);
    if (type === undefined) return fieldError("missing-field", "type", "missing");
    if (type !== "rate_limit") return fieldError("invalid-input", "type", "must be rate_limit");
    if (threshold === undefined) return fieldError("missing-field", "threshold", "missing");
    if (typeof threshold !== "number" || threshold < 0 || threshold > 100)
      return fieldError("invalid-input", "threshold", "must be a number from 0 to 100");
    if (url === undefined) return fieldError("missing-field", "webhook_url", "missing");
    if (typeof url !== "string") return fieldError("invalid-input", "webhook_url", "must be a string");
    const refused = addressRefusal(url);
    return refused === null ? null : fieldError("invalid-input", "webhook_url", refused);
  },
  readAlertRequest: (body: unknown): AlertRequest => {
    const { type, threshold, webhook_url: url } = fieldsOf(body);
    return { type: String(type), threshold: Number(threshold), webhookUrl: String(url) };
  },
  alertId: (number: number): string => `alert_${String(number).padStart(6, "0")}`,
  alertBody: ({ id, type, threshold, webhookUrl, createdMs }: Alert): unknown => ({
    alert_id: id,
    type,
    threshold,
    webhook_url: webhookUrl,
    created_at: isoTime(createdMs),
  }),
  /** Returns the name of the rate-limit window whose usage triggers alerts. */
  watchedWindow: (): WindowStatus["window"] => "hour",
  firesAlert: (threshold: number, { before, after }: UsageChange): boolean =>
    usedPercent(before) < threshold && usedPercent(after) >= threshold,
  alertMessage: ({ id, type, threshold }: Alert, { limit, remaining }: WindowStatus, nowMs: number): unknown => ({
    id,
    type,
    threshold,
    used: limit - remaining,
    limit,
    remaining,
    created: isoTime(nowMs),
  }),
};

export function usedPercent({ limit, remaining }: WindowStatus): number {
  return limit === 0 ? 100 : ((limit - remaining) / limit) * 100;
}
