import { expect, it, onTestFinished } from "vitest";

import { cliMessages } from "../../cli/messages.ts";
import { startFastForwardServer } from "../../reference/testing/test-server.ts";
import { defaultBounds } from "../../run/plan/bounds.ts";
import { selectChecks } from "../../run/plan/selection.ts";
import { runSuites } from "../../run/run.ts";
import { aKey, aTarget } from "../../run/testing/values.ts";
import { newestRequirements } from "../../spec/clause.ts";
import { suites } from "../../suites/all.ts";
import { planRun } from "./run-plan.ts";

it("counts the requests of each key, also those that detect its tier, as a run sends them", async () => {
  const { reference, timers, close } = await startFastForwardServer();
  onTestFinished(close);
  const keyNamed = (name: string) => reference.keys.find((each) => each.name === name)?.key ?? "";
  const keys = {
    pro: aKey({ name: "pro", key: keyNamed("pro"), tier: "pro" }),
    free: aKey({ name: "free", key: keyNamed("free") }),
    team: aKey({ name: "team", key: keyNamed("team"), scope: "read-only" }),
    second: aKey({ name: "second", key: keyNamed("second") }),
  };
  const options = {
    ...defaultBounds,
    target: aTarget(reference.baseUrl, { keys, agents: { answering: "echo", streaming: "echo" } }),
    suites: selectChecks(suites, { only: ["USE-1"], skip: [] }),
    requirements: newestRequirements,
    messages: cliMessages,
  };
  const plan = await planRun(options);
  const result = await runSuites({ ...options, timers, signal: new AbortController().signal });
  const counted = result.exchanges.filter(({ request: { url } }) => !url.endsWith("/health"));
  const sentByKey = Map.groupBy(counted, ({ key }) => key);
  expect(plan?.keys.map(({ key, requests }) => [key, requests])).toEqual(
    [...sentByKey].map(([key, exchanges]) => [key, exchanges.length]),
  );
  expect(plan?.totals.requests).toBe(counted.length);
});
