import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import type { EndpointName } from "../../spec/endpoints.ts";
import { type Check, check, type EvidenceOf, observe, suite } from "../../run/judge/check.ts";
import type { Probe } from "../../run/probe.ts";
import { breach, holds, observed, type Observation, unproven } from "../../run/judge/finding.ts";
import { exchangeOn } from "../shared/key-requests/send-requests.ts";
import { checkEverySuccess } from "../shared/cases.ts";
import { outlivedKeyChecks } from "../coverage/checks.ts";
import { keyUsageLedgerCheck } from "../limits/ledger-checks.ts";
import { checkKeys, judgeOnCheckingEndpoints, keyKindsOf } from "../shared/key-requests/key-checks.ts";
import { endpointOf, type AllExchanges, allExchanges } from "../shared/all-exchanges.ts";
import {
  describeStatus,
  describeVerdict,
  fieldsOf,
  hasStatus,
  isInconclusive,
  isSuccess,
  outcomeOf,
} from "../shared/response.ts";
import { formatValue, isObject } from "../../base/json.ts";
import { indirectKeyChecks } from "./indirect-use.ts";
import { narrowRestrictionChecks } from "./narrow-restrictions.ts";
import { startChecksOfKeys } from "./operation-start.ts";
import { shapeChecks } from "./other-shapes.ts";
import { spellingChecksOfKeys } from "./path-spellings.ts";
import { signedRestrictedKeyChecks } from "./signed-use.ts";
import { positiveControls, keyCheckProbes } from "../authentication/checks.ts";
import {
  otherAddressKeyTried,
  keyUsageRead,
  oneAgentKeyTried,
  keyPrefixesRead,
  readOnlyKeyTried,
  temporaryKeyExpired,
  temporaryKeyUsed,
  temporaryKeyExpiryAwaited,
  webhookCreated,
} from "./probes.ts";

const describeRestricted = (what: string, exchange: Exchange | null): Observation => {
  if (exchange === null) return unproven("no agent is known", "`agents.answering` in the target file");
  if (isInconclusive(exchange))
    return unproven(`the request was neither accepted nor rejected (${outcomeOf(exchange)})`);
  return observed(`${what}: ${describeVerdict(exchange)}`);
};

const observeRestricted = <P extends Probe>(
  as: string,
  tried: P,
  what: string,
  exchangeOf: (evidence: EvidenceOf<P>) => Exchange | null,
): Check => observe("AUTH-13", tried, (evidence) => describeRestricted(what, exchangeOf(evidence)), { as });

/** Fields that can occur in a key's usage. They identify the usage even if the body wraps it in another object. */
const usageFields = ["requests", "tokens", "usage", "key", "key_id", "name", "tier", "period", "last_used"];
const recordFields =
  /^(key|key_id|id|name|label|type|tier|plan|scopes?|agents?|allowed_ips|created(_at)?|expires(_at)?|last_used(_at)?)$/;

function namesIn(read: Exchange): string[] {
  const fields = fieldsOf(read, usageFields);
  return isObject(fields) ? Object.keys(fields) : [];
}

const endpointsAcceptingExpired = (all: AllExchanges, names: readonly string[]): ReadonlySet<EndpointName> =>
  new Set(
    all.exchanges
      .filter((each) => each.key !== null && names.includes(each.key) && isSuccess(each))
      .flatMap((each) => endpointOf(each, all) ?? []),
  );

export const keys = suite("Keys", [
  checkKeys(
    "KEY-3",
    { before: temporaryKeyUsed, after: temporaryKeyExpired, late: temporaryKeyExpiryAwaited, ...keyCheckProbes },
    {
      ...positiveControls,
      kinds: keyKindsOf("KEY-3"),
      expected: ({ before }) => `401 with the code \`EXPIRED_API_KEY\` after ${before.lifeSeconds} s`,
      judged: ({ before, after, late, unauthenticated, all }) => {
        if (!isSuccess(before.asked)) return [];
        const requests = [...(after?.requests ?? []), ...late.requests];
        return judgeOnCheckingEndpoints(
          { requests },
          { unauthenticated, all },
          endpointsAcceptingExpired(all, late.expiredKeys),
        );
      },
      whenEmpty: ({ before }) =>
        isSuccess(before.asked)
          ? null
          : unproven(`the temporary key was not accepted before its expiry (${describeStatus(before.asked)})`),
    },
  ),
  ...outlivedKeyChecks,
  check("KEY-4", { seen: keyPrefixesRead, all: allExchanges }, ({ seen, all }) => {
    const acceptedKeys = new Set(all.exchanges.filter(isSuccess).map(({ key }) => key));
    const known = seen.prefixes.filter(({ name }) => acceptedKeys.has(name));
    const [first] = known;
    if (first === undefined) return unproven("the target accepted no key");
    const bare = known.find(({ prefix }) => prefix === null);
    if (bare !== undefined)
      return breach("two letters and an underscore at the start of a key", `the key \`${bare.name}\` starts otherwise`);
    const other = known.find(({ prefix }) => prefix !== first.prefix);
    if (other === undefined) return holds();
    return breach(
      "the same two letters and underscore at the start of every key",
      `\`${first.name}\` starts with ${formatValue(first.prefix)}, \`${other.name}\` with ${formatValue(other.prefix)}`,
    );
  }),
  checkKeys(
    "KEY-5",
    { reader: readOnlyKeyTried, control: webhookCreated, ...keyCheckProbes },
    {
      kinds: keyKindsOf("KEY-5"),
      expected: () => "a read-only key does not succeed in writing",
      judged: ({ reader, unauthenticated, all }) => judgeOnCheckingEndpoints(reader, { unauthenticated, all }),
      alsoRequire: ({ reader, control }) => {
        if (!isSuccess(control.created))
          return unproven(`the main key could not create the webhook either (${describeStatus(control.created)})`);
        return isSuccess(reader.read)
          ? null
          : unproven(`the read-only key could not read either (${describeStatus(reader.read)})`);
      },
    },
  ),
  checkKeys(
    "KEY-6",
    { tried: oneAgentKeyTried, ...keyCheckProbes },
    {
      ...positiveControls,
      kinds: keyKindsOf("KEY-6"),
      expected: () => "a key that is restricted to one agent does not succeed with another",
      judged: ({ tried: { other }, unauthenticated, all }) =>
        other === null ? [] : judgeOnCheckingEndpoints(other, { unauthenticated, all }),
      alsoRequire: ({ tried: { own, other } }) => {
        if (other === null)
          return unproven("no second agent is known that answers", "another agent under `agents` in the target file");
        if (!isSuccess(own)) return unproven(`the key could not invoke its own agent either (${describeStatus(own)})`);
        return isSuccess(other.control)
          ? null
          : unproven(`the main key could not invoke the other agent either (${describeStatus(other.control)})`);
      },
    },
  ),
  checkKeys(
    "KEY-7",
    { tried: otherAddressKeyTried, ...keyCheckProbes },
    {
      ...positiveControls,
      kinds: keyKindsOf("KEY-7"),
      expected: () => "a key with a list of allowed addresses is rejected from here",
      judged: ({ tried, unauthenticated, all }) => {
        const judged = judgeOnCheckingEndpoints(tried, { unauthenticated, all });
        // Judges nothing if the key's address list may contain this machine's public address, and no endpoint rejects
        // the key. The server may then rightly accept the key.
        return tried.mayBeListed === true && !judged.some(({ verdict }) => verdict === "correct") ? [] : judged;
      },
      whenEmpty: ({ tried: { mayBeListed = false } }) =>
        mayBeListed
          ? unproven(
              "the key's list may name the public address of this machine",
              "`allowedIps` that cannot be this machine's, such as 203.0.113.9",
            )
          : null,
      alsoRequire: ({ tried: { claimed, isDirect } }) => {
        if (claimed === null || !isDirect) return null;
        if (isSuccess(claimed))
          return breach(
            "a header `X-Forwarded-For`, which anyone can send, does not get the key accepted",
            outcomeOf(claimed),
            claimed,
          );
        return isInconclusive(claimed)
          ? unproven(`the restricted key was neither accepted nor rejected (${outcomeOf(claimed)})`)
          : null;
      },
    },
  ),
  ...indirectKeyChecks,
  ...narrowRestrictionChecks,
  ...startChecksOfKeys,
  ...spellingChecksOfKeys,
  ...shapeChecks,
  ...signedRestrictedKeyChecks,
  check("KEY-9", keyUsageRead, ({ read }) => {
    if (hasStatus(read, 429)) return unproven("a limit refused the request (429)");
    return hasStatus(read, 200) ? holds() : breach("200", outcomeOf(read), read);
  }),
  checkEverySuccess("KEY-9", "keyUsage"),
  observe("KEY-10", keyUsageRead, ({ read }) =>
    isSuccess(read) && bodyJson(read) !== undefined
      ? observed(
          `without parameters it answers ${outcomeOf(read)} with ${namesIn(read).join(", ") || formatValue(bodyJson(read))}`,
        )
      : unproven(`key usage is not JSON (${outcomeOf(read)})`),
  ),
  keyUsageLedgerCheck,
  observe("KEY-11", keyUsageRead, ({ read }) => {
    if (!isSuccess(read)) return unproven(`there is no key usage (${outcomeOf(read)})`);
    const names = namesIn(read).filter((name) => recordFields.test(name));
    return observed(
      names.length > 0 ? `key usage shows of the key: ${names.join(", ")}` : "no response shows a key's record",
    );
  }),
  observeRestricted("write", readOnlyKeyTried, "a read-only key that creates a webhook", (tried) =>
    exchangeOn(tried, "webhooks"),
  ),
  observeRestricted("invoke", readOnlyKeyTried, "a read-only key that invokes", ({ invoked }) => invoked),
  observeRestricted("agent", oneAgentKeyTried, "a key that invokes another agent than its own", ({ other }) =>
    other === null ? null : exchangeOn(other, "invoke"),
  ),
  observeRestricted("address", otherAddressKeyTried, "a key that comes from an address not on its list", (tried) =>
    exchangeOn(tried, "usage"),
  ),
  observe(
    "AUTH-13",
    otherAddressKeyTried,
    ({ claimed }) =>
      claimed === null
        ? unproven("the key is accepted from here")
        : describeRestricted("a key that says in `X-Forwarded-For` that it comes from an address on its list", claimed),
    { as: "claimed address" },
  ),
]);
