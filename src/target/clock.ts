import { request } from "undici";

import type { ClockCall } from "./file-schema.ts";
import type { ClockControl } from "./target.ts";

/** Drives a target's test clock by the call that its target file describes. */
export function clockOverHttp(call: ClockCall): ClockControl {
  return {
    advance: async (ms) => {
      const seconds = ms / 1000;
      const response = await request(call.url, {
        method: call.method,
        headers: { ...(call.body === undefined ? {} : { "content-type": "application/json" }), ...call.headers },
        body: call.body === undefined ? null : JSON.stringify(withSeconds(call.body, seconds)),
        headersTimeout: 10_000,
        bodyTimeout: 10_000,
      });
      await response.body.dump();
      if (response.statusCode >= 300)
        throw new Error(
          `the target's clock did not advance: ${call.method} ${call.url} answered ${response.statusCode}`,
        );
    },
  };
}

/** A value that is just `${seconds}` becomes a number; inside a longer text it is written out. */
function withSeconds(value: unknown, seconds: number): unknown {
  if (value === "${seconds}") return seconds;
  if (typeof value === "string") return value.replaceAll("${seconds}", String(seconds));
  if (Array.isArray(value)) return value.map((each) => withSeconds(each, seconds));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withSeconds(each, seconds)]));
}
