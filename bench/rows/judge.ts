import { rmSync } from "node:fs";

import { writeLog } from "../fixtures/k6-log.ts";
import { runWorkload } from "../measuring/run-workload.ts";
import { scratchFile } from "../measuring/scratch.ts";
import { maxRatio } from "../tool/goal.ts";
import { maxLongRounds, nothingToClose, type BenchRow } from "../tool/row.ts";

const million = 1_000_000;

const judgeLogRow: BenchRow = {
  name: "judge-million",
  what: "the log of a million requests, from the file to the verdict",
  against: "`JSON.parse` of its lines",
  compared: "wall time",
  goal: maxRatio(2),
  maxRounds: maxLongRounds,
  open: async (size) => {
    const file = scratchFile("k6", "log");
    writeLog(file, size.of(million));
    return {
      subject: () => runWorkload("judge-log", { side: "judge", file }),
      baseline: () => runWorkload("judge-log", { side: "parse", file }),
      close: async () => rmSync(file),
    };
  },
};

/**
 * How many times as much memory ten times as many requests may need. Judging should need the same memory for any
 * number.
 */
const maxGrowth = 1.25;

const judgeMemoryRow: BenchRow = {
  name: "judge-memory",
  what: "most memory while ten million simulated requests are taken in and judged",
  against: "a million of them",
  compared: "memory",
  goal: maxRatio(maxGrowth),
  maxRounds: 1,
  open: async (size) => ({
    subject: () => runWorkload("judge-simulated", { requests: size.of(10 * million) }),
    baseline: () => runWorkload("judge-simulated", { requests: size.of(million) }),
    close: nothingToClose,
  }),
};

export const judgeRows: readonly BenchRow[] = [judgeLogRow, judgeMemoryRow];
