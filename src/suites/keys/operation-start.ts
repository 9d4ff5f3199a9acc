import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { hasFewRequests, resolveKey } from "../../run/plan/needs.ts";
import { type Probe, probe, type ProbeContext } from "../../run/probe.ts";
import type { RejectedKeyKind } from "../../spec/dimensions.ts";
import type { TargetKey } from "../../target/target.ts";
import { expiredKeySent, unauthenticatedSent } from "../authentication/probes.ts";
import { batchSubmitted, type BatchSubmitted, fillAgentId } from "../operations/probes.ts";
import { exchangeOn, type KeyRequests } from "../shared/key-requests/send-requests.ts";
import { neverIssuedKey } from "../shared/key-requests/altered-keys.ts";
import {
  codeOf,
  describeStatus,
  hasStatus,
  isInconclusive,
  isSuccess,
  outcomeOf,
  wasRejected,
} from "../shared/response.ts";
import {
  isKeyLifetimeOver,
  oneAgentKeyTried,
  otherAddressKeyTried,
  otherAgent,
  readOnlyKeyTried,
  temporaryKeyUsed,
} from "./probes.ts";

// This file tests that an invalid or restricted key cannot start an asynchronous operation.

const since = "1.2";

interface StartTried {
  readonly kind: RejectedKeyKind;
  readonly exchange: Exchange;
}

interface Attempt {
  readonly kind: RejectedKeyKind;
  readonly agent: string;
  readonly key: TargetKey | null;
  readonly authorization?: string | null;
}

export const operationStartTried = probe(
  "keys that the target must refuse try to start an operation",
  { requests: 0, stage: "coverage", since },
  async (context): Promise<{ readonly tried: readonly StartTried[] }> => {
    const { client, target } = context;
    const { operation: path } = target.paths;
    const { answering } = target.agents;
    if (path === null || answering === undefined) return { tried: [] };
    const tried: StartTried[] = [];
    for (const { kind, agent, key, ...rest } of attemptsOf(context, path, answering)) {
      const own = key === null ? client : client.as(key);
      const options = { json: { query: "Hello." }, unpaced: target.clock === null, ...rest };
      tried.push({ kind, exchange: await own.send("POST", fillAgentId(path, agent), options) });
    }
    return { tried };
  },
);

function attemptsOf(context: ProbeContext, path: string, agent: string): Attempt[] {
  const { client, target, time } = context;
  const attemptWith = (kind: RejectedKeyKind, need: Parameters<typeof resolveKey>[0], usedWith = agent) => {
    const key = resolveKey(need, target);
    return key === null ? [] : [{ kind, agent: usedWith, key }];
  };
  const allowed = resolveKey("keys.oneAgent", target)?.agents ?? [];
  // A path without `{agent_id}` names no agent. Then the key's restriction to one agent cannot be tested.
  const other = path.includes("{agent_id}") ? otherAgent(context, allowed) : undefined;
  const wrongKey = `Bearer ${neverIssuedKey(client.key.key)}`;
  return [
    ...attemptWith("a read-only key", "keys.readOnly"),
    ...(other === undefined ? [] : attemptWith("a key of another agent", "keys.oneAgent", other)),
    ...attemptWith("a key of another address", "keys.elsewhere"),
    ...attemptWith("an expired key", "keys.expired"),
    ...attemptWith("a temporary key after its life", "keys.temporary").filter(({ key }) =>
      isKeyLifetimeOver(key, time),
    ),
    ...(hasFewRequests(target)
      ? []
      : [
          { kind: "a wrong key", agent, key: null, authorization: wrongKey } as const,
          { kind: "no key", agent, key: null, authorization: null } as const,
        ]),
  ];
}

interface StartEvidence {
  readonly tries: { readonly tried: readonly StartTried[] };
  readonly batch: BatchSubmitted;
}

/** Kinds of key that must get a 401, with its error code; `null` allows any code. Other kinds may get any error. */
const codes: Readonly<Partial<Record<RejectedKeyKind, string | null>>> = {
  "no key": null,
  "a wrong key": "INVALID_API_KEY",
  "an expired key": "EXPIRED_API_KEY",
  "a temporary key after its life": "EXPIRED_API_KEY",
};

/** Whether the target starts an operation even with a wrong key. If so, tests with other keys prove nothing. */
const acceptsAnyKey = (tried: readonly StartTried[]): boolean =>
  tried.some(({ kind, exchange }) => kind === "a wrong key" && isSuccess(exchange));

function judgeStart(
  kind: RejectedKeyKind,
  { tries, batch }: StartEvidence,
  isRefusedElsewhere: boolean,
): Finding<never> {
  const started = batch.started ?? null;
  if (started === null || !isSuccess(started)) return inapplicable("no path is known on which an operation starts");
  const exchange = tries.tried.find((each) => each.kind === kind)?.exchange;
  if (exchange === undefined || !isRefusedElsewhere || (kind !== "a wrong key" && acceptsAnyKey(tries.tried)))
    return inapplicable(`${kind} was not tried, or is not refused elsewhere`);
  if (isInconclusive(exchange)) return unproven(`the key was neither accepted nor rejected (${outcomeOf(exchange)})`);
  const wanted = codes[kind];
  const isRight = wanted === undefined ? !isSuccess(exchange) : hasStatus(exchange, 401) && hasCode(exchange, wanted);
  if (isRight) return holds();
  const expected = wanted === undefined ? "does not start an operation" : `gets 401 ${wanted ?? ""}`.trim();
  return breach(`${kind} ${expected}`, describeStatus(exchange), exchange, started);
}

/** Whether the response has the wanted error code. Accepts a missing code, which ERR-2 to ERR-5 judge. */
function hasCode(exchange: Exchange, wanted: string | null): boolean {
  const code = codeOf(exchange);
  return wanted === null || code === null || code === wanted;
}

const isInvokeRejected = (sent: KeyRequests, kind: RejectedKeyKind): boolean =>
  wasRejected(exchangeOn(sent, "invoke", kind));

const tries = { tries: operationStartTried, batch: batchSubmitted } as const;
const options = { as: "start of an operation", since } as const;

const checkStart = (
  clause: "AUTH-2" | "AUTH-3" | "AUTH-4" | "KEY-7",
  kind: RejectedKeyKind,
  usual: Probe<KeyRequests>,
): Check =>
  check(
    clause,
    { ...tries, sent: usual },
    ({ sent, ...evidence }) => judgeStart(kind, evidence, isInvokeRejected(sent, kind)),
    options,
  );

export const startChecksOfAuthentication: readonly Check[] = [
  checkStart("AUTH-2", "no key", unauthenticatedSent),
  checkStart("AUTH-3", "a wrong key", unauthenticatedSent),
  checkStart("AUTH-4", "an expired key", expiredKeySent),
];

export const startChecksOfKeys: readonly Check[] = [
  check(
    "KEY-3",
    { ...tries, before: temporaryKeyUsed },
    ({ before, ...evidence }) => judgeStart("a temporary key after its life", evidence, isSuccess(before.asked)),
    options,
  ),
  // The document does not say whether a read-only key is allowed to start operations. Therefore, the check judges only
  // targets that refuse invokes with a read-only key.
  check(
    "KEY-5",
    { ...tries, reader: readOnlyKeyTried },
    ({ reader, ...evidence }) => judgeStart("a read-only key", evidence, wasRejected(reader.invoked)),
    options,
  ),
  check(
    "KEY-6",
    { ...tries, agents: oneAgentKeyTried },
    ({ agents: { own, other }, ...evidence }) => {
      const isRestricted = other !== null && isSuccess(own) && isInvokeRejected(other, "a key of another agent");
      return judgeStart("a key of another agent", evidence, isRestricted);
    },
    options,
  ),
  checkStart("KEY-7", "a key of another address", otherAddressKeyTried),
];
