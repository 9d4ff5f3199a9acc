import { memoizeByValue, once } from "../../../base/memoize.ts";
import { sumOf } from "../../../base/numbers.ts";
import type { TierLimits } from "../../../spec/tiers.ts";
import { depthFor, fitFixed, phasesOf, searchPhases } from "./fixed-windows.ts";
import { fitAnchored, type Openers, buildOpeners } from "./anchored.ts";
import { fitBucket } from "./bucket.ts";
import { hourMs } from "../../../base/duration.ts";
import {
  addMinimalSet,
  addRefusal,
  areDisjoint,
  burstBucket,
  type Fit,
  hourModels,
  intersection,
  type LimiterModel,
  type LimitName,
  minuteModels,
  noRefusals,
  type RefusalSet,
  type Window,
} from "./models.ts";
import { type AdmissionOptions, type Decision, type History, requestsIn, type Span } from "./history.ts";
import { fitRolling, minCapacity } from "./rolling.ts";
import { timelineOf, type AdmissionTimeline } from "./timeline.ts";

/**
 * A limiter model and its fits to the history, for example with different window starts. For each fit, `unexplained`
 * has the set of refusals that the fit cannot explain.
 */
interface ModelFit {
  readonly model: LimiterModel;
  readonly unexplained: readonly RefusalSet[];
}

export interface ModelFits {
  readonly hour: readonly ModelFit[];
  readonly minute: readonly ModelFit[];
  /** One set: the refusals that a burst limit cannot explain. If no burst limit fits, the set contains all refusals. */
  readonly burst: readonly RefusalSet[];
}

/**
 * Finds which of the `refusals` each limiter model can explain. Refused requests in `mayCount` can use up the limits;
 * other refused requests cannot.
 */
export function fitModels(
  history: History,
  limits: TierLimits,
  options: AdmissionOptions,
  refusals: readonly Decision[],
  mayCount: ReadonlySet<Decision>,
): ModelFits {
  const timeline = timelineOf(history, options, refusals, mayCount);
  const fit = createFitter(timeline, history, options, mayCount);
  const everything = noRefusals(refusals.length);
  refusals.forEach((_, index) => addRefusal(everything, index));
  const bucket = fitBucket(timeline, burstBucket(limits));
  const toModelFit = (model: LimiterModel): ModelFit => ({ model, unexplained: fit(model) });
  return {
    hour: hourModels(limits).map(toModelFit),
    minute: minuteModels(limits).map(toModelFit),
    burst: bucket === null ? [everything] : [bucket.unexplained],
  };
}

function createFitter(
  timeline: AdmissionTimeline,
  history: History,
  options: AdmissionOptions,
  mayCount: ReadonlySet<Decision>,
) {
  const tolerance = options.toleranceMs ?? 50;
  const spanOf = ({ decided }: Decision) => ({ fromMs: decided.fromMs - tolerance, toMs: decided.toMs + tolerance });
  const mayOpen = (): Span[] =>
    history.decisions.filter((one) => one.outcome !== "refused" || mayCount.has(one)).map(spanOf);
  const minCapacityOf = memoizeByValue((windowMs: number) => minCapacity(timeline, windowMs));
  const anchored = once(() => buildOpeners(timeline, mayOpen(), []));
  // A request without a response can have been refused. In the `pushed` model, a refusal restarts the window.
  const unanswered = history.decisions.filter(({ outcome }) => outcome === "unknown");
  const pushed = once(() => buildOpeners(timeline, mayOpen(), [...mayCount, ...unanswered].map(spanOf)));
  const depth = depthFor(requestsIn(history.decisions));
  const anchoredBy = (openers: Openers, plain: Window): RefusalSet[] => {
    const family = { ...plain, minCapacity: minCapacityOf(plain.windowMs) };
    const found = listOf(fitAnchored(timeline, openers, family, null));
    if (timeline.unknownUseUntilMs === -Infinity || family.minCapacity > maxCapacity(plain)) return found;
    const unknownUseMs = Math.min(timeline.endMs, timeline.unknownUseUntilMs) - timeline.startMs;
    const withOpenWindow = searchPhases([{ fromMs: 0, toMs: family.windowMs + unknownUseMs }], depth, (phases) =>
      fitAnchored(timeline, openers, family, phases),
    );
    for (const set of withOpenWindow) addMinimalSet(found, set);
    return found;
  };
  const fixedPhases = (window: Window) =>
    phasesOf(window, history.announced?.[window.windowMs === hourMs ? "hour" : "minute"], timeline.startMs);
  const admitted = sumOf(timeline.admitted.map(({ count }) => count));
  return (model: LimiterModel): RefusalSet[] => {
    // Without refusals, a model fits if its limit allows all admitted requests at once.
    if (timeline.refusals.length === 0 && admitted <= model.capacity.requests) return [noRefusals(0)];
    switch (model.shape) {
      case "rolling":
        return listOf(fitRolling(timeline, model));
      case "fixed":
      case "weighted":
        return searchPhases(fixedPhases(model), depth, (phases) =>
          fitFixed(timeline, model, phases, model.shape === "weighted"),
        );
      case "anchored":
        return anchoredBy(anchored(), model);
      case "pushed":
        return anchoredBy(pushed(), model);
      case "bucket":
        return listOf(fitBucket(timeline, model));
    }
  };
}

const maxCapacity = ({ capacity }: Window): number => (capacity.kind === "exactly" ? capacity.requests : Infinity);

const listOf = (fit: Fit | null): RefusalSet[] => (fit === null ? [] : [fit.unexplained]);

/**
 * Returns the hour and minute models that occur in a valid combination. A combination of an hour, a minute and a burst
 * limiter is valid if each refusal is explained by at least one of the three.
 */
export function compatibleModels({ hour, minute, burst }: ModelFits): Record<LimitName, LimiterModel[]> {
  const works = (one: RefusalSet, others: readonly ModelFit[]): boolean =>
    burst.some((left) => {
      const rest = intersection(one, left);
      return others.some(({ unexplained }) => unexplained.some((set) => areDisjoint(rest, set)));
    });
  const possible = (these: readonly ModelFit[], others: readonly ModelFit[]): LimiterModel[] =>
    these.filter(({ unexplained }) => unexplained.some((set) => works(set, others))).map(({ model }) => model);
  return { hour: possible(hour, minute), minute: possible(minute, hour) };
}
