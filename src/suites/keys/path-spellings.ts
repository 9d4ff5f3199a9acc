import { getPath } from "../../base/json.ts";
import { encodedSegment } from "../../base/http.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { hasFewRequests, resolveKey } from "../../run/plan/needs.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import type { RejectedKeyKind } from "../../spec/dimensions.ts";
import { expiredKeySent, unauthenticatedSent } from "../authentication/probes.ts";
import { encodeFirstCharacter, exchangeOn } from "../shared/key-requests/send-requests.ts";
import { describeStatus, isInconclusive, isSuccess, wasRejected } from "../shared/response.ts";
import { oneAgentKeyTried, otherAgent, readOnlyKeyTried } from "./probes.ts";

// This file tests whether a server accepts a forbidden key if the path is spelled unusually, e.g. with two slashes.

const since = "1.2";

const spellings = {
  "with its id percent-encoded": (agent) => {
    const id = encodeFirstCharacter(agent);
    return id === null ? null : `/agents/${id}/invoke`;
  },
  "with a slash at its end": (agent) => `/agents/${encodedSegment(agent)}/invoke/`,
  "with two slashes": (agent) => `/agents//${encodedSegment(agent)}/invoke`,
  "with its last word in upper case": (agent) => `/agents/${encodedSegment(agent)}/INVOKE`,
} as const satisfies Readonly<Record<string, (agent: string) => string | null>>;

type Spelling = keyof typeof spellings;

interface SpelledOtherwise {
  readonly kind: RejectedKeyKind;
  readonly spelling: Spelling;
  readonly exchange: Exchange;
}

interface SpellingsTried {
  readonly tried: readonly SpelledOtherwise[];
}

const otherSpellingsTried = probe(
  "keys that the target must refuse invoke an agent by another spelling of its path",
  { requests: 0, stage: "limits", since },
  async (context): Promise<SpellingsTried> => {
    const { client, target } = context;
    const tried: SpelledOtherwise[] = [];
    for (const { kind, agent, key } of usersOf(context))
      for (const [spelling, spell] of Object.entries(spellings) as [Spelling, (agent: string) => string | null][]) {
        const path = spell(agent);
        if (path === null) continue;
        const options = { json: { query: "Hello." }, unpaced: target.clock === null };
        const exchange =
          key === null
            ? await client.send("POST", path, { ...options, authorization: null })
            : await client.as(key).send("POST", path, options);
        tried.push({ kind, spelling, exchange });
      }
    return { tried };
  },
);

function usersOf(context: ProbeContext) {
  const { target } = context;
  const { answering } = target.agents;
  const oneAgent = resolveKey("keys.oneAgent", target);
  const users = [
    { kind: "a read-only key", agent: answering, key: resolveKey("keys.readOnly", target) },
    { kind: "a key of another agent", agent: otherAgent(context, oneAgent?.agents ?? []), key: oneAgent },
    { kind: "an expired key", agent: answering, key: resolveKey("keys.expired", target) },
  ] as const;
  const anonymous = { kind: "no key", agent: answering, key: null } as const;
  const all = [...users.filter(({ key }) => key !== null), ...(hasFewRequests(target) ? [] : [anonymous])];
  return all.flatMap(({ agent, ...user }) => (agent === undefined ? [] : [{ ...user, agent }]));
}

/** Whether an agent ran: the body has its result. Some servers answer even unknown paths with 200. */
const hasResult = (exchange: Exchange): boolean =>
  isSuccess(exchange) &&
  [["result"], ["data", "result"]].some((path) => getPath(bodyJson(exchange), ...path) !== undefined);

function judgeSpellings(kind: RejectedKeyKind, plain: Exchange | null, { tried }: SpellingsTried): Finding<never> {
  const own = tried.filter((each) => each.kind === kind);
  if (own.length === 0) return inapplicable(`${kind} was not tried`);
  if (!wasRejected(plain)) return inapplicable(`${kind} is not refused by an invoke`);
  const served = own.find(({ exchange }) => hasResult(exchange));
  if (served === undefined)
    return own.every(({ exchange }) => isInconclusive(exchange))
      ? unproven(`${kind} was neither accepted nor refused by another spelling`)
      : holds();
  return breach(
    `${kind} does not invoke an agent by a path ${served.spelling}`,
    describeStatus(served.exchange),
    served.exchange,
    plain,
  );
}

const options = { as: "other spellings of the path", since } as const;

export const spellingChecksOfAuthentication: readonly Check[] = [
  check(
    "AUTH-2",
    { spelled: otherSpellingsTried, sent: unauthenticatedSent },
    ({ spelled, sent }) => judgeSpellings("no key", exchangeOn(sent, "invoke", "no key"), spelled),
    options,
  ),
  check(
    "AUTH-4",
    { spelled: otherSpellingsTried, sent: expiredKeySent },
    ({ spelled, sent }) => judgeSpellings("an expired key", exchangeOn(sent, "invoke", "an expired key"), spelled),
    options,
  ),
];

export const spellingChecksOfKeys: readonly Check[] = [
  check(
    "KEY-5",
    { spelled: otherSpellingsTried, reader: readOnlyKeyTried },
    ({ spelled, reader }) => judgeSpellings("a read-only key", reader.invoked, spelled),
    options,
  ),
  check(
    "KEY-6",
    { spelled: otherSpellingsTried, agents: oneAgentKeyTried },
    ({ spelled, agents: { other } }) => {
      const kind = "a key of another agent";
      return judgeSpellings(kind, other === null ? null : exchangeOn(other, "invoke", kind), spelled);
    },
    options,
  ),
];
