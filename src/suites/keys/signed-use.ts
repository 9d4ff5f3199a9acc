import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { type Finding, inapplicable } from "../../run/judge/finding.ts";
import { resolveKey } from "../../run/plan/needs.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import { expiredKeySent } from "../authentication/probes.ts";
import { judgeRefusal } from "../shared/key-requests/key-checks.ts";
import { exchangeOn } from "../shared/key-requests/send-requests.ts";
import { wasRejected } from "../shared/response.ts";
import { oneAgentKeyTried, otherAgent, readOnlyKeyTried } from "./probes.ts";
import { agentPath } from "../../run/send/client.ts";
import { sendSigned } from "../authentication/signing.ts";

// This file tests that signing gives a key no additional rights. For example, a read-only key still cannot invoke an
// agent.

const since = "1.2";

interface SignedUses {
  readonly reader: Exchange | null;
  readonly oneAgent: Exchange | null;
  readonly expired: Exchange | null;
}

const restrictedKeysSigned = probe(
  "keys that the target must refuse are used in signed requests",
  { needs: ["signing"], requests: 0, stage: "limits", since },
  async (context): Promise<SignedUses> => {
    const { target } = context;
    const expired = resolveKey("keys.expired", target);
    const oneAgent = resolveKey("keys.oneAgent", target);
    const other = otherAgent(context, oneAgent?.agents ?? []);
    return {
      reader: await invokeSigned(context, resolveKey("keys.readOnly", target), target.agents.answering),
      oneAgent: await invokeSigned(context, oneAgent, other),
      expired: expired === null ? null : await sendSigned(context, expired, "GET", "/usage"),
    };
  },
);

const invokeSigned = async (
  context: ProbeContext<"signing">,
  key: ReturnType<typeof resolveKey>,
  agent: string | undefined,
): Promise<Exchange | null> =>
  key === null || agent === undefined
    ? null
    : sendSigned(context, key, "POST", agentPath(agent, "invoke"), JSON.stringify({ query: "Hello." }));

function judgeSignedUse(signed: Exchange | null, plain: Exchange | null): Finding<never> {
  if (signed === null || !wasRejected(plain))
    return inapplicable("the key is not rejected without a signature, or was not tried");
  return judgeRefusal(signed, "a signature does not extend what a key may do", plain);
}

const options = { as: "signed", since } as const;

export const expiredKeySignedCheck: Check = check(
  "AUTH-4",
  { signing: restrictedKeysSigned, sent: expiredKeySent },
  ({ signing: { expired }, sent }) => judgeSignedUse(expired, exchangeOn(sent, "usage")),
  options,
);

export const signedRestrictedKeyChecks: readonly Check[] = [
  check(
    "KEY-5",
    { signing: restrictedKeysSigned, tried: readOnlyKeyTried },
    ({ signing: { reader }, tried: { invoked } }) => judgeSignedUse(reader, invoked),
    options,
  ),
  check(
    "KEY-6",
    { signing: restrictedKeysSigned, tried: oneAgentKeyTried },
    ({ signing: { oneAgent }, tried: { other } }) => judgeSignedUse(oneAgent, other && exchangeOn(other, "invoke")),
    options,
  ),
];
