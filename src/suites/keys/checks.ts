import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import type { EndpointName } from "../../interface/endpoints.ts";
import { check, observe, suite } from "../../run/check.ts";
import { breach, holds, observed, type Observation, unproven } from "../../run/finding.ts";
import type { Cell } from "../access/asking.ts";
import { ofKeys, shownWhereClosed } from "../access/judge.ts";
import { kindsOf } from "../access/kinds.ts";
import { endpointOf, type Everything, everything } from "../answers/recorded.ts";
import { fieldsOf, hasStatus, isSuccess, outcomeOf, show } from "../answers/shape.ts";
import { isObject } from "../../base/json.ts";
import { isOpen, statusSaid, verdictSaid } from "../answers/wording.ts";
import { alsoEverywhere, both } from "../authentication/checks.ts";
import {
  elsewhereTried,
  keyUsageRead,
  otherAgentTried,
  prefixesSeen,
  readerWrote,
  temporaryKeyOutlived,
  temporaryKeyUsed,
  temporaryKeyWaitedFor,
  webhookCreated,
} from "./probes.ts";

/** What a valid key gets where it lacks permission. */
const lacking = (what: string, asked: Exchange | null): Observation => {
  if (asked === null) return unproven("no agent is known", "`agents.answering` in the target file");
  if (isOpen(asked)) return unproven(`the request came to no verdict (${outcomeOf(asked)})`);
  return observed(`${what}: ${verdictSaid(asked)}`);
};

/** Fields by which key usage is told from the envelope around it. */
const usageFields = ["requests", "tokens", "usage", "key", "key_id", "name", "tier", "period", "last_used"];
const recordFields =
  /^(key|key_id|id|name|label|type|tier|plan|scopes?|agents?|allowed_ips|created(_at)?|expires(_at)?|last_used(_at)?)$/;

function namesIn(read: Exchange): string[] {
  const fields = fieldsOf(read, usageFields);
  return isObject(fields) ? Object.keys(fields) : [];
}

/** The status of whatever a key must not succeed in. */
const askedAt = (cells: readonly Cell[], endpoint: EndpointName): Exchange | null =>
  cells.find((cell) => cell.endpoint === endpoint)?.exchange ?? null;

/** Where an expired key is let in, a temporary one is too: that is AUTH-4's. */
const openToExpired = (all: Everything, names: readonly string[]): ReadonlySet<EndpointName> =>
  new Set(
    all.exchanges
      .filter((each) => each.key !== null && names.includes(each.key) && isSuccess(each))
      .flatMap((each) => endpointOf(each, all) ?? []),
  );

export const keys = suite("Keys", [
  ofKeys(
    "KEY-3",
    { before: temporaryKeyUsed, after: temporaryKeyOutlived, late: temporaryKeyWaitedFor, ...both },
    {
      ...alsoEverywhere,
      kinds: kindsOf("KEY-3"),
      expected: ({ before }) => `401 with the code \`EXPIRED_API_KEY\` after ${before.lifeSeconds} s`,
      shown: ({ before, after, late, strangers, all }) => {
        if (!isSuccess(before.asked)) return [];
        const cells = [...(after?.cells ?? []), ...late.cells];
        return shownWhereClosed({ cells }, { strangers, all }, openToExpired(all, late.expiredKeys));
      },
      none: ({ before }) =>
        isSuccess(before.asked)
          ? null
          : unproven(`the temporary key was not let in before its end (${statusSaid(before.asked)})`),
    },
  ),
  check("KEY-4", { seen: prefixesSeen, all: everything }, ({ seen, all }) => {
    const letIn = new Set(all.exchanges.filter(isSuccess).map(({ key }) => key));
    const known = seen.prefixes.filter(({ name }) => letIn.has(name));
    const [first] = known;
    if (first === undefined) return unproven("the target let no key in");
    const bare = known.find(({ prefix }) => prefix === null);
    if (bare !== undefined)
      return breach("two letters and an underscore at the start of a key", `the key \`${bare.name}\` starts otherwise`);
    const other = known.find(({ prefix }) => prefix !== first.prefix);
    if (other === undefined) return holds();
    return breach(
      "the same two letters and underscore at the start of every key",
      `\`${first.name}\` starts with ${show(first.prefix)}, \`${other.name}\` with ${show(other.prefix)}`,
    );
  }),
  ofKeys(
    "KEY-5",
    { reader: readerWrote, control: webhookCreated, ...both },
    {
      kinds: kindsOf("KEY-5"),
      expected: () => "a read-only key does not succeed in writing",
      shown: ({ reader, strangers, all }) => shownWhereClosed(reader, { strangers, all }),
      besides: ({ reader, control }) => {
        if (!isSuccess(control.created))
          return unproven(`the main key could not create the webhook either (${statusSaid(control.created)})`);
        return isSuccess(reader.read)
          ? null
          : unproven(`the read-only key could not read either (${statusSaid(reader.read)})`);
      },
    },
  ),
  ofKeys(
    "KEY-6",
    { tried: otherAgentTried, ...both },
    {
      ...alsoEverywhere,
      kinds: kindsOf("KEY-6"),
      expected: () => "a key that is restricted to one agent does not succeed with another",
      shown: ({ tried: { other }, strangers, all }) =>
        other === null ? [] : shownWhereClosed(other, { strangers, all }),
      besides: ({ tried: { own, other } }) => {
        if (other === null)
          return unproven("no second agent is known that answers", "another agent under `agents` in the target file");
        if (!isSuccess(own)) return unproven(`the key could not invoke its own agent either (${statusSaid(own)})`);
        return isSuccess(other.control)
          ? null
          : unproven(`the main key could not invoke the other agent either (${statusSaid(other.control)})`);
      },
    },
  ),
  ofKeys(
    "KEY-7",
    { tried: elsewhereTried, ...both },
    {
      ...alsoEverywhere,
      kinds: kindsOf("KEY-7"),
      expected: () => "a key with a list of allowed addresses is not let in from here",
      shown: ({ tried, strangers, all }) => shownWhereClosed(tried, { strangers, all }),
      besides: ({ tried: { claimed, isDirect } }) => {
        if (claimed === null || !isDirect) return null;
        if (isSuccess(claimed))
          return breach(
            "a header `X-Forwarded-For` that anybody can write does not let the key in",
            outcomeOf(claimed),
            claimed,
          );
        return isOpen(claimed) ? unproven(`the restricted key came to no verdict (${outcomeOf(claimed)})`) : null;
      },
    },
  ),
  check("KEY-9", keyUsageRead, ({ read }) => {
    if (hasStatus(read, 429)) return unproven("a limit refused the request (429)");
    return hasStatus(read, 200) ? holds() : breach("200", outcomeOf(read), read);
  }),
  observe("KEY-10", keyUsageRead, ({ read }) =>
    isSuccess(read) && bodyJson(read) !== undefined
      ? observed(
          `without parameters it answers ${outcomeOf(read)} with ${namesIn(read).join(", ") || show(bodyJson(read))}`,
        )
      : unproven(`key usage did not come as JSON (${outcomeOf(read)})`),
  ),
  observe("KEY-11", keyUsageRead, ({ read }) => {
    if (!isSuccess(read)) return unproven(`key usage did not come (${outcomeOf(read)})`);
    const names = namesIn(read).filter((name) => recordFields.test(name));
    return observed(
      names.length > 0 ? `key usage shows of the key: ${names.join(", ")}` : "no answer shows a key's record",
    );
  }),
  observe(
    "AUTH-13",
    readerWrote,
    ({ cells }) => lacking("a read-only key that creates a webhook", askedAt(cells, "webhooks")),
    {
      as: "write",
    },
  ),
  observe("AUTH-13", readerWrote, ({ invoked }) => lacking("a read-only key that invokes", invoked), { as: "invoke" }),
  observe(
    "AUTH-13",
    otherAgentTried,
    ({ other }) => lacking("a key that invokes another agent than its own", askedAt(other?.cells ?? [], "invoke")),
    {
      as: "agent",
    },
  ),
  observe(
    "AUTH-13",
    elsewhereTried,
    ({ cells }) => lacking("a key that comes from an address not on its list", askedAt(cells, "usage")),
    {
      as: "address",
    },
  ),
  observe(
    "AUTH-13",
    elsewhereTried,
    ({ claimed }) =>
      claimed === null
        ? unproven("the key is let in from here")
        : lacking("a key that says in `X-Forwarded-For` that it comes from an address on its list", claimed),
    { as: "claimed address" },
  ),
]);
