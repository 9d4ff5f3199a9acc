import { variants } from "../patch.ts";

export const keyVariants = variants("Endpoints / 9. Read key usage", {
  "key-usage-envelope": [
    "Key usage stands in the envelope, as `data`.",
    (base) => ({ keyUsageBody: (facts) => ({ status: "success", data: base.keyUsageBody(facts) }) }),
  ],
  "key-usage-as-usage": [
    "Key usage is what usage answers.",
    (base) => ({ keyUsageBody: (facts) => base.usageBody(facts) }),
  ],
  "key-usage-as-list": [
    "Key usage is a list of the keys, with this one in it.",
    () => ({
      keyUsageBody: ({ key, hour, tokens }) => ({
        keys: [{ key_name: key.name, request_count: hour.limit - hour.remaining, token_count: tokens.used }],
      }),
    }),
  ],
  "key-usage-not-counted": [
    "Reading key usage does not count.",
    (base) => ({ counts: (operation) => operation !== "keyUsage" && base.counts(operation) }),
  ],
  "reader-may-invoke": [
    "A read-only key may invoke and stream, for that changes nothing.",
    (base) => ({
      permits: (key, wish) =>
        base.permits(
          wish.operation === "invoke" || wish.operation === "stream" ? { ...key, scope: "full" } : key,
          wish,
        ),
    }),
  ],
});
