import { rmSync } from "node:fs";

import { writeLog } from "../fixtures/k6-log.ts";
import { runInProcess } from "../measuring/run-workload.ts";
import { scratchFile } from "../measuring/scratch.ts";
import { atMost } from "../tool/goal.ts";
import { maxLongRounds, nothingToClose, type Row } from "../tool/row.ts";

const million = 1_000_000;

const kept: Row = {
  name: "judge-million",
  what: "the log of a million requests, from the file to the verdict",
  against: "`JSON.parse` of its lines",
  compared: "wall time",
  goal: atMost(2),
  mostRounds: maxLongRounds,
  open: async (size) => {
    const file = scratchFile("k6", "log");
    writeLog(file, size.of(million));
    return {
      subject: () => runInProcess("judge-log", { side: "judge", file }),
      baseline: () => runInProcess("judge-log", { side: "parse", file }),
      close: async () => rmSync(file),
    };
  },
};

/** Memory counts as flat if ten times as many requests need at most this multiple of the memory. */
const flat = 1.25;

const simulated: Row = {
  name: "judge-memory",
  what: "most memory while ten million simulated requests are taken in and judged",
  against: "a million of them",
  compared: "memory",
  goal: atMost(flat),
  mostRounds: 1,
  open: async (size) => ({
    subject: () => runInProcess("judge-simulated", { requests: size.of(10 * million) }),
    baseline: () => runInProcess("judge-simulated", { requests: size.of(million) }),
    close: nothingToClose,
  }),
};

export const judgeRows: readonly Row[] = [kept, simulated];
