import { burstMs, longestBurstSeconds } from "../../limits/key-use.ts";
import { refusalsText } from "../../limits/admission/shape.ts";
import { hourMs, minuteMs } from "../../base/duration.ts";
import { hourFamilies, minuteFamilies, type LimiterShape } from "../../limits/admission/families.ts";
import { publishedTiers } from "../../interface/tiers.ts";
import { type AdmissionClause, brokenBy, countsOf, mostAdmittedWithin, ofEachKey, told } from "./blame.ts";
import { type LoadedKey, linesOf, type LoadFacts } from "./facts.ts";
import { breach, holds, inapplicable, observed, type Says, unproven } from "./finding.ts";
import { isRefused } from "../../limits/sample.ts";

const hasRefusals = ({ history }: LoadedKey): boolean => history.decisions.some(({ outcome }) => outcome === "refused");
const hasAdmitted = ({ history }: LoadedKey): boolean =>
  history.decisions.some(({ outcome }) => outcome === "admitted");

/** A judge of one side of one limit: `said` is asked where the history is explained. */
const ofClause =
  (clause: AdmissionClause, said: (use: LoadedKey, facts: LoadFacts) => Says) =>
  (facts: LoadFacts): Says =>
    ofEachKey(facts, (use) => {
      const broken = brokenBy(use, facts);
      if (broken === null) return said(use, facts);
      return broken.clause === clause
        ? told(broken.judged, use, facts)
        : unproven(`another limit is broken already (${broken.clause})`);
    });

const most =
  (windowMs: number, ofLimits: (facts: LoadFacts) => number) =>
  (use: LoadedKey, facts: LoadFacts): Says => {
    const reached = mostAdmittedWithin(use, windowMs) >= ofLimits(facts);
    if (hasRefusals(use) && reached) return holds(countsOf(use));
    return unproven(
      hasRefusals(use) ? "refused before this limit was certainly reached" : `nothing was refused: ${countsOf(use)}`,
    );
  };

const least =
  (windowMs: number, ofLimits: (facts: LoadFacts) => number) =>
  (use: LoadedKey, facts: LoadFacts): Says => {
    if (mostAdmittedWithin(use, windowMs) >= ofLimits(facts)) return holds(countsOf(use));
    if (!hasRefusals(use) && hasAdmitted(use)) return holds(`below the limit nothing was refused: ${countsOf(use)}`);
    return unproven("an admissible limiter explains the refusals before this limit was certainly reached");
  };

const perMinute = ({ limits }: LoadFacts): number => limits.perMinute;
const perHour = ({ limits }: LoadFacts): number => limits.perHour;

export const judgeMostPerMinute = ofClause("LIM-1", most(minuteMs, perMinute));
export const judgeLeastPerMinute = ofClause("LIM-2", least(minuteMs, perMinute));
export const judgeMostPerHour = ofClause("LIM-3", most(hourMs, perHour));
export const judgeLeastPerHour = ofClause("LIM-4", least(hourMs, perHour));

/** LIM-7: a burst of the published size. */
export function judgeBurst(facts: LoadFacts): Says {
  const { burst } = facts.limits;
  if (burst === null) return inapplicable("the document does not show the tier's burst allowance");
  return ofEachKey(facts, (use) => {
    const admitted = Math.max(
      mostAdmittedWithin(use, burstMs),
      hasRefusals(use) ? 0 : mostAdmittedWithin(use, minuteMs),
    );
    if (admitted >= burst) return holds(`${admitted} admitted within ${burstMs / 1000} s`);
    const broken = brokenBy(use, facts);
    if (broken === null || !["LIM-2", "LIM-4"].includes(broken.clause))
      return unproven("fewer were sent, or an admissible limiter explains the refusals");
    const first = use.sent.find(isRefused);
    if (first?.retryAfterSeconds === undefined || (first.retryAfterSeconds ?? Infinity) > longestBurstSeconds)
      return unproven("the minute admits too few (LIM-2)");
    return breach(`a burst of ${burst} is admitted`, `refused after ${admitted}`, linesOf([first.id], facts));
  });
}

/** LIM-10: invoke is limited at all. */
export function judgeIsLimited(facts: LoadFacts): Says {
  return ofEachKey(facts, (use) => {
    const invokes = use.sent.filter(({ kind }) => kind === "invoke");
    const refused = invokes.filter(isRefused).length;
    if (refused > 0) return holds(`${refused} invokes were refused`);
    const shown = new Set(invokes.flatMap(({ remaining }) => remaining ?? []));
    if (shown.size > 1) return holds("`Remaining` falls with invokes");
    if (brokenBy(use, facts)?.judged.breach !== "too many admitted") return unproven("no limit was seen at work");
    return breach("invoke draws on the allowance", `${countsOf(use)}, and \`Remaining\` did not move`);
  });
}

/** LIM-8: what a burst gets. */
export function observeBurst({ main, limits }: LoadFacts): Says {
  if (!hasRefusals(main)) return unproven("no refusal was seen");
  return observed(
    `at most ${mostAdmittedWithin(main, burstMs)} were admitted within ${burstMs / 1000} s (${limits.perMinute} a minute, burst ${limits.burst ?? "not shown"})`,
  );
}

/** LIM-15: the windows' shapes that explain everything. */
export function observeShapes({ main }: LoadFacts): Says {
  if (!hasRefusals(main)) return unproven("no refusal was seen");
  const shapes = main.shapes();
  if (shapes === null) return unproven("the history fits no admissible limiter");
  const announced = Object.keys(main.history.announced ?? {});
  const ends = announced.length > 0 ? `; the headers announce fixed ends of the ${announced.join(" and the ")}` : "";
  return observed(
    `hour ${shapeText(shapes.hour, hourShapes)}; minute ${shapeText(shapes.minute, minuteShapes)}; burst ${burstText(shapes.burstAdds)}${ends}`,
  );
}

const hourShapes = new Set(hourFamilies(publishedTiers.free).map(({ shape }) => shape)).size;
const minuteShapes = new Set(minuteFamilies(publishedTiers.free).map(({ shape }) => shape)).size;

/** Where nothing is ruled out, the list of all shapes tells nothing. */
const shapeText = (left: readonly LimiterShape[], all: number): string =>
  left.length === all ? "of any shape" : left.join(" or ");

function burstText(adds: readonly boolean[]): string {
  if (adds.length > 1) return "within or beyond its number";
  return adds[0] === true ? "beyond its number" : "within its number";
}

/** LIM-16: whether refusals count. */
export function observeRefusals({ main }: LoadFacts): Says {
  if (!hasRefusals(main)) return unproven("no refusal was seen");
  const shapes = main.shapes();
  if (shapes === null) return unproven("the history fits no admissible limiter");
  return observed(refusalsText(shapes));
}
