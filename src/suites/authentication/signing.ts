import { createHmac } from "node:crypto";

import type { Exchange, Header } from "../../evidence/exchange.ts";
import { headerNames } from "../../spec/headers.ts";
import { check, observe } from "../../run/judge/check.ts";
import { breach, type Finding, follows, holds, observed, unproven } from "../../run/judge/finding.ts";
import { agentPath } from "../../run/send/client.ts";
import { probe, type ProbeContext } from "../../run/probe.ts";
import { keyToSignFor, type TargetKey } from "../../target/target.ts";
import { dateSeconds, nowByReset } from "../../rules/limits/sample.ts";
import {
  describeStatus,
  describeVerdict,
  hasStatus,
  isInconclusive,
  isSuccess,
  outcomeOf,
} from "../shared/response.ts";

/**
 * A signed invoke request with white space or non-ASCII characters in its JSON. A server that re-serializes the JSON
 * before verification may wrongly reject the signature.
 */
interface SignedInvoke {
  /** The signed request; `null` if the harness knows no agent. */
  readonly posted: Exchange | null;
  /** An unsigned copy of the request `posted`. It is `null` if `posted` succeeded or was not sent. */
  readonly postedPlainly: Exchange | null;
}

/** Signed list requests with a query string, and a signed invoke with non-ASCII characters. */
export interface SignedValidly extends SignedInvoke {
  readonly control: Exchange;
  /** Request whose signature covers path and query string. */
  readonly withQuery: Exchange;
  /** Request whose signature covers only the path, without the query string. */
  readonly withoutQuery: Exchange;
}

const listPath = "/agents?page=1&limit=2";
const nonAsciiBody = JSON.stringify({ query: "Grüße, 你好 🙂. Please answer in a few words." });

const signedValidly = probe(
  "signed requests are sent",
  { needs: ["signing"], requests: 3 },
  async (context): Promise<SignedValidly> => {
    const signed = createSigner(context);
    const withQuery = await signed("GET", listPath);
    const withoutQuery = await signed("GET", listPath, { path: (path) => path.replace(/[?].*/, "") });
    return {
      control: context.discovery.listing,
      withQuery,
      withoutQuery,
      ...(await postSigned(context, nonAsciiBody)),
    };
  },
);

async function postSigned(context: ProbeContext<"signing">, body: string): Promise<SignedInvoke> {
  const agent = context.target.agents.answering;
  if (agent === undefined) return { posted: null, postedPlainly: null };
  const path = agentPath(agent, "invoke");
  const posted = await createSigner(context)("POST", path, { body });
  return { posted, postedPlainly: isSuccess(posted) ? null : await context.client.send("POST", path, { text: body }) };
}

/** If a server parses and re-serializes this JSON, the result no longer matches the signature. */
const unusualJson = String.raw`
	{  "parameters": {"conformance_unknown":0.70 },
	  "\u0071uery"  :"Gr\u00fc\u00DFe, 你好 \ud83d\ude42. Please answer yes\/no." }
`;

const signedUnusually = probe(
  "a signed request is sent with white space and escapes in its JSON",
  { needs: ["signing"], requests: 1, since: "1.1", stage: "exclusive" },
  (context) => postSigned(context, unusualJson),
);

/** JSON with empty lines and both kinds of line end (LF and CR LF). */
const jsonOfLines = '{\n\n"query": "Hello.\\n\\nPlease answer in a few words."\r\n\r\n}\n';

const signedLines = probe(
  "a signed request is sent with empty lines in its body, some ended by CR LF",
  { needs: ["signing"], requests: 1, since: "1.2", stage: "exclusive" },
  (context) => postSigned(context, jsonOfLines),
);

const mistakes = {
  "a wrong secret": { secret: (secret: string) => `${secret}-not` },
  "a changed path": { path: (path: string) => path.replace(/usage$/, "agents") },
  "a timestamp an hour old": { seconds: (now: number) => String(now - 3600) },
  "a timestamp an hour ahead": { seconds: (now: number) => String(now + 3600) },
  "upper-case hexadecimal": { signature: (signature: string) => signature.toUpperCase() },
  "a timestamp that is no number": { seconds: () => "now" },
} as const satisfies Readonly<Record<string, SigningOverrides>>;

export interface SignedBadly {
  readonly control: Exchange;
  /** Badly signed requests, by their mistake, e.g. `a changed path` or `a timestamp an hour old`. */
  readonly asked: Readonly<Record<string, Exchange>>;
  /** An unsigned request with a key that requires signatures; `null` if no key requires them. */
  readonly unsigned: Exchange | null;
}

const signedBadly = probe(
  "badly signed requests are sent",
  { needs: ["signing"], requests: 7 },
  async (context): Promise<SignedBadly> => {
    const agent = context.target.agents.answering;
    const signed = createSigner(context);
    const asked: Record<string, Exchange> = {};
    for (const [mistake, signing] of Object.entries(mistakes)) asked[mistake] = await signed("GET", "/usage", signing);
    if (agent !== undefined)
      asked["a changed body"] = await signed("POST", agentPath(agent, "invoke"), {
        body: nonAsciiBody,
        signedBody: `${nonAsciiBody} `,
      });
    const signedKey = keyToSignFor(context.target);
    const unsigned = signedKey === null ? null : await context.client.as(signedKey).send("GET", "/usage");
    return { control: context.discovery.usage, asked, unsigned };
  },
);

interface SigningOverrides {
  readonly body?: string;
  readonly signedBody?: string;
  readonly path?: (path: string) => string;
  readonly secret?: (secret: string) => string;
  readonly seconds?: (nowSeconds: number) => string;
  readonly signature?: (signature: string) => string;
}

type SendSigned = (method: string, path: string, signing?: SigningOverrides) => Promise<Exchange>;

export const sendSigned = (
  context: ProbeContext<"signing">,
  key: TargetKey,
  method: string,
  path: string,
  body?: string,
): Promise<Exchange> => createSigner(context, key)(method, path, body === undefined ? {} : { body });

export function createSigner(
  context: ProbeContext<"signing">,
  key: TargetKey = keyToSignFor(context.target) ?? context.client.key,
): SendSigned {
  const { given, target } = context;
  const client = context.client.as(key);
  const basePath = new URL(target.baseUrl).pathname;
  return (method, path, signing = {}) => {
    const wire = `${basePath}${path}`;
    const asSent = (text: string | undefined): string | undefined =>
      text === undefined ? undefined : client.bodyToSend(path, text);
    const body = asSent(signing.body);
    const headers = (): Header[] => {
      const seconds = Math.floor(targetUnixSeconds(context));
      const timestamp = signing.seconds?.(seconds) ?? String(seconds);
      const request: SignableRequest = {
        method,
        path: signing.path?.(wire) ?? wire,
        timestamp,
        body: asSent(signing.signedBody) ?? body ?? "",
      };
      const signature = requestSignature(request, signing.secret?.(given.signing) ?? given.signing);
      return [
        [headerNames.timestamp, timestamp],
        [headerNames.signature, signing.signature?.(signature) ?? signature],
      ];
    };
    return client.send(method, path, { ...(body === undefined ? {} : { text: body }), headers });
  };
}

type Timing = Pick<ProbeContext, "discovery" | "recorder" | "time" | "outages">;

/** Returns the target's time in Unix seconds, derived from a response or, if that shows no time, the local clock. */
export function targetUnixSeconds({ discovery: { usage }, recorder, time, outages }: Timing): number {
  // After an outage, uses the latest response with a time: a restarted server may have reset its test clock.
  const latest = outages.count() === 0 ? usage : (recorder.everyExchange().findLast(hasTime) ?? usage);
  const date = timeOf(latest);
  if (date === null || latest.answer.kind !== "answered") return (Date.now() + time.clockOffsetMs()) / 1000;
  return date + (time.targetMs() - latest.answer.headMs - latest.clockMs) / 1000;
}

const timeOf = (exchange: Exchange): number | null => dateSeconds(exchange) ?? nowByReset(exchange);
/** Whether a response shows the target's time. Errors do not count, because a gateway may send them. */
const hasTime = (exchange: Exchange): boolean => isSuccess(exchange) && timeOf(exchange) !== null;

/**
 * Whether a signed request may be refused because its key has no access, and not for its signature. An unsigned
 * request that succeeds with the same key rules this out.
 */
export const mayBeForbidden = (signed: Exchange, plain: Exchange): boolean =>
  hasStatus(signed, 403, 404) && signed.key !== plain.key;

export const keyForbidden = unproven(
  "the key that must sign may have no access to what was requested",
  'a key with `"signed": true` and full access in the target file',
);

function judgeQuery({ control, withQuery, withoutQuery }: SignedValidly): Finding<"path-only" | "path-and-query"> {
  if (!isSuccess(control))
    return unproven(`the same request without a signature did not succeed (${outcomeOf(control)})`);
  const [full, bare] = [isSuccess(withQuery), isSuccess(withoutQuery)];
  if (full && bare) return holds();
  if (full) return follows("path-and-query");
  if (bare) return follows("path-only");
  if (isInconclusive(withQuery) || isInconclusive(withoutQuery))
    return unproven(
      `the signed requests got no conclusive response (${outcomeOf(withQuery)}, ${outcomeOf(withoutQuery)})`,
    );
  if (mayBeForbidden(withQuery, control) || mayBeForbidden(withoutQuery, control)) return keyForbidden;
  return breach(
    "a signed request is accepted, its path signed with or without the query string",
    `${describeVerdict(withQuery)} with it, ${describeVerdict(withoutQuery)} without`,
    withQuery,
    withoutQuery,
    control,
  );
}

const judgePost =
  (body: string) =>
  ({ posted, postedPlainly }: SignedInvoke): Finding<never> => {
    if (posted === null) return unproven("no agent is known", "`agents.answering` in the target file");
    if (isSuccess(posted)) return holds();
    if (postedPlainly === null || !isSuccess(postedPlainly) || isInconclusive(posted))
      return unproven(
        `the same request without a signature did not succeed either (${outcomeOf(postedPlainly ?? posted)})`,
      );
    if (mayBeForbidden(posted, postedPlainly)) return keyForbidden;
    return breach(`a signed request with ${body} is accepted`, describeStatus(posted), posted, postedPlainly);
  };

export const signingChecks = [
  check("AUTH-10", signedValidly, judgeQuery, { as: "query" }),
  check("AUTH-10", signedValidly, judgePost("a body that is not ASCII"), { as: "body" }),
  check("AUTH-10", signedUnusually, judgePost("white space and escapes in its JSON"), {
    as: "white space and escapes",
    since: "1.1",
  }),
  check("AUTH-10", signedLines, judgePost("empty lines in its body, some ended by CR LF,"), {
    as: "line feeds",
    since: "1.2",
  }),
  observe("AUTH-11", signedBadly, ({ control, asked, unsigned }) => {
    if (!isSuccess(control))
      return unproven(`the same request without a signature did not succeed (${outcomeOf(control)})`);
    const rows = Object.entries(asked).filter(([, exchange]) => !isInconclusive(exchange));
    if (rows.length === 0) return unproven("no badly signed request got a conclusive response");
    const without =
      unsigned === null
        ? "no key requires a signature"
        : `no signature, although the key requires one: ${describeVerdict(unsigned)}`;
    return observed(
      `${without}; ${rows.map(([mistake, exchange]) => `${mistake}: ${describeVerdict(exchange)}`).join("; ")}`,
    );
  }),
];

interface SignableRequest {
  readonly method: string;
  /** The percent-encoded path, with or without the query string (AUTH-10 allows both). */
  readonly path: string;
  readonly timestamp: string;
  readonly body: string;
}

/** Returns the value of `X-Signature`, a hexadecimal HMAC-SHA256 of method, path, timestamp and body. */
export const requestSignature = ({ method, path, timestamp, body }: SignableRequest, secret: string): string =>
  createHmac("sha256", secret).update(`${method}\n${path}\n${timestamp}\n${body}`, "utf8").digest("hex");
