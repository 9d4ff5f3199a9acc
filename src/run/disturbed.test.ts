import { createServer, request } from "node:http";

import { describe, expect, it, onTestFinished, vi } from "vitest";

import { listenOnLoopback } from "../base/network/network.ts";
import { startEmbedded } from "../reference/embedded/embedded-server.ts";
import { patchesByName } from "../reference/catalogue.ts";
import { type Behaviour, fault, faults, type Patch } from "../reference/patch.ts";
import { suites as allSuites } from "../suites/all.ts";
import { runSuites, type RunOptions } from "./run.ts";
import { mainKey } from "./plan/needs.ts";

const chosen = ["Authentication", "Invoke", "Rate-limit headers", "Limits"];
const limitSuites = allSuites.filter(({ title }) => /Health|headers|Limits/.test(title));
const suites = allSuites.filter(({ title }) => chosen.includes(title));

type Identify = Behaviour["identify"];

/**
 * Makes the server refuse a valid team key after its first `after` requests, for the operations that `refuses` selects.
 */
const refusing = (after: number, refuses: (operation: Parameters<Identify>[3]) => boolean): readonly Patch[] =>
  faults("Authentication", {
    "key-refused-later": fault("AUTH-1", "The team key is refused after some requests.").by((base) => {
      let used = 0;
      return {
        identify: (credentials, ring, nowMs, operation) => {
          const known = base.identify(credentials, ring, nowMs, operation);
          if (known.kind !== "known" || known.key.tier !== "team") return known;
          used += 1;
          return used > after && refuses(operation) ? { kind: "unauthenticated", cause: "wrong-key" } : known;
        },
      };
    }),
  });

async function start(patches: readonly Patch[] = []) {
  const { target, close } = await startEmbedded(patches);
  onTestFinished(close);
  expect(mainKey(target)?.tier).toBe("team");
  return target;
}

async function judge(options: Pick<RunOptions, "target"> & Partial<RunOptions>) {
  const signal = new AbortController().signal;
  const result = await runSuites({ suites, maxRequests: null, maxWaitMs: 0, signal, ...options });
  if (result.kind !== "judged") throw new Error(JSON.stringify(result.sentence));
  const ofKind = (kind: string) => result.judgements.filter(({ finding }) => finding.kind === kind);
  return {
    stopped: result.stopped,
    broken: [...new Set(ofKind("breach").map(({ check: { clause } }) => clause))],
    held: new Set(ofKind("holds").map(({ check: { clause } }) => clause)),
    reasons: ofKind("unproven").flatMap(({ finding }) =>
      finding.kind === "unproven" && typeof finding.reason === "string" ? [finding.reason] : [],
    ),
  };
}

describe("a run whose key is revoked", () => {
  it.each([20, 500])(
    "after %i requests calls nothing broken, and says since when the key is refused",
    async (after) => {
      const { broken, stopped, reasons } = await judge({ target: await start(refusing(after, () => true)) });
      const reason = /^the target refused the key `team` from \S+ s of the run on, though it had accepted it$/;
      expect([broken, stopped]).toEqual([[], expect.stringMatching(reason)]);
      expect(reasons.filter((each) => reason.test(each)).length).toBeGreaterThan(0);
    },
  );

  it("keeps what other keys and earlier requests have proved", async () => {
    const patches = [...refusing(500, () => true), ...patchesByName(["missing-query-other-code"], [])];
    const { broken, held } = await judge({ target: await start(patches) });
    expect(broken).toEqual(["INV-10"]);
    expect([...held]).toContain("LIM-1");
  });

  it("blames a target that refuses only some requests of a valid key", async () => {
    const target = await start(refusing(60, (operation) => operation === "invoke"));
    const { broken, stopped } = await judge({ target });
    expect([broken, stopped]).toEqual([["AUTH-1"], null]);
  });
});

/** Starts a gateway that refuses unsigned requests with this key. Returns its base URL. */
async function startSigningGateway(baseUrl: string, key: string): Promise<string> {
  const gateway = createServer((incoming, response) => {
    if (incoming.headers.authorization === `Bearer ${key}` && incoming.headers["x-signature"] === undefined)
      return void response.writeHead(401).end();
    const { method, headers, url = "" } = incoming;
    const outgoing = request(new URL(url, baseUrl), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    outgoing.on("error", () => response.destroy());
    response.on("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  const port = await listenOnLoopback(gateway);
  onTestFinished(() => gateway.close().closeAllConnections());
  return `http://127.0.0.1:${port}/v1`;
}

describe("a run with a key that must sign", () => {
  it("does not take the key for revoked when its unsigned requests are refused", async () => {
    const target = await start();
    const { pro } = target.keys;
    if (pro === undefined) throw new Error("the target has no key `pro`");
    const baseUrl = await startSigningGateway(target.baseUrl, pro.key);
    const keys = { ...target.keys, pro: { ...pro, signed: true } };
    const chosenSuites = allSuites.filter(({ title }) => title === "Authentication");
    const { broken, stopped } = await judge({ target: { ...target, baseUrl, keys }, suites: chosenSuites });
    expect([broken, stopped]).toEqual([[], null]);
  });
});

describe("two runs with the same keys at the same time", () => {
  it("call nothing broken, and leave limits unproven", async () => {
    const target = await start();
    const runs = await Promise.all([judge({ target, announces: true }), judge({ target, announces: true })]);
    for (const { broken, stopped, reasons, held } of runs) {
      expect([broken, stopped]).toEqual([[], null]);
      expect(reasons).toContainEqual(expect.stringMatching(/^another run used the same keys on this target from /));
      expect([...held]).not.toContain("LIM-1");
      expect([...held]).toContain("INV-10");
    }
  });
});

describe("a run on a machine whose clock jumps", () => {
  it("leaves limits unproven, with the reason", async () => {
    const target = await start();
    const realNow = Date.now;
    onTestFinished(() => void vi.restoreAllMocks());
    let done = 0;
    const onProbe = (): void => {
      done += 1;
      if (done === 3) vi.spyOn(Date, "now").mockImplementation(() => realNow() + 3_600_000);
    };
    const { broken, reasons, held } = await judge({ target, onProbe });
    expect(broken).toEqual([]);
    expect(reasons).toContainEqual(expect.stringMatching(/^this machine slept, or a clock of it jumped, by 60 min/));
    expect([...held]).not.toContain("LIM-1");
  });
});

describe("a run that looks out for other clients", () => {
  it.each([
    ["health-counts", "HLT-16"],
    ["remaining-skips", "HDR-12"],
    ["keys-share", "LIM-9"],
  ])("still blames a target with the fault %s", async (name, clause) => {
    const watched = { suites: limitSuites, announces: true, target: await start(patchesByName([name], [])) };
    const { broken } = await judge(watched);
    expect(broken).toEqual(expect.arrayContaining([clause]));
  });
});
