import { getPath } from "../../base/json.ts";
import { hourMs, minuteMs } from "../../base/duration.ts";
import {
  acceptExpiredKeys,
  always,
  fault,
  faults,
  isTemporaryKey,
  namedKey,
  overrideResult,
  overrideSuccessStatus,
  withKeyTraits,
  withKeyTraitsIf,
  withLast,
  withPath,
} from "../patch.ts";

export const keyFaults = faults("Resources / API key", {
  "temporary-key-stays": fault("KEY-3", "A temporary key does not expire.").by(acceptExpiredKeys(isTemporaryKey)),
  "temporary-key-lives-on-stream": fault("KEY-3", "A temporary key can still stream after it has expired.").by(
    acceptExpiredKeys(isTemporaryKey, (endpoint) => endpoint === "stream"),
    ["AUTH-16"],
  ),
  "temporary-key-lists-on-without-page": fault(
    "KEY-3",
    "The list without parameters accepts a temporary key after its life.",
  ).by(
    withPath((path) => acceptExpiredKeys(isTemporaryKey, (endpoint) => endpoint === "list" && !path().includes("?"))),
    ["AUTH-16"],
  ),
  "temporary-key-prolonged-by-use": fault("KEY-3", "Each request prolongs the life of a temporary key.").by((base) => {
    const livesUntilMs = new Map<string, number>();
    return {
      identify: (credentials, ring, nowMs, endpoint) => {
        const found = namedKey(credentials, ring);
        const lifeMs = (found?.key.expiresInSeconds ?? 0) * 1000;
        if (found === undefined || lifeMs === 0) return base.identify(credentials, ring, nowMs, endpoint);
        if (nowMs >= (livesUntilMs.get(found.key.key) ?? found.expiresAtMs))
          return { kind: "unauthenticated", cause: "expired-key" };
        livesUntilMs.set(found.key.key, nowMs + lifeMs);
        return { kind: "known", key: found.key };
      },
    };
  }),
  "key-without-prefix": fault("KEY-4", "Keys have no prefix.").by(() => ({
    keyText: (text) => text.replace(/^.._/, ""),
  })),
  "reader-may-write": fault("KEY-5", "A read-only key may invoke.").by(withKeyTraits({ scope: "full" })),
  "any-agent": fault("KEY-6", "A key of one agent may call the others.").by(withKeyTraits({ agents: null })),
  "any-address": fault("KEY-7", "A key may be used from anywhere.").by(withKeyTraits({ allowedIps: null })),
  "temporary-key-outlives-itself": fault("KEY-3", "A temporary key expires after twice its time.").by((base) => ({
    identify: (credentials, ring, nowMs, endpoint) => {
      const lifeMs = (namedKey(credentials, ring)?.key.expiresInSeconds ?? 0) * 1000;
      return base.identify(credentials, ring, lifeMs > 0 ? nowMs - lifeMs : nowMs, endpoint);
    },
  })),
  "temporary-key-turns-wrong": fault(
    "KEY-3",
    "A temporary key that has expired by itself has the code INVALID_API_KEY.",
  ).by(
    overrideResult("identify")((identity, credentials, ring) => {
      const lifeSeconds = namedKey(credentials, ring)?.key.expiresInSeconds ?? 0;
      return identity.kind === "unauthenticated" && lifeSeconds > 0 ? { ...identity, cause: "wrong-key" } : identity;
    }),
  ),
  "valid-keys-cached": fault("KEY-3", "A temporary key that was accepted is not looked up again for a minute.").by(
    (base) => {
      const acceptedMs = new Map<string, number>();
      return overrideResult("identify")((identity, credentials, ring, nowMs) => {
        const found = namedKey(credentials, ring);
        if (found === undefined || !isTemporaryKey(found.key)) return identity;
        if (identity.kind === "known") acceptedMs.set(found.key.key, nowMs);
        const isCached = nowMs - (acceptedMs.get(found.key.key) ?? Number.NEGATIVE_INFINITY) < minuteMs;
        return isCached ? { kind: "known", key: found.key } : identity;
      })(base);
    },
  ),
  "temporary-key-forgotten": fault("KEY-3", "A temporary key is unknown, and so wrong, 2 h after its life.").by(
    overrideResult("identify")((identity, credentials, ring, nowMs) => {
      const found = namedKey(credentials, ring);
      const isForgotten = found !== undefined && isTemporaryKey(found.key) && nowMs >= found.expiresAtMs + 2 * hourMs;
      return isForgotten ? { kind: "unauthenticated", cause: "wrong-key" } : identity;
    }),
  ),
  "prefixes-differ": fault("KEY-4", "Keys of the free tier have a prefix of their own.").by(() => ({
    keyText: (text) => text.replace(/^.._(?=free_)/, "fr_"),
  })),
  "prefix-of-three-letters": fault("KEY-4", "The prefix of keys has three letters.").by(() => ({
    keyText: (text) => text.replace(/^.._/, "key_"),
  })),
  "reader-may-create-webhooks": fault("KEY-5", "A read-only key may create webhooks.").by(
    withKeyTraits({ scope: "full" }, "createWebhook"),
  ),
  "read-only-key-creates-alerts": fault("KEY-5", "A read-only key may create alerts.").by(
    withKeyTraits({ scope: "full" }, "createAlert"),
  ),
  "read-only-key-submits-batches": fault("KEY-5", "A read-only key may submit a batch, and may not invoke.").by(
    withKeyTraits({ scope: "full" }, "batch"),
  ),
  "read-only-key-streams-alone": fault("KEY-5", "A read-only key may stream, and may not invoke.").by(
    withKeyTraits({ scope: "full" }, "stream"),
  ),
  "read-only-key-starts-operations": fault("KEY-5", "A read-only key may start an operation, and may not invoke.").by(
    withKeyTraits({ scope: "full" }, "startOperation"),
  ),
  "any-agent-in-operations": fault("KEY-6", "A key of one agent may start operations of the others.").by(
    withKeyTraits({ agents: null }, "startOperation"),
  ),
  "any-address-for-operations": fault("KEY-7", "A key may start an operation from anywhere.").by(
    withKeyTraits({ allowedIps: null }, "startOperation"),
  ),
  "temporary-key-starts-operations": fault("KEY-3", "A temporary key can start operations after it has expired.").by(
    acceptExpiredKeys(isTemporaryKey, (endpoint) => endpoint === "startOperation"),
  ),
  "any-agent-by-encoded-id": fault("KEY-6", "A key of one agent may invoke another whose id is percent-encoded.").by(
    withPath((path) => withKeyTraitsIf({ agents: null }, () => path().includes("%"))),
  ),
  "reader-invokes-with-slash-at-end": fault(
    "KEY-5",
    "A read-only key may invoke by a path with a slash at its end.",
  ).by(
    withPath((path) => (base) => ({
      servedPath: (sent) => sent.replace(/\/$/, ""),
      ...withKeyTraitsIf({ scope: "full" }, () => path().endsWith("/"))(base),
    })),
  ),
  "reader-creates-webhooks-of-no-agent": fault("KEY-5", "A read-only key may create a webhook without `agent_id`.").by(
    // The server calls `permits` twice. In the first call, `agentId` is `null`, because the body is not read yet. In
    // the second, `agentId` is empty if the body has no `agent_id`.
    withKeyTraitsIf(
      { scope: "full" },
      ({ endpoint, agentId }) => endpoint === "createWebhook" && (agentId ?? "") === "",
    ),
  ),
  "any-agent-in-webhooks-without-secret": fault(
    "KEY-6",
    "A key of one agent may create a webhook without `secret` for the others.",
  ).by(
    withLast("validateWebhook", (last) =>
      withKeyTraitsIf(
        { agents: null },
        ({ endpoint }) => endpoint === "createWebhook" && getPath(last()?.[0], "secret") === undefined,
      ),
    ),
  ),
  "any-agent-in-batch": fault("KEY-6", "A key of one agent may submit batches to the others.").by(
    withKeyTraits({ agents: null }, "batch"),
  ),
  "any-agent-in-stream": fault("KEY-6", "A key of one agent may stream the others, and do nothing else with them.").by(
    withKeyTraits({ agents: null }, "stream"),
  ),
  "any-agent-in-invoke": fault("KEY-6", "A key of one agent may invoke the others, and do nothing else with them.").by(
    withKeyTraits({ agents: null }, "invoke"),
  ),
  "one-agent-key-reads-other-health": fault("KEY-6", "A key of one agent may read the health of the others.").by(
    withKeyTraits({ agents: null }, "health"),
  ),
  "one-agent-key-creates-other-webhook": fault("KEY-6", "A key of one agent may create webhooks for the others.").by(
    withKeyTraits({ agents: null }, "createWebhook"),
  ),
  "any-address-for-alerts": fault("KEY-7", "A key may create alerts from anywhere.").by(
    withKeyTraits({ allowedIps: null }, "createAlert"),
  ),
  "address-refused-once": fault(
    "KEY-7",
    "A key that comes from a foreign address is refused once on each operation.",
  ).by((base) => {
    const refused = new Set<string>();
    return {
      permits: (key, request) => {
        const known = refused.has(`${key.name} ${request.endpoint}`);
        const permitted = base.permits(known ? { ...key, allowedIps: null } : key, request);
        if (!permitted) refused.add(`${key.name} ${request.endpoint}`);
        return permitted;
      },
    };
  }),
  "address-list-inverted": fault("KEY-7", "The list of allowed addresses is used as a list of refused ones.").by(
    (base) => ({
      permits: (key, request) =>
        base.permits({ ...key, allowedIps: null }, request) &&
        (key.allowedIps === null || !base.permits({ ...key, agents: null, scope: "full" }, request)),
    }),
  ),
  "one-agent-key-reads-other-deliveries": fault(
    "KEY-6",
    "A key of one agent may read the deliveries of webhooks of other keys and agents.",
  ).by(overrideResult("showsWebhook")((shows, _webhook, { agents }) => shows || agents !== null)),
  "one-agent-key-reads-other-operations": fault("KEY-6", "A key of one agent may read operations of others.").by(
    overrideResult("showsOperation")((shows, _operation, _account, key) => shows || (key?.agents ?? null) !== null),
  ),
  "signature-replaces-scope": fault("KEY-5", "A signed request may write with a read-only key.").by(
    withKeyTraitsIf({ scope: "full" }, ({ isSigned }) => isSigned),
  ),
  "signature-replaces-agent": fault("KEY-6", "A signed request may invoke any agent.").by(
    withKeyTraitsIf({ agents: null }, ({ isSigned }) => isSigned),
  ),
  "signature-replaces-address": fault("KEY-7", "A signed request may come from any address.").by(
    withKeyTraitsIf({ allowedIps: null }, ({ isSigned }) => isSigned),
  ),
  "any-agent-of-same-letter": fault("KEY-6", "A key of one agent may call others with the same first letter.").by(
    withKeyTraitsIf(
      { agents: null },
      ({ agentId }, { agents }) => agents?.some((agent) => agent.at(0) === agentId?.at(0)) === true,
    ),
  ),
  "address-list-searched-as-text": fault("KEY-7", "A key may come from an address that begins an allowed one.").by(
    withKeyTraitsIf(
      { allowedIps: null },
      ({ address }, { allowedIps }) => allowedIps?.some((each) => each.startsWith(address)) === true,
    ),
  ),
  "reader-writes-right-after-health": fault(
    "KEY-5",
    "A read-only key may make any request right after it has read the health of an agent.",
  ).by((base) => {
    const previous = new Map<string, string>();
    return withKeyTraitsIf({ scope: "full" }, ({ endpoint }, { name }) => {
      const isRemembered = previous.get(name) === "health";
      previous.set(name, endpoint);
      return isRemembered;
    })(base);
  }),
  "key-usage-missing": fault("KEY-9", "Key usage is not there.").by(() => ({
    servedPath: (path) => path.replace(/^\/v1\/keys\/usage/, "/v1/keys/nothing"),
  })),
  "key-usage-201-at-times": fault("KEY-9", "Each third reading of key usage responds with 201.").by(
    overrideSuccessStatus("keyUsage", 201, 3),
  ),
  "key-usage-202": fault("KEY-9", "Key usage responds with 202.").by(overrideSuccessStatus("keyUsage", 202)),
  "forwarded-address-believed": fault("KEY-7", "Whoever asks is believed in `X-Forwarded-For`.").by(
    always("trustedProxiesOf", { has: () => true }),
  ),
});
