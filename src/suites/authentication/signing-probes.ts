import type { Exchange, Header } from "../../evidence/exchange.ts";
import { headerNames } from "../../spec/headers.ts";
import { agentPath } from "../../run/send/client.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import { requestSignature, type SignableRequest } from "../../wire/request-signature.ts";
import { keyToSignFor } from "../../target/target.ts";
import { dateSeconds, wholeNumberHeader } from "../../rules/limits/sample.ts";
import { isSuccess } from "../shared/response.ts";

/** What came of one signed request. */
export interface SignedValidly {
  /** The list with a query string, not signed. */
  readonly control: Exchange;
  /** The same, its path signed with the query string. */
  readonly withQuery: Exchange;
  /** The same, its path signed without the query string. */
  readonly withoutQuery: Exchange;
  /** An invoke with a body that is not ASCII; `null` where no agent is known. */
  readonly posted: Exchange | null;
  /** The same body, not signed; sent only where the signed one did not succeed. */
  readonly postedPlainly: Exchange | null;
}

const list = "/agents?page=1&limit=2";
const question = JSON.stringify({ query: "Grüße, 你好 🙂. Please answer in a few words." });

export const signedValidly = probe(
  "signed requests are sent",
  { needs: ["signing"], requests: 3 },
  async (scene): Promise<SignedValidly> => {
    const { client, target, discovery } = scene;
    const agent = target.agents.answering;
    const signed = signer(scene);
    const withQuery = await signed("GET", list);
    const withoutQuery = await signed("GET", list, { path: (path) => path.replace(/[?].*/, "") });
    const evidence = { control: discovery.listing, withQuery, withoutQuery };
    if (agent === undefined) return { ...evidence, posted: null, postedPlainly: null };
    const path = agentPath(agent, "invoke");
    const posted = await signed("POST", path, { body: question });
    const postedPlainly = isSuccess(posted) ? null : await client.send("POST", path, { text: question });
    return { ...evidence, posted, postedPlainly };
  },
);

/** Ways of signing badly, in the words of a person. */
const mistakes = {
  "a wrong secret": { secret: (secret: string) => `${secret}-not` },
  "a changed path": { path: (path: string) => path.replace(/usage$/, "agents") },
  "a timestamp an hour old": { seconds: (now: number) => String(now - 3600) },
  "a timestamp an hour ahead": { seconds: (now: number) => String(now + 3600) },
  "upper-case hexadecimal": { signature: (signature: string) => signature.toUpperCase() },
  "a timestamp that is no number": { seconds: () => "now" },
} as const satisfies Readonly<Record<string, Signing>>;

/** What came of requests that were signed badly, by the mistake. */
export interface SignedBadly {
  /** The same request, not signed. */
  readonly control: Exchange;
  readonly asked: Readonly<Record<string, Exchange>>;
  /** The same request, not signed, with a key that must be signed for; `null` where the target has none. */
  readonly unsigned: Exchange | null;
}

export const signedBadly = probe(
  "badly signed requests are sent",
  { needs: ["signing"], requests: 7 },
  async (scene): Promise<SignedBadly> => {
    const agent = scene.target.agents.answering;
    const signed = signer(scene);
    const asked: Record<string, Exchange> = {};
    for (const [mistake, signing] of Object.entries(mistakes)) asked[mistake] = await signed("GET", "/usage", signing);
    if (agent !== undefined)
      asked["a changed body"] = await signed("POST", agentPath(agent, "invoke"), {
        body: question,
        signedBody: `${question} `,
      });
    const signedKey = keyToSignFor(scene.target);
    const unsigned = signedKey === null ? null : await scene.client.as(signedKey).send("GET", "/usage");
    return { control: scene.discovery.usage, asked, unsigned };
  },
);

/** What is signed otherwise than the document has it. */
interface Signing {
  readonly body?: string;
  readonly signedBody?: string;
  readonly path?: (path: string) => string;
  readonly secret?: (secret: string) => string;
  /** The timestamp, of the target's time in Unix seconds. */
  readonly seconds?: (nowSeconds: number) => string;
  readonly signature?: (signature: string) => string;
}

type Signed = (method: string, path: string, signing?: Signing) => Promise<Exchange>;

function signer(scene: ProbeContext<"signing">): Signed {
  const { given, target } = scene;
  const client = scene.client.as(keyToSignFor(scene.target) ?? scene.client.key);
  const root = new URL(target.baseUrl).pathname;
  return (method, path, signing = {}) => {
    const wire = `${root}${path}`;
    const headers = (): Header[] => {
      const seconds = Math.floor(targetSeconds(scene));
      const timestamp = signing.seconds?.(seconds) ?? String(seconds);
      const request: SignableRequest = {
        method,
        path: signing.path?.(wire) ?? wire,
        timestamp,
        body: signing.signedBody ?? signing.body ?? "",
      };
      const signature = requestSignature(request, signing.secret?.(given.signing) ?? given.signing);
      return [
        [headerNames.timestamp, timestamp],
        [headerNames.signature, signing.signature?.(signature) ?? signature],
      ];
    };
    return client.send(method, path, { ...(signing.body === undefined ? {} : { text: signing.body }), headers });
  };
}

/**
 * The target's own time, in Unix seconds: by its `Date` header, or else by its rate-limit headers, and what has passed since, so
 * that the skew of two machines is no mistake.
 */
function targetSeconds({ discovery: { usage }, time }: ProbeContext<"signing">): number {
  const date = dateSeconds(usage) ?? resetSeconds(usage);
  if (date === null || usage.answer.kind !== "answered") return (Date.now() + time.clockOffsetMs()) / 1000;
  return date + (time.targetMs() - usage.answer.headMs - usage.clockMs) / 1000;
}

/** When a window ends, less how far that is away, is now. */
function resetSeconds(exchange: Exchange): number | null {
  const [reset, after] = [headerNames.rateReset, headerNames.rateResetAfter].map((name) =>
    wholeNumberHeader(exchange, name),
  );
  return typeof reset === "number" && typeof after === "number" ? reset - after : null;
}
