import type { HarnessLimit } from "../../base/harness-limit.ts";
import type { Target, TargetKey } from "../../target/target.ts";
import { openTransport } from "../../wire/transport.ts";
import { defaultBounds } from "../plan/bounds.ts";
import { limitsOf } from "../plan/key-limits.ts";
import { type RunClock, startRunClock } from "../time/run-clock.ts";
import { type Client, openClient } from "./client.ts";
import { noOutages } from "./outages.ts";
import { type Pacer, startPacer } from "./pacer.ts";
import { type Recorder, startRecorder } from "./recorder.ts";

interface ShortSessionOptions {
  readonly target: Target;
  readonly key: TargetKey;
  readonly maxRequests: number;
  readonly maxWaitMs: number;
  readonly readOnly?: boolean;
  readonly signal: AbortSignal;
  readonly onWait?: (ms: number, why: string) => void;
  readonly onHarnessLimit?: (limit: HarnessLimit) => void;
}

interface ShortSession {
  readonly client: Client;
  readonly pacer: Pacer;
  readonly recorder: Recorder;
  readonly time: RunClock;
}

/** Opens a client for a few requests outside a run, calls `use` with it, and closes it. */
export async function inShortSession<T>(
  { target, key, maxRequests, maxWaitMs, readOnly = false, signal, onWait, onHarnessLimit }: ShortSessionOptions,
  use: (session: ShortSession) => Promise<T>,
): Promise<T> {
  const time = startRunClock({ clock: null, maxWaitMs, signal, onWait });
  const transport = openTransport({
    now: time.now,
    clockOffsetMs: time.clockOffsetMs,
    network: target.network,
    ...(onHarnessLimit && { onHarnessLimit }),
  });
  const pacer = startPacer(time, (each) => limitsOf(each, target));
  const recorder = startRecorder();
  const parts = {
    baseUrl: target.baseUrl,
    requestTarget: target,
    transport,
    recorder,
    pacer,
    time,
    outages: noOutages,
  };
  const stop = (): void => void transport.close();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const client = openClient({ ...defaultBounds, ...parts, maxRequests, readOnly, signal }, key);
    return await use({ client, pacer, recorder, time });
  } finally {
    signal.removeEventListener("abort", stop);
    await transport.close();
  }
}
