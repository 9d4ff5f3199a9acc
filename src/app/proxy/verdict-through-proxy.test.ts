import { describe, expect, it } from "vitest";

import { hasGo, triesEveryFault } from "../../base/testing/test-scope.ts";
import { plainNetwork } from "../../base/network/network.ts";
import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import { findPatch } from "../../reference/catalogue.ts";
import type { Judgement } from "../../run/judge/judge-evidence.ts";
import { probesOf } from "../../run/judge/check.ts";
import { runSuites } from "../../run/run.ts";
import { startVendor, vendorSwitches } from "../../selftest/third-party/testing/vendor.ts";
import { newestRequirements } from "../../spec/clause.ts";
import { suites } from "../../suites/all.ts";
import { recordedSuites } from "../../suites/recorded/recorded-suites.ts";
import type { Target } from "../../target/target.ts";
import type { SavedRun } from "../report-folder/saved-report.ts";
import { startProxy } from "./run-proxy.ts";

interface Served {
  readonly target: Target;
  readonly close: () => unknown;
}

const embeddedWith = (fault?: string): Promise<Served> =>
  startEmbedded(fault === undefined ? [] : [findPatch("fault", fault) ?? []].flat());

const vendorWith = async (...names: readonly string[]): Promise<Served> =>
  startVendor(vendorSwitches().filter(({ name }) => names.includes(name)));

async function judge(target: Target): Promise<readonly Judgement[]> {
  const result = await runSuites({
    target,
    suites,
    maxRequests: 100_000,
    maxWaitMs: 0,
    signal: new AbortController().signal,
  });
  if (result.kind !== "judged") throw new Error(JSON.stringify(result.sentence));
  return result.judgements;
}

/** The result of each check, without texts: these may hold ids and times. Tiers are judged in any order. */
const resultsOf = (judgements: readonly Judgement[]): string[] =>
  judgements
    .map(({ check, instance, finding }) =>
      [check.id, instance, finding.kind, "reading" in finding ? finding.reading : ""].join(" "),
    )
    .toSorted();

/** Judges a server directly, and a fresh one of the same kind through the proxy. */
async function judgeBoth(serve: () => Promise<Served>) {
  const direct = await serve();
  const judgedDirectly = await judge(direct.target);
  await direct.close();
  const behind = await serve();
  const proxy = await startProxy({
    baseUrl: behind.target.baseUrl,
    network: plainNetwork,
    host: "127.0.0.1",
    port: 0,
    tls: null,
    tiers: new Map(),
    keepsBodies: true,
    requirements: newestRequirements,
    tierName: "--tier",
    onBreach: () => {},
  });
  const through = await judge({ ...behind.target, baseUrl: proxy.baseUrl });
  const proxied = (await proxy.finish()).server;
  await behind.close();
  return { direct: judgedDirectly, through, proxied };
}

/** The ids of broken checks that a recording can show. */
function universalBreaches(judgements: readonly Judgement[], { report }: SavedRun): string[] {
  const shows = report.recording?.shows ?? { times: false, eventTimes: false, keys: false, clock: false };
  const judged = new Set(
    recordedSuites(shows).flatMap(({ checks }) =>
      checks.flatMap(({ id, on }) => (Object.keys(probesOf(on)).length > 0 ? [id] : [])),
    ),
  );
  return judgements.flatMap(({ check: { id }, finding }) => (finding.kind === "breach" && judged.has(id) ? [id] : []));
}

const redIn = ({ report }: SavedRun): string[] =>
  report.findings.flatMap(({ outcome, check }) => (["fail", "warning", "note"].includes(outcome) ? [check] : []));

/** Defects of single messages, which a proxy sees as a run does. */
const messageDefects = [
  "err-reset-at-unix-get",
  "sse-chunk-after-done",
  "inv-result-string-max-tokens",
  "list-page2-more",
];

const timeoutMs = 300_000;

describe("a run through the proxy", () => {
  it.each(triesEveryFault ? [undefined, "missing-query-other-code", "end-missing"] : ["degraded-without-warnings"])(
    "has the findings of a direct run of the reference server with the fault %s",
    async (fault) => {
      const { direct, through, proxied } = await judgeBoth(() => embeddedWith(fault));
      expect(resultsOf(through)).toEqual(resultsOf(direct));
      expect(redIn(proxied)).toEqual(expect.arrayContaining(universalBreaches(direct, proxied)));
      expect(redIn(proxied).length > 0).toBe(fault !== undefined);
    },
    timeoutMs,
  );

  it.skipIf(!hasGo()).each<readonly string[][]>(triesEveryFault ? [[[]], [messageDefects]] : [])(
    "has the findings of a direct run of the vendor in Go with the defects %j",
    async (defects) => {
      const { direct, through, proxied } = await judgeBoth(() => vendorWith(...defects));
      expect(resultsOf(through)).toEqual(resultsOf(direct));
      expect(redIn(proxied)).toEqual(expect.arrayContaining(universalBreaches(direct, proxied)));
      expect(redIn(proxied).length > 0).toBe(defects.length > 0);
    },
    timeoutMs,
  );
});
