import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { saveRun, writeManyExchanges } from "../fixtures/saved-run.ts";
import { conformanceArgs, runCommand } from "../measuring/command.ts";
import { maxRatio, maxSubject, maxLongRounds, type BenchRow, nothingToClose } from "../tool/row.ts";

import { writeLog } from "../fixtures/k6-log.ts";
import { runWorkload } from "../measuring/run-workload.ts";
import { scratchFile } from "../measuring/scratch.ts";

const evidenceRow: BenchRow = {
  name: "evidence-again",
  what: "evidence of 100,000 exchanges judged again, from the file to the report",
  against: "`JSON.parse` of the file",
  compared: "wall time",
  goal: maxRatio(2),
  maxRounds: maxLongRounds,
  open: async (size) => {
    const folder = await saveRun();
    const file = scratchFile("evidence", "json");
    writeManyExchanges(folder, file, size.of(100_000));
    return {
      subject: () => runWorkload("judge-evidence", { side: "judge", folder, file }),
      baseline: () => runWorkload("judge-evidence", { side: "parse", folder, file }),
      close: async () => rmSync(folder, { recursive: true }),
    };
  },
};

const bareReadAndWrite = fileURLToPath(new URL("../bare/read-and-write.mjs", import.meta.url));

const pageRow: BenchRow = {
  name: "page",
  what: "the page of a report with 400 findings, start to exit",
  against: "Node reading the report and its evidence and writing as long a file",
  compared: "wall time",
  goal: maxSubject(300),
  maxRounds: null,
  open: async () => {
    const folder = await saveRun();
    const file = scratchFile("page", "html");
    const subject = () =>
      runCommand({ args: conformanceArgs("report", folder, "--html", file, "--quiet"), codes: [0] });
    await subject();
    const files = ["report.json", "evidence.json"].map((name) => join(folder, name));
    const bytes = String(statSync(file).size);
    return {
      subject,
      baseline: () => runCommand({ args: [bareReadAndWrite, file, bytes, ...files], codes: [0] }),
      close: async () => rmSync(folder, { recursive: true }),
    };
  },
};

export const savedRunRows: readonly BenchRow[] = [evidenceRow, pageRow];

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

/** Maximum ratio of two peak memories: for ten million requests, and for one million. Memory must hardly grow. */
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
