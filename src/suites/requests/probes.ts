import type { Exchange } from "../../evidence/exchange.ts";
import { agentPath } from "../../run/send/client.ts";
import type { SendOptions } from "../../run/send/send-guard.ts";
import { probe } from "../../run/probe.ts";
import { hasStatus, isSuccess, describeNonJson, isComplete } from "../shared/response.ts";

const spellings = {
  whiteSpace: { text: '\n\t{ \r\n  "query"\t:\n"Hello."  } \r\n' },
  keyOrder: { text: '{"parameters":{},"query":"Hello."}' },
  charset: { text: plainBody(), contentType: "application/json; charset=utf-8" },
  gzip: { text: plainBody(), headers: [["Accept-Encoding", "gzip"]] },
} as const satisfies Readonly<Record<string, SendOptions>>;

export type Spelling = keyof typeof spellings;

/**
 * Responses to valid but unusual invokes. `together` answers one request with all `spellings`. If `together` fails
 * although `plain` succeeds, `apart` has the response to each spelling alone.
 */
export interface UnusualInvokeResponses {
  readonly together: Exchange;
  readonly plain: Exchange | null;
  readonly apart: Partial<Readonly<Record<Spelling, Exchange>>>;
}

export const isCompleteSuccess = (exchange: Exchange): boolean => isSuccess(exchange) && isComplete(exchange);

export const invokedInOtherSpellings = probe(
  "an agent is invoked with odd white space, keys in another order, a charset, and an offer of gzip",
  { needs: ["agents.answering"], requests: 1 },
  async ({ client, given }): Promise<UnusualInvokeResponses> => {
    const path = agentPath(given["agents.answering"], "invoke");
    const send = (options: SendOptions): Promise<Exchange> => client.send("POST", path, options);
    const together = await send({
      ...spellings.charset,
      ...spellings.gzip,
      text: '\n\t{ \r\n  "parameters" : {\n} ,\t"query"\t:\n"Hello."  } \r\n',
    });
    if (together.answer.kind === "unanswered" || hasStatus(together, 401, 429) || isReadCorrectly(together))
      return { together, plain: null, apart: {} };
    const plain = await send({ text: plainBody() });
    if (!isCompleteSuccess(plain)) return { together, plain, apart: {} };
    const apart: Partial<Record<Spelling, Exchange>> = {};
    for (const name of Object.keys(spellings) as Spelling[]) apart[name] = await send(spellings[name]);
    return { together, plain, apart };
  },
);

const isReadCorrectly = (exchange: Exchange): boolean =>
  isCompleteSuccess(exchange) && describeNonJson(exchange) === null;

function plainBody(): string {
  return '{"query":"Hello."}';
}

/** Size of a body above the default limit of some servers (Express: 100 KiB). Spaces pad it: they cost no tokens. */
export const longBodyBytes = 300 * 1024;

export const invokedWithLongBody = probe(
  "an agent is invoked with a long body",
  { needs: ["agents.answering"], requests: 1 },
  async ({ client, given }) => ({
    answer: await client.send("POST", agentPath(given["agents.answering"], "invoke"), {
      text: plainBody() + " ".repeat(longBodyBytes - plainBody().length),
    }),
  }),
);

export const invokedWithoutJson = probe(
  "an agent is invoked with a body that is not JSON, and with one that is declared as text",
  { needs: ["agents.answering"], requests: 2, executions: 1 },
  async ({ client, given }) => {
    const path = agentPath(given["agents.answering"], "invoke");
    const malformed = await client.send("POST", path, { text: '{"query": "Hello.' });
    const plainText = await client.send("POST", path, { text: plainBody(), contentType: "text/plain" });
    return { malformed, plainText };
  },
);

interface DiscoveryReads {
  readonly listing: Exchange;
  readonly usage: Exchange;
  readonly elsewhere?: readonly Exchange[];
}

export const discoveryReads = probe(
  "the list of agents and the usage are read",
  { requests: 0, reads: true },
  async ({ client, discovery: { listing, usage }, target }): Promise<DiscoveryReads> => {
    const missing = [listing, usage].filter((each) => hasStatus(each, 404, 405));
    const elsewhere: Exchange[] = [];
    // With an explicit `authorization`, the harness does not count these requests against the key's limits. The server
    // need not count them either, because the interface does not define their paths.
    const options = { fromOrigin: true, authorization: `Bearer ${client.key.key}` } as const;
    for (const { request } of missing)
      for (const path of pathsElsewhere(request.url, target.baseUrl))
        elsewhere.push(await client.send("GET", path, options));
    return { listing, usage, elsewhere };
  },
);

function pathsElsewhere(url: string, baseUrl: string): string[] {
  const prefix = new URL(baseUrl).pathname.replace(/\/v1\/?$/, "");
  return ["", "/v2"].map((version) => `${prefix}${version}${url.slice(baseUrl.length)}`);
}

const unknownPath = "/no-such-path-7f3a";

export const unknownPathRequested = probe(
  "a path that the document does not define is read",
  { requests: 1, reads: true },
  async ({ client }) => ({
    answered: await client.send("GET", unknownPath),
  }),
);

export const unknownMethodRequested = probe(
  "a method that the document does not define is sent to a path that it does not define",
  { requests: 1 },
  async ({ client }) => ({ answered: await client.send("DELETE", unknownPath) }),
);
