import type { IncomingMessage, ServerResponse } from "node:http";

import { describe, expect, it } from "vitest";

import { sampleOf } from "../../base/testing/test-scope.ts";
import { serializeEvidence, serializeReport } from "../../report/model/report-file.ts";
import { tracesIn, keyWritings } from "../../evidence/testing/traces.ts";
import { renderTerminal } from "../../report/terminal/render-terminal.ts";
import { startAnsweringServer } from "../../wire/testing/hostile.ts";
import { aKey, aTarget } from "../../run/testing/values.ts";
import { suites } from "../../suites/all.ts";
import { runAndReport, type RedactedRun } from "./run-and-report.ts";
import { type Judged, judgedRun } from "../../cli/testing/judged-session.ts";
import { cliMessages } from "../../cli/messages.ts";

const secret = 'pk_Zw7+Qm/4"t=Lx9&Rv2\\Bn8';
type Echo = (request: IncomingMessage, response: ServerResponse) => void;

const asJson =
  (body: (key: string) => string, status = 200): Echo =>
  (_, response) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(body(secret));

const asStream =
  (pieces: (key: string) => readonly string[]): Echo =>
  (_, response) => {
    const chunks = pieces(secret).map((content) => `event: chunk\r\ndata: ${JSON.stringify({ content })}\r\n\r\n`);
    response.writeHead(200, { "content-type": "text/event-stream" }).end(chunks.join(""));
  };

const echoes: Readonly<Record<string, Echo>> = {
  "in a result": asJson((key) => JSON.stringify({ result: { key } })),
  "as a field's name": asJson((key) => JSON.stringify({ result: {}, [key]: 1, usage: key })),
  "in an error": asJson(
    (key) => JSON.stringify({ error: { code: `BAD_${key}`, message: `Bearer ${key}`, status: 400 } }),
    400,
  ),
  "in every writing": asJson((key) =>
    JSON.stringify({
      result: Object.fromEntries(Object.entries(keyWritings).map(([how, write]) => [how, write(key)])),
    }),
  ),
  "in every writing, in JSON that is none": asJson((key) =>
    Object.values(keyWritings)
      .map((write) => write(key))
      .join(" "),
  ),
  "at the cuts of a long body": asJson((key) => key.repeat(20_000)),
  "beside bytes that are no text": (_, response) =>
    void response
      .writeHead(200, { "content-type": "application/json" })
      .end(Buffer.concat([Buffer.from([0xff]), Buffer.from(secret)])),
  "in headers": (_, response) =>
    void response
      .writeHead(302, {
        location: `https://elsewhere.example/?k=${secret}`,
        "x-again": secret,
        "x-ratelimit-limit": secret,
        [`x-${Buffer.from(secret).toString("hex")}`]: "a name",
      })
      .end(),
  "in two events": asStream((key) => [key.slice(0, 11), key.slice(11)]),
  "letter by letter": asStream((key) => Array.from(key)),
  "as the key that was sent, whatever it was": (request, response) => {
    const sent = String(request.headers.authorization);
    response.writeHead(401, { "content-type": "application/json", "x-sent": sent });
    response.end(JSON.stringify({ error: { code: "INVALID_API_KEY", message: sent, status: 401 } }));
  },
  "in an event's name": (_, response) =>
    void response.writeHead(200, { "content-type": "text/event-stream" }).end(`event: ${secret}\ndata: {}\n\n`),
};

async function conductWith(echo: Echo): Promise<Judged> {
  const server = await startAnsweringServer((request, response) => {
    if (!/\/(invoke|stream)$/.test(request.url ?? "")) {
      const body =
        request.url?.endsWith("/health") === true
          ? { status: "healthy", checks: {}, note: secret }
          : { data: [{ id: "echo", secret }], pagination: {} };
      response.writeHead(200, { "content-type": "application/json", "x-echo": secret }).end(JSON.stringify(body));
      return;
    }
    echo(request, response);
  });
  try {
    return await judgedRun({
      target: aTarget(server.baseUrl, { keys: { main: aKey({ name: "main", key: secret, tier: "pro" }) } }),
      suites,
      maxRequests: 1000,
      deadlines: { headMs: 20_000, silenceMs: 20_000, exchangeMs: 20_000 },
    });
  } finally {
    server.close();
  }
}

describe.concurrent("a key that the target echoes", () => {
  it.each(sampleOf(Object.entries(echoes), { of: 3 }))("%s: nothing of it leaves the process", async (_, echo) => {
    const session = await conductWith(echo);
    const shown = renderTerminal(session.report, session.evidence, {
      colour: false,
      width: 100,
      quiet: false,
      folder: "out",
      shellVariableOf: () => undefined,
    });
    const texts = [serializeReport(session.report), serializeEvidence(session.evidence), shown].join("\n");
    expect(tracesIn(texts, secret)).toEqual([]);
    expect(session.report.totals.error).toBe(0);
  });
});

describe("an error that nobody foresaw", () => {
  const session = async (options: Partial<Parameters<typeof runAndReport>[0]>): Promise<RedactedRun> => {
    const server = await startAnsweringServer((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ data: [{ id: "echo" }], pagination: {}, status: "healthy", checks: {} }));
    });
    try {
      return await runAndReport({
        target: aTarget(server.baseUrl, { keys: { main: aKey({ name: "main", key: secret, tier: "pro" }) } }),
        suites: suites.filter(({ title }) => title === "Health check"),
        maxWaitMs: 0,
        messages: cliMessages,
        requirements: "1.1",
        signal: new AbortController().signal,
        ...options,
      });
    } finally {
      server.close();
    }
  };
  const fail = (): never => {
    throw new Error(`no ${secret}`);
  };

  it("in a run still makes a report, with a row that says so for each check that it cost", async () => {
    const { report } = await session({ onPlan: fail });
    expect(report.verdict).toBe("incomplete");
    expect(report.stopped).toMatch(/^the harness itself failed: no \[redacted main\]$/);
    expect(report.totals.error).toBeGreaterThan(5);
  });

  it("in making the report still makes one, without the evidence that it failed at", async () => {
    const messages = { ...cliMessages, reason: fail };
    const { report, evidence } = await session({ messages, readOnly: true });
    expect(report.totals.error).toBe(report.findings.length);
    expect(evidence.exchanges).toEqual([]);
    expect(JSON.stringify(report)).not.toContain(secret);
  });

  it("ends with what was seen where its time is up", async () => {
    const { report } = await session({ maxTimeMs: 1 });
    expect(report.stopped).toMatch(/it was not over after 0\.00 s/);
  });
});
