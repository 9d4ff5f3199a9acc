import type { ClauseId } from "../../spec/clauses.ts";
import { type ClientChange, legalClient, wrongReaction, wrongRequest } from "./client-change.ts";

const start = "const steps: readonly";
const ownHeaders = '...headersOf("GET", "/v1/usage", "", "application/json")';
const plainHeaders = 'Authorization: `Bearer ${key}`, Accept: "application/json"';
const jsonHeaders = `${plainHeaders}, "Content-Type": "application/json"`;

const extraRequest = (name: string, breaks: ClauseId, path: string, options: string): ClientChange =>
  wrongRequest(name, breaks, start, `await fetch(\`\${baseUrl}${path}\`, { ${options} });\n${start}`);

const invoke = "/agents/${agent}/invoke";
const posted = (body: string, headers = jsonHeaders): string =>
  `method: "POST", body: ${body}, headers: { ${headers} }`;

const requestMistakes: readonly ClientChange[] = [
  extraRequest("the version segment twice", "CLI-1", "/v1/usage", `headers: { ${plainHeaders} }`),
  extraRequest("a request without a key", "CLI-2", "/usage", 'headers: { Accept: "application/json" }'),
  extraRequest(
    "an empty key",
    "CLI-2",
    "/usage",
    'headers: { Authorization: "Bearer undefined", Accept: "application/json" }',
  ),
  extraRequest("the type that fetch chooses", "CLI-3", invoke, posted("JSON.stringify({ query: 'x' })", plainHeaders)),
  wrongRequest("any response accepted", "CLI-4", "Accept: accept,", ""),
  extraRequest("an object printed as text", "CLI-5", invoke, posted("String({ query: 'x' })")),
  extraRequest("no query", "CLI-6", invoke, posted("JSON.stringify({ query: undefined })")),
  extraRequest("a query that is an object", "CLI-6", invoke, posted("JSON.stringify({ query: { text: 'x' } })")),
  extraRequest(
    "a temperature below 0",
    "CLI-7",
    invoke,
    posted("JSON.stringify({ query: 'x', parameters: { temperature: -0.1 } })"),
  ),
  extraRequest("parameters as a list", "CLI-7", invoke, posted("JSON.stringify({ query: 'x', parameters: [1] })")),
  extraRequest("a page that is no number", "CLI-8", "/agents?page=NaN&limit=50", `headers: { ${plainHeaders} }`),
  wrongRequest("no limit of a page", "CLI-9", "&limit=50", ""),
  extraRequest(
    "a signature in base64",
    "CLI-10",
    "/usage",
    `headers: { ${ownHeaders}, "X-Signature": "c2lnbmF0dXJl" }`,
  ),
  extraRequest(
    "a timestamp without a signature",
    "CLI-10",
    "/usage",
    `headers: { ${plainHeaders}, "X-Timestamp": String(Math.floor(Date.now() / 1000)) }`,
  ),
  extraRequest(
    "a timestamp in milliseconds",
    "CLI-11",
    "/usage",
    `headers: { ${plainHeaders}, "X-Timestamp": "1893553445000", "X-Signature": createHmac("sha256", secret).update("GET\\n/v1/usage\\n1893553445000\\n").digest("hex") }`,
  ),
  extraRequest(
    "a webhook without a URL",
    "CLI-23",
    "/webhooks",
    posted("JSON.stringify({ url: 'hooks', events: [] })"),
  ),
];

const wait429 = "await sleep((await retryAfterOf(response)) * 1000)";
const wait5xx = "await sleep(firstWaitMs * 2 ** attempt)";
const retry5xx = "else if (response.status >= 500)";
const broken = "throw new AgentError(`the connection broke: ${String(error)}`);";
const streamFailed = "throw new AgentError(`the stream failed: ${failure?.error}`);";
const loop = "for await (const [name, data] of eventsOf(response.body)) {";

const reactionMistakes: readonly ClientChange[] = [
  wrongReaction("a wait of its own after a 429", "CLI-12", [wait429, "await sleep(200)"]),
  wrongReaction("seconds taken for milliseconds", "CLI-12", [wait429, "await sleep(await retryAfterOf(response))"]),
  wrongReaction("no retry of a 5xx", "CLI-13", [retry5xx, "else if (response.status === 599)"]),
  wrongReaction("equal waits", "CLI-14", [wait5xx, "await sleep(300)"]),
  wrongReaction("retries at once", "CLI-14", [wait5xx, "await sleep(0)"]),
  wrongReaction(
    "retries without end",
    "CLI-15",
    ["const maxAttempts = 5", "const maxAttempts = 1000"],
    [wait5xx, "await sleep(Math.min(firstWaitMs * 1.5 ** attempt, 350))"],
  ),
  wrongReaction(
    "a repeat after a lost connection",
    "CLI-16",
    [broken, "return new Response(null, { status: 599 });"],
    [retry5xx, "else if (response.status === 599) continue;\n    else if (response.status >= 500)"],
  ),
  wrongReaction("a repeat after any end of a stream", "CLI-16", [streamFailed, "continue;"]),
  wrongReaction("no wait after an overload", "CLI-17", ["await sleep(failure.retry_after * 1000)", "await sleep(10)"]),
  wrongReaction(
    "streams that stay open",
    "CLI-18",
    [
      loop,
      "const kept = eventsOf(response.body);\n    open.push(kept);\n    for (;;) {\n      const next = await kept.next();\n      if (next.done) break;\n      const [name, data] = next.value;",
    ],
    [start, `const open: unknown[] = [];\n${start}`],
  ),
  wrongReaction("the first page only", "CLI-19", ["page <= pages; page", "page <= 1; page"]),
  wrongReaction("a short page taken for the last", "CLI-19", [
    "pages = answer.pagination.pages",
    "pages = answer.data.length === 50 ? page + 1 : page",
  ]),
];

export const typescriptMistakes: readonly ClientChange[] = [...requestMistakes, ...reactionMistakes];

export const legalTypescriptClients: readonly ClientChange[] = [
  legalClient(
    "header names in upper case",
    ["Authorization:", "AUTHORIZATION:"],
    ['"Content-Type":', '"CONTENT-TYPE":'],
  ),
  legalClient("several types accepted", [
    "Accept: accept,",
    "Accept: `${accept};q=1, application/json, text/plain, */*`,",
  ]),
  legalClient("giving up after a 429", [wait429, "break"]),
  legalClient("retries with random waits", [wait5xx, "await sleep(20 + Math.random() * firstWaitMs * 2 ** attempt)"]),
  legalClient("requests at once", [
    "for (const step of steps) {\n  try {\n    await step();\n  } catch",
    "await Promise.all(steps.map(run));\nasync function run(step: () => Promise<unknown>) {\n  try {\n    await step();\n  } catch",
  ]),
  legalClient("no signatures", ['...(secret !== "" && {', '...(secret === "none" && {']),
  legalClient("a base address with a slash", ['replace(/\\/$/, "")', 'replace(/\\/?$/, "")']),
];
