import { expect, it } from "vitest";

import { concurrency } from "../../../scenarios/concurrency.ts";
import { minuteLimit } from "../../../scenarios/minute-limit.ts";
import { publishedTiers } from "../../spec/tiers.ts";
import { randomOf } from "../../rules/limits/admission/testing/random.ts";
import { judgeLoad } from "./judge.ts";
import { splitOverMachines } from "../testing/samples.ts";
import { simulateRun } from "./testing/simulated-run.ts";
import { defaultDecisions, defaultTerms, simulatedServer } from "./testing/simulated-server.ts";

const limits = publishedTiers.pro;

interface Row {
  readonly what: string;
  readonly scenario: typeof minuteLimit;
  readonly minute?: number;
  readonly slots?: number;
  readonly clause: string;
  readonly apartMs: number;
  readonly isFound: boolean;
}

const oneTooMany = { what: "101 in a minute", scenario: minuteLimit, minute: 101, clause: "LIM-1" } as const;
const oneTooFew = { what: "99 in a minute", scenario: minuteLimit, minute: 99, clause: "LIM-2" } as const;
const elevenSlots = { what: "11 at once", scenario: concurrency, slots: 11, clause: "LIM-5" } as const;
const nineSlots = { what: "9 at once", scenario: concurrency, slots: 9, clause: "LIM-6" } as const;

/** The rows of the table in docs/scale.md. */
const rows: readonly Row[] = [
  { ...oneTooMany, apartMs: 1000, isFound: true },
  { ...oneTooFew, apartMs: 1000, isFound: true },
  { ...elevenSlots, apartMs: 20, isFound: true },
  { ...elevenSlots, apartMs: 200, isFound: false },
  { ...nineSlots, apartMs: 1000, isFound: true },
  { ...nineSlots, apartMs: 2000, isFound: false },
];

it.each(rows)(
  "of three machines whose clocks are $apartMs ms apart, $what is found: $isFound",
  ({ scenario, minute, slots, clause, apartMs, isFound }) => {
    const random = randomOf(1);
    const terms = { ...defaultTerms, capacities: minute === undefined ? {} : { minute } };
    const parts = { ...defaultDecisions(limits), ...(slots === undefined ? {} : { slots }) };
    const world = { engine: "k6", tier: null, limits, speed: 1, latencyMs: 10, lossShare: 0, drift: 0 } as const;
    const alone = simulateRun(
      scenario,
      simulatedServer(limits, terms, parts, random),
      { ...world, dates: "fresh", isFresh: true, skewMs: 0 },
      random,
    );
    const red = judgeLoad(splitOverMachines(alone, apartMs), scenario).filter(({ kind }) => kind === "breach");

    expect(red.map((each) => each.clause).includes(clause)).toBe(isFound);
  },
);
