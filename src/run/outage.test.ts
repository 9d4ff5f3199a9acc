import { createServer, request, type Server } from "node:http";

import { describe, expect, it, onTestFinished } from "vitest";

import { listenOnLoopback } from "../base/network/network.ts";
import { startEmbedded } from "../reference/embedded/embedded-server.ts";
import { patchesByName } from "../reference/catalogue.ts";
import type { Patch } from "../reference/patch.ts";
import { suites as allSuites } from "../suites/all.ts";
import { runSuites } from "./run.ts";
import type { RunResult } from "./run-result.ts";

const chosen = ["Invoke", "Stream", "List agents", "Rate-limit headers"];
const suites = allSuites.filter(({ title }) => chosen.includes(title));

/** Starts a gateway in front of a server. The gateway can refuse connections, or answer in place of the server. */
async function startGate(origin: string) {
  let isGatewayError = false;
  let crash: { readonly body: string; readonly onCrash: () => void } | null = null;
  const server: Server = createServer((incoming, response) => {
    if (isGatewayError) return void response.writeHead(502).end("<html>Bad Gateway</html>");
    const { method, headers, url } = incoming;
    const forwarded = request(origin + url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.rawHeaders);
      answer.on("error", () => response.destroy()).pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    incoming.on("data", (piece: Buffer) => {
      if (piece.toString() === crash?.body) crash.onCrash();
    });
    response.on("close", () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  const port = await listenOnLoopback(server);
  const refuse = (): void => {
    server.close();
    server.closeAllConnections();
  };
  onTestFinished(refuse);
  return {
    origin: `http://127.0.0.1:${port}`,
    refuse,
    accept: (): void => void server.listen(port, "127.0.0.1"),
    /** Calls back when a request with this body arrives, before the server gets all of it. */
    crashAt: (body: string, onCrash: () => void): void => void (crash = { body, onCrash }),
    answerItself: (does: boolean): void => void (isGatewayError = does),
  };
}

type Gate = Awaited<ReturnType<typeof startGate>>;

/** Runs against a server behind a gateway. Acts on the gateway once a number of probes have ended. */
async function runWith(
  does: (gate: Gate) => void,
  after: number,
  { patches = [], deadAfterMs = 1000 }: { readonly patches?: readonly Patch[]; readonly deadAfterMs?: number } = {},
): Promise<RunResult> {
  const { target, close } = await startEmbedded(patches);
  onTestFinished(close);
  const { origin, pathname } = new URL(target.baseUrl);
  const gate = await startGate(origin);
  let done = 0;
  if (after === 0) does(gate);
  return runSuites({
    target: { ...target, baseUrl: gate.origin + pathname },
    suites,
    signal: new AbortController().signal,
    maxRequests: Number.POSITIVE_INFINITY,
    deadAfterMs,
    onProbe: () => {
      done += 1;
      if (done === after) does(gate);
    },
  });
}

const brokenClauses = ({ judgements }: RunResult): string[] => [
  ...new Set(judgements.flatMap(({ check, finding }) => (finding.kind === "breach" ? [check.clause] : []))),
];

/** Makes the gateway refuse connections, or answer in place of the server, for a while. */
const awayFor =
  (ms: number, begin: (gate: Gate) => void, end: (gate: Gate) => void) =>
  (gate: Gate): void => {
    begin(gate);
    setTimeout(() => end(gate), ms);
  };
const refusing = awayFor(
  300,
  ({ refuse }) => refuse(),
  ({ accept }) => accept(),
);
const answering = awayFor(
  300,
  (gate) => gate.answerItself(true),
  (gate) => gate.answerItself(false),
);

describe("a target that goes away during a run", () => {
  it.each([3, 20])("breaks nothing if it does not come back after %i probes", async (after) => {
    const result = await runWith(({ refuse }) => refuse(), after);
    expect(brokenClauses(result)).toEqual([]);
    expect(result).toMatchObject({ kind: "judged", stopped: expect.stringMatching(/^the target was lost after /) });
  });

  it("stays broken where an earlier exchange had proved it", async () => {
    const patches = patchesByName(["missing-query-other-code"], []);
    const result = await runWith(({ refuse }) => refuse(), 25, { patches });
    expect(brokenClauses(result)).toEqual(["INV-10"]);
    expect(result).toMatchObject({ stopped: expect.stringMatching(/^the target was lost after /) });
  });

  it("is not sent a request a third time that crashes it, and the request is named", async () => {
    let crashes = 0;
    const result = await runWith((gate) => {
      gate.crashAt('{"query":""}', () => {
        crashes += 1;
        refusing(gate);
      });
    }, 0);
    expect(crashes).toBe(2);
    expect(brokenClauses(result)).toEqual([]);
    expect(result).toMatchObject({
      kind: "judged",
      stopped: expect.stringMatching(/POST \/v1\/agents\/[\w-]+\/invoke preceded two losses, and may crash it$/),
    });
  });

  it.each([
    ["refuses connections", refusing],
    ["has a gateway answer in its place", answering],
  ])("is asked again for what was lost if it %s for a while", async (_, away) => {
    const result = await runWith(away, 10, { deadAfterMs: 60_000 });
    expect(brokenClauses(result)).toEqual([]);
    expect(result).toMatchObject({
      stopped: null,
      away: expect.stringMatching(/^the target was away from .* to .* of the run/),
    });
    const reconnects = new Set(result.exchanges.flatMap(({ reconnect }) => reconnect ?? []));
    expect([...reconnects]).not.toEqual([]);
    // The request that showed the target's return is in the record of the outage, although its response is a 200.
    const isReturned = result.exchanges.some(
      ({ answer, reconnect }) => answer.kind === "answered" && answer.status === 200 && reconnect !== undefined,
    );
    expect(isReturned).toBe(true);
    const left = result.judgements.filter(
      ({ finding }) => finding.kind === "unproven" && JSON.stringify(finding.reason).includes("the target was"),
    );
    expect(left).toEqual([]);
  });
});
