import { array, assert, constantFrom, double, property, record } from "fast-check";
import { describe, expect, it } from "vitest";
import { linearScale, logarithmicScale, timeAxisWithBreaks } from "./axes.ts";
import { renderHistogram } from "../charts/latency.ts";
import { renderLineChart } from "./line-chart.ts";
import { renderTimeline } from "./timeline.ts";

const finite = double({ min: -1e9, max: 1e9, noNaN: true });
const table = { head: ["what", "how many"], rows: [["one", 1]] };
const axis = { label: "seconds", format: String };

/** Matches text that a drawing contains where a number is missing. */
const broken = /NaN|Infinity|undefined/;

describe("scales", () => {
  it.each([
    [0, 10, 5, [0, 2, 4, 6, 8, 10]],
    [0, 103, 5, [0, 50, 100, 150]],
    [0, 0.4, 4, [0, 0.1, 0.2, 0.3, 0.4]],
  ])("from %d to %d with about %d ticks has round ones", (from, to, wanted, ticks) => {
    expect(linearScale(from, to, wanted).ticks).toEqual(ticks);
  });

  it("uses the given steps if they fit", () => {
    expect(linearScale(0, 170, 4, [30, 60, 300]).ticks).toEqual([0, 60, 120, 180]);
  });

  it("keeps every value between its ends within the drawing, and in order", () => {
    assert(
      property(finite, finite, finite, (one, other, between) => {
        const [low, high] = [Math.min(one, other), Math.max(one, other)];
        const scale = linearScale(low, high, 5);
        const value = Math.min(high, Math.max(low, between));
        expect(scale.at(value)).toBeGreaterThanOrEqual(-1e-6);
        expect(scale.at(value)).toBeLessThanOrEqual(1 + 1e-6);
        expect(scale.ticks.length).toBeLessThan(15);
      }),
    );
  });

  it("has powers of ten on a logarithmic axis, with 2 and 5 between them on a short one", () => {
    expect(logarithmicScale(0.3, 40).ticks).toEqual([0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100]);
    expect(logarithmicScale(1, 100_000).ticks).toEqual([1, 10, 100, 1000, 10_000, 100_000]);
  });

  it("cuts long pauses, and keeps the order of times", () => {
    const { scale, cuts } = timeAxisWithBreaks([0, 10, 20, 7220, 7240], {
      maxPause: 60,
      shownPause: 10,
      units: [10, 60],
    });
    expect(cuts).toEqual([{ at: 7220, pause: 7200 }]);
    const places = [0, 20, 7220, 7240].map(scale.at);
    expect(places).toEqual([0, 0.4, 0.6, 1]);
  });
});

describe("charts", () => {
  const series = (points: readonly { x: number; y: number }[]) =>
    (["line", "step", "dots", "crosses"] as const).map((shape) => ({
      name: shape,
      tone: "first" as const,
      shape,
      points,
    }));

  it("draw any points, also none and equal ones", () => {
    const points = array(record({ x: finite, y: finite }), { maxLength: 20 });
    assert(
      property(points, constantFrom("from zero", "fitted"), (all, scale) => {
        const drawn = renderLineChart({
          title: "t",
          says: "s",
          x: axis,
          y: { ...axis, scale },
          series: series(all),
          bands: [{ name: "noise", tone: "quiet", points: all.map(({ x, y }) => ({ x, low: y - 1, high: y + 1 })) }],
          referenceLines: [{ name: "limit", y: 10 }],
          verticalLines: all.slice(0, 2).map(({ x }) => ({ name: "change", x, tone: "bad" })),
          table,
        });
        expect(drawn.source).not.toMatch(broken);
      }),
    );
  });

  it("have a title, a sentence, a legend, and a table of the same data", () => {
    const drawn = renderLineChart({
      title: "Admitted",
      says: "10 of 12.",
      x: axis,
      y: axis,
      series: series([{ x: 0, y: 1 }]),
      table,
    }).source;
    expect(drawn).toContain('role="img" aria-label="Admitted. 10 of 12."');
    expect(drawn).toMatch(/<th scope="row" ?>one<\/th>\s*<td>1<\/td>/);
    expect(drawn.match(/<li>/g)).toHaveLength(4);
  });

  it("show each group of a histogram in bars that add up to all of it", () => {
    const drawn = renderHistogram({
      title: "t",
      says: "s",
      groups: [{ name: "admitted", tone: "first", values: [1, 1, 2, 40] }],
      table,
    }).source;
    expect(drawn.match(/M[\d.]+ \d+V/g)).toHaveLength(3);
    expect(drawn).not.toMatch(broken);
  });

  it("show a span before a mark whose time is only known roughly", () => {
    const row = {
      name: "retries",
      line: { from: 0, to: 60 },
      marks: [{ from: 50, to: 60, tone: "bad", sign: "cross" }],
    } as const;
    const drawn = renderTimeline({
      title: "t",
      says: "s",
      x: { ...axis, scale: linearScale(0, 60, 4) },
      rows: [row],
      legend: [],
      table,
    }).source;
    expect(drawn).toContain('class="band bad"');
    expect(drawn).not.toMatch(broken);
  });
});
