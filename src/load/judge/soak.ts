import { hasCountsOnly, type LoadFacts } from "./facts.ts";
import { holds, breach, type JudgeResult, unproven } from "./finding.ts";
import { median } from "../../base/statistics/samples.ts";
import { trendOf } from "../../base/statistics/series.ts";
import { isAdmitted } from "../../rules/limits/sample.ts";

/** Memory and latency are judged only after this share of the run. Until then, the server is warming up. */
const warmUpShare = 1 / 3;
const minPoints = 8;
const maxChance = 0.01;

/** Memory growth up to this size is no breach: uncollected garbage can cause it. */
const minGrowthBytes = 48 * 1024 * 1024;
/** Memory growth up to this share of the median memory is no breach, whatever its size. */
const minGrowthShare = 0.33;

/** Judges whether the memory of the embedded server grows during the load. */
export function judgeMemory({ evidence: { server } }: LoadFacts): JudgeResult {
  if (server === null) return unproven("the memory of a target that is not embedded is not known");
  const points = server.rssBytes.slice(Math.floor(server.rssBytes.length * warmUpShare));
  if (points.length < minPoints) return unproven(`only ${points.length} readings of the memory after the warm-up`);
  const { slope, pValue } = trendOf(points);
  const grownBytes = slope * (points.length - 1);
  const text = `${megabytes(points[0] ?? 0)} to ${megabytes(points.at(-1) ?? 0)} after the warm-up, trend ${grownBytes < 0 ? "" : "+"}${megabytes(grownBytes)}`;
  const isDrift = grownBytes > minGrowthBytes && grownBytes > minGrowthShare * median(points) && pValue < maxChance;
  return isDrift ? breach("memory does not grow under an even load", text) : holds(text);
}

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

const sliceCount = 24;
/** A latency increase up to this many ms is no breach: other processes on the machine can cause it. */
const minIncreaseMs = 20;
const minRatio = 2;

/** Judges whether the latency grows under a constant load. Compares the medians of equal slices of the run. */
export function judgeLatencyDrift({ sent, evidence }: LoadFacts): JudgeResult {
  const answers = sent.filter(isAdmitted);
  const [first, last] = [answers[0]?.sentMs ?? 0, answers.at(-1)?.sentMs ?? 0];
  if (answers.length < sliceCount * 20)
    return unproven(
      hasCountsOnly({ evidence }) ? "the summary of a long run holds no times" : "too few answers to tell a drift",
    );
  const slices: number[][] = Array.from({ length: sliceCount }, () => []);
  for (const { sentMs, headMs } of answers) {
    slices[Math.min(sliceCount - 1, Math.floor(((sentMs - first) / (last - first)) * sliceCount))]?.push(
      headMs - sentMs,
    );
  }
  const medians = slices
    .flatMap((values) => (values.length === 0 ? [] : [median(values)]))
    .slice(Math.floor(sliceCount * warmUpShare));
  const { slope, pValue } = trendOf(medians);
  const grownMs = slope * (medians.length - 1);
  const beganMs = median(medians) - grownMs / 2;
  const text = `median ${beganMs.toFixed(1)} ms after the warm-up, trend ${grownMs < 0 ? "" : "+"}${grownMs.toFixed(1)} ms`;
  const isDrift =
    grownMs > minIncreaseMs && beganMs + grownMs > minRatio * Math.max(0.1, beganMs) && pValue < maxChance;
  return isDrift ? breach("latency does not grow under an even load", text) : holds(text);
}
