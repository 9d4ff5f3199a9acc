import { hourMs, minuteMs } from "../../base/duration.ts";
import type { LimitName } from "../../rules/limits/admission/models.ts";
import { isRefused, type Sample } from "../../rules/limits/sample.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, unproven } from "../../run/judge/finding.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { probe } from "../../run/probe.ts";
import { need } from "../../run/skip-reason.ts";
import { usableKeys } from "../../target/target.ts";
import { judgeKeyHistory, maxAdmittedWithin, type RunKeyHistory } from "../limits/key-history.ts";

/** The requests of a key in a recording, with the limits of its known tier. */
interface RecordedKey {
  readonly key: string;
  /** The key's requests without those that got 429, which requests outside the recording may explain. */
  readonly history: RunKeyHistory;
  readonly wasRefused: boolean;
}

const recordedKeys = probe(
  "the admitted requests of each key of the recording are looked over",
  { since: "1.1", requests: 0, stage: "review" },
  async ({ target, recorder }): Promise<{ readonly keys: readonly RecordedKey[] }> => ({
    keys: usableKeys(target).flatMap((key) => {
      const limits = limitsOf(key, target);
      const samples = recorder.sampleSeriesOf(key.name).flat();
      if (limits === null || samples.length === 0) return [];
      const history = {
        limits,
        isFresh: false,
        hasClock: target.clock !== null,
        samples: samples.filter((each) => !isRefused(each)).map(withLatestEnd),
        stragglers: [],
        lookalikes: [],
      };
      return [{ key: key.name, history, wasRefused: samples.some(isRefused) }];
    }),
  }),
);

/** Maximum delay of a recorded time: `Date` shows the start of a response in whole seconds. */
const maxLateMs = 1000;

const withLatestEnd = (sample: Sample): Sample => ({
  ...sample,
  headMs: sample.headMs + maxLateMs,
  endMs: sample.endMs + maxLateMs,
});

const windows = {
  minute: { ms: minuteMs, most: ({ perMinute }: RunKeyHistory["limits"]) => perMinute },
  hour: { ms: hourMs, most: ({ perHour }: RunKeyHistory["limits"]) => perHour },
} as const satisfies Partial<Record<LimitName, unknown>>;

/** Judges that the target admitted no more requests of a key within one window than the key's tier publishes. */
function judgeWindow(keys: readonly RecordedKey[], name: keyof typeof windows): Finding<never> {
  if (keys.length === 0) return unproven("the tier of no key is known", need("tier"));
  for (const { key, history } of keys) {
    const judged = judgeKeyHistory(history);
    if (judged.kind === "breach" && judged.breach === "too many admitted" && judged.limit === name)
      return breach(judged.expected, `${judged.actual} (key ${key}: ${judged.witness.slice(0, 3).join(", ")}, …)`);
  }
  const { ms, most } = windows[name];
  const isNear = ({ history, wasRefused }: RecordedKey): boolean =>
    wasRefused && maxAdmittedWithin(history.samples, ms) >= most(history.limits) / 2;
  return keys.some(isNear) ? holds() : unproven(`no key was refused near the limit of its ${name}`);
}

/** Checks, with the titles of their suites, that hold even if the key also sent requests outside the recording. */
export const recordedLimitChecks: readonly { readonly suite: string; readonly check: Check }[] = [
  check("LIM-1", recordedKeys, ({ keys }) => judgeWindow(keys, "minute"), { as: "recorded", since: "1.1" }),
  check("LIM-3", recordedKeys, ({ keys }) => judgeWindow(keys, "hour"), { as: "recorded", since: "1.1" }),
].map((each) => ({ suite: "Limits", check: each }));
