import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { agentPath } from "../../run/send/client.ts";
import { fillAgentId } from "../operations/probes.ts";
import { encodeFirstCharacter } from "../shared/key-requests/send-requests.ts";
import { inapplicableForFewRequests, probeIfManyRequests } from "../shared/few-requests.ts";
import { describeStatus, hasStatus, isInconclusive } from "../shared/response.ts";
import { createSigner, keyForbidden, mayBeForbidden } from "./signing.ts";

const since = "1.2";

interface SignedRequestSent {
  readonly what: string;
  readonly signed: Exchange;
  readonly plain: Exchange | null;
}

interface SignedEverywhere {
  readonly sent: readonly SignedRequestSent[];
}

const isRefused = (exchange: Exchange): boolean => hasStatus(exchange, 401, 403);

/** A body without the required fields, so that no request creates a webhook, alert or batch. */
const emptyBody = "{}";

const signedEverywhere = probeIfManyRequests(
  "a signed request is sent to every other endpoint, and by a path with an encoded letter",
  { needs: ["signing", "agents.answering"], requests: 8, executions: 1, stage: "exclusive", since },
  async (context): Promise<SignedEverywhere> => {
    const { client, given, target } = context;
    const agent = given["agents.answering"];
    const { batch } = target.paths;
    const encoded = encodeFirstCharacter(agent);
    const requests: (readonly [what: string, method: string, path: string, body?: string])[] = [
      ["health", "GET", agentPath(agent, "health")],
      ["usage", "GET", "/usage"],
      ["key usage", "GET", "/keys/usage"],
      ["stream", "POST", agentPath(agent, "stream"), JSON.stringify({ query: "Hello." })],
      ["webhooks", "POST", "/webhooks", emptyBody],
      ["alerts", "POST", "/alerts", emptyBody],
      ...(batch === null ? [] : [["batch", "POST", fillAgentId(batch, agent), emptyBody] as const]),
      ...(encoded === null ? [] : [[encodedLetter, "GET", `/agents/${encoded}/health`] as const]),
    ];
    const send = createSigner(context);
    const sent: SignedRequestSent[] = [];
    for (const [what, method, path, body] of requests) {
      const signed = await send(method, path, body === undefined ? {} : { body });
      const options = body === undefined ? {} : { text: body };
      sent.push({ what, signed, plain: isRefused(signed) ? await client.send(method, path, options) : null });
    }
    return { sent };
  },
);

const encodedLetter = "a path with an encoded letter";

function judgeSigned(
  evidence: SignedEverywhere | null,
  isJudged: (request: SignedRequestSent) => boolean,
): Finding<never> {
  if (evidence === null) return inapplicableForFewRequests;
  const sent = evidence.sent.filter((each) => isJudged(each) && !isInconclusive(each.signed));
  if (sent.length === 0) return inapplicable("no such request was answered");
  const refused = sent.filter(({ signed }) => isRefused(signed));
  const wrong = refused.flatMap(({ what, signed, plain }) =>
    plain === null || isRefused(plain) || isInconclusive(plain) ? [] : [{ what, signed, plain }],
  );
  const proven = wrong.find(({ signed, plain }) => !mayBeForbidden(signed, plain));
  if (proven !== undefined)
    return breach(
      `a signed request to ${proven.what} is not refused for its signature`,
      `${describeStatus(proven.signed)}, and ${describeStatus(proven.plain)} without a signature`,
      proven.signed,
      proven.plain,
    );
  if (wrong.length > 0) return keyForbidden;
  return refused.length === sent.length ? unproven("the requests were refused without a signature, too") : holds();
}

export const signedEverywhereChecks: readonly Check[] = [
  check("AUTH-10", signedEverywhere, (evidence) => judgeSigned(evidence, ({ what }) => what !== encodedLetter), {
    as: "every endpoint",
    since,
  }),
  check("AUTH-10", signedEverywhere, (evidence) => judgeSigned(evidence, ({ what }) => what === encodedLetter), {
    as: "encoded path",
    since,
  }),
];
