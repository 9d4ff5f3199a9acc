import { acceptExpiredKeys, withKeyTraits, overrideSuccessStatus } from "../overrides.ts";
import { fault, faults } from "../patch.ts";

export const keyFaults = faults("Resources / API key", {
  "temporary-key-stays": fault("KEY-3", "A temporary key does not expire.", (base) => ({
    identify: (credentials, ring, nowMs, operation) => {
      const found = credentials.kind === "bearer" ? ring.find(credentials.text) : undefined;
      return found !== undefined && (found.key.expiresInSeconds ?? 0) > 0
        ? { kind: "known", key: found.key }
        : base.identify(credentials, ring, nowMs, operation);
    },
  })),
  "temporary-key-lives-on-stream": fault(
    "KEY-3",
    "A temporary key can still stream after it has expired.",
    acceptExpiredKeys(
      ({ expiresInSeconds }) => (expiresInSeconds ?? 0) > 0,
      (operation) => operation === "stream",
    ),
  ),
  "temporary-key-prolonged-by-use": fault("KEY-3", "Each request prolongs the life of a temporary key.", (base) => {
    const livesUntilMs = new Map<string, number>();
    return {
      identify: (credentials, ring, nowMs, operation) => {
        const found = credentials.kind === "bearer" ? ring.find(credentials.text) : undefined;
        const lifeMs = (found?.key.expiresInSeconds ?? 0) * 1000;
        if (found === undefined || lifeMs === 0) return base.identify(credentials, ring, nowMs, operation);
        if (nowMs >= (livesUntilMs.get(found.key.key) ?? found.expiresAtMs))
          return { kind: "unauthenticated", cause: "expired-key" };
        livesUntilMs.set(found.key.key, nowMs + lifeMs);
        return { kind: "known", key: found.key };
      },
    };
  }),
  "key-without-prefix": fault("KEY-4", "Keys have no prefix.", () => ({ keyText: (text) => text.replace(/^.._/, "") })),
  "reader-may-write": fault("KEY-5", "A read-only key may invoke.", (base) => ({
    permits: (key, request) => base.permits({ ...key, scope: "full" }, request),
  })),
  "any-agent": fault("KEY-6", "A key of one agent may call the others.", (base) => ({
    permits: (key, request) => base.permits({ ...key, agents: null }, request),
  })),
  "any-address": fault("KEY-7", "A key may be used from anywhere.", (base) => ({
    permits: (key, request) => base.permits({ ...key, allowedIps: null }, request),
  })),
  "temporary-key-outlives-itself": fault("KEY-3", "A temporary key expires after twice its time.", (base) => ({
    identify: (credentials, ring, nowMs, operation) => {
      const found = credentials.kind === "bearer" ? ring.find(credentials.text) : undefined;
      const lifeMs = (found?.key.expiresInSeconds ?? 0) * 1000;
      return base.identify(credentials, ring, lifeMs > 0 ? nowMs - lifeMs : nowMs, operation);
    },
  })),
  "temporary-key-turns-wrong": fault(
    "KEY-3",
    "A temporary key that has expired by itself has the code INVALID_API_KEY.",
    (base) => ({
      identify: (credentials, ring, nowMs, operation) => {
        const found = credentials.kind === "bearer" ? ring.find(credentials.text) : undefined;
        const given = base.identify(credentials, ring, nowMs, operation);
        return given.kind === "unauthenticated" && (found?.key.expiresInSeconds ?? 0) > 0
          ? { kind: "unauthenticated", cause: "wrong-key" }
          : given;
      },
    }),
  ),
  "prefixes-differ": fault("KEY-4", "Keys of the free tier have a prefix of their own.", () => ({
    keyText: (text) => text.replace(/^.._(?=free_)/, "fr_"),
  })),
  "prefix-of-three-letters": fault("KEY-4", "The prefix of keys has three letters.", () => ({
    keyText: (text) => text.replace(/^.._/, "key_"),
  })),
  "reader-may-create-webhooks": fault(
    "KEY-5",
    "A read-only key may create webhooks.",
    withKeyTraits(["createWebhook"], { scope: "full" }),
  ),
  "read-only-key-creates-alerts": fault(
    "KEY-5",
    "A read-only key may create alerts.",
    withKeyTraits(["createAlert"], { scope: "full" }),
  ),
  "read-only-key-submits-batches": fault(
    "KEY-5",
    "A read-only key may submit a batch, and may not invoke.",
    withKeyTraits(["batch"], { scope: "full" }),
  ),
  "read-only-key-streams-alone": fault(
    "KEY-5",
    "A read-only key may stream, and may not invoke.",
    withKeyTraits(["stream"], { scope: "full" }),
  ),
  "any-agent-in-batch": fault(
    "KEY-6",
    "A key of one agent may submit batches to the others.",
    withKeyTraits(["batch"], { agents: null }),
  ),
  "any-agent-in-stream": fault(
    "KEY-6",
    "A key of one agent may stream the others, and do nothing else with them.",
    withKeyTraits(["stream"], { agents: null }),
  ),
  "any-agent-in-invoke": fault(
    "KEY-6",
    "A key of one agent may invoke the others, and do nothing else with them.",
    withKeyTraits(["invoke"], { agents: null }),
  ),
  "one-agent-key-reads-other-health": fault(
    "KEY-6",
    "A key of one agent may read the health of the others.",
    withKeyTraits(["health"], { agents: null }),
  ),
  "one-agent-key-creates-other-webhook": fault(
    "KEY-6",
    "A key of one agent may create webhooks for the others.",
    withKeyTraits(["createWebhook"], { agents: null }),
  ),
  "any-address-for-alerts": fault(
    "KEY-7",
    "A key may create alerts from anywhere.",
    withKeyTraits(["createAlert"], { allowedIps: null }),
  ),
  "address-refused-once": fault(
    "KEY-7",
    "A key that comes from a foreign address is refused once on each operation.",
    (base) => {
      const refused = new Set<string>();
      return {
        permits: (key, request) => {
          const known = refused.has(`${key.name} ${request.operation}`);
          const permitted = base.permits(known ? { ...key, allowedIps: null } : key, request);
          if (!permitted) refused.add(`${key.name} ${request.operation}`);
          return permitted;
        },
      };
    },
  ),
  "address-list-inverted": fault(
    "KEY-7",
    "The list of allowed addresses is used as a list of refused ones.",
    (base) => ({
      permits: (key, request) =>
        base.permits({ ...key, allowedIps: null }, request) &&
        (key.allowedIps === null || !base.permits({ ...key, agents: null, scope: "full" }, request)),
    }),
  ),
  "key-usage-missing": fault("KEY-9", "Key usage is not there.", () => ({
    servedPath: (path) => path.replace(/^\/v1\/keys\/usage/, "/v1/keys/nothing"),
  })),
  "key-usage-202": fault("KEY-9", "Key usage responds with 202.", overrideSuccessStatus("keyUsage", 202)),
  "forwarded-address-believed": fault("KEY-7", "Whoever asks is believed in `X-Forwarded-For`.", () => ({
    trustedProxiesOf: () => ({ has: () => true }),
  })),
});
