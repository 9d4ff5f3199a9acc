import { expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { startRecorder } from "../../run/send/recorder.ts";
import { noOutages } from "../../run/send/outages.ts";
import { startRunClock } from "../../run/time/run-clock.ts";
import { sampleOf } from "../../rules/limits/sample.ts";
import { exchange } from "../testing/evidence.ts";
import { targetUnixSeconds } from "./signing.ts";

const dated = (date: string): Exchange => exchange({ headers: [["Date", date]] });
const usage = dated("Wed, 04 Mar 2026 05:30:00 GMT");
const restarted = dated("Wed, 04 Mar 2026 03:30:00 GMT");

it.each([
  ["the start of the run", 0, 5],
  ["a restart that set the target's clock back", 1, 3],
])("requests are signed by the target's clock after %s", (_, outages, hour) => {
  const recorder = startRecorder();
  for (const each of [usage, restarted]) recorder.record(each, sampleOf(each, 0, 0));
  const time = startRunClock({ clock: null, maxWaitMs: 0, signal: new AbortController().signal });
  const discovery = { listing: usage, usage, health: [], invoked: null };
  const seconds = targetUnixSeconds({ discovery, recorder, time, outages: { ...noOutages, count: () => outages } });
  expect(new Date(seconds * 1000).getUTCHours()).toBe(hour);
});
