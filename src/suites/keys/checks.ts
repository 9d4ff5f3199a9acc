import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { check, observe, suite } from "../../run/check.ts";
import { breach, holds, observed, type Observation, unproven } from "../../run/finding.ts";
import { codeOf } from "../answers/error-body.ts";
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
import { everything } from "../answers/recorded.ts";
import { fieldsOf, hasStatus, isSuccess, outcomeOf, show } from "../answers/shape.ts";
import { isObject } from "../../base/json.ts";
import { isOpen, statusSaid, verdictSaid } from "../answers/wording.ts";

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

/** Judges one answer to a restricted key that must not succeed. */
const mustFail = (asked: Exchange, expected: string, ...others: readonly Exchange[]) =>
  isSuccess(asked) ? breach(expected, outcomeOf(asked), asked, ...others) : null;

/** A stream that opens may still refuse in its first event. */
const hasAnswered = ({ answer }: Exchange): boolean =>
  answer.kind === "answered" && answer.events.some(({ name }) => name === "chunk" || name === "done");

export const keys = suite("Keys", [
  check("KEY-3", { before: temporaryKeyUsed, after: temporaryKeyOutlived, late: temporaryKeyWaitedFor }, (seen) => {
    const { before, after, late } = seen;
    const asked = after.asked ?? late.asked;
    if (asked === null) return unproven("the end of the temporary key's life was not seen");
    if (!isSuccess(before.asked))
      return unproven(`the temporary key was not let in before its end (${statusSaid(before.asked)})`);
    if (isOpen(asked)) return unproven(`the temporary key came to no verdict after its end (${outcomeOf(asked)})`);
    const expected = `401 with the code \`EXPIRED_API_KEY\` after ${before.lifeSeconds} s`;
    if (!hasStatus(asked, 401)) return breach(expected, outcomeOf(asked), before.asked, asked);
    if (codeOf(asked) === null) return unproven("the 401 has no error code that can be read (ERR-2 to ERR-5)");
    return codeOf(asked) === "EXPIRED_API_KEY"
      ? holds()
      : breach(expected, `401 with the code ${show(codeOf(asked))}`, before.asked, asked);
  }),
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
  check(
    "KEY-5",
    { reader: readerWrote, control: webhookCreated },
    ({ reader: { read, wrote, alerted }, control: { created } }) => {
      const failure =
        mustFail(wrote, "a read-only key does not create a webhook", read) ??
        mustFail(alerted, "a read-only key does not create an alert", read);
      if (failure !== null) return failure;
      if (isOpen(wrote)) return unproven(`the read-only key came to no verdict (${outcomeOf(wrote)})`);
      if (!isSuccess(created))
        return unproven(`the main key could not create the webhook either (${statusSaid(created)})`);
      return isSuccess(read) ? holds() : unproven(`the read-only key could not read either (${statusSaid(read)})`);
    },
  ),
  check("KEY-6", otherAgentTried, ({ own, other }) => {
    if (other === null)
      return unproven("no second agent is known that answers", "another agent under `agents` in the target file");
    const failure =
      mustFail(other.asked, "a key that is restricted to one agent does not invoke another", own) ??
      (hasAnswered(other.streamed)
        ? mustFail(other.streamed, "a key that is restricted to one agent does not stream another", own)
        : null);
    if (failure !== null) return failure;
    if (isOpen(other.asked)) return unproven(`the restricted key came to no verdict (${outcomeOf(other.asked)})`);
    if (!isSuccess(own)) return unproven(`the key could not invoke its own agent either (${statusSaid(own)})`);
    return isSuccess(other.control)
      ? holds()
      : unproven(`the main key could not invoke the other agent either (${statusSaid(other.control)})`);
  }),
  check("KEY-7", elsewhereTried, ({ asked, claimed, control, isDirect }) => {
    const failure =
      mustFail(asked, "a key with a list of allowed addresses is not let in from here") ??
      (claimed === null || !isDirect
        ? null
        : mustFail(claimed, "a header `X-Forwarded-For` that anybody can write does not let the key in", asked));
    if (failure !== null) return failure;
    if ([asked, claimed].some((each) => each !== null && isOpen(each)))
      return unproven(`the restricted key came to no verdict (${outcomeOf(asked)})`);
    return isSuccess(control) ? holds() : unproven(`the main key could not read usage either (${statusSaid(control)})`);
  }),
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
  observe("AUTH-13", readerWrote, ({ wrote }) => lacking("a read-only key that creates a webhook", wrote), {
    as: "write",
  }),
  observe("AUTH-13", readerWrote, ({ invoked }) => lacking("a read-only key that invokes", invoked), { as: "invoke" }),
  observe(
    "AUTH-13",
    otherAgentTried,
    ({ other }) => lacking("a key that invokes another agent than its own", other?.asked ?? null),
    {
      as: "agent",
    },
  ),
  observe(
    "AUTH-13",
    elsewhereTried,
    ({ asked }) => lacking("a key that comes from an address not on its list", asked),
    {
      as: "address",
    },
  ),
  observe(
    "AUTH-13",
    elsewhereTried,
    ({ asked, claimed }) =>
      claimed === null
        ? unproven(`the key is let in from here (${outcomeOf(asked)})`)
        : lacking("a key that says in `X-Forwarded-For` that it comes from an address on its list", claimed),
    { as: "claimed address" },
  ),
]);
