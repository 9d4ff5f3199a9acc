import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { saveRun, writeManyExchanges } from "../fixtures/saved-run.ts";
import { conformanceArgs, runCommand } from "../measuring/command.ts";
import { runWorkload } from "../measuring/run-workload.ts";
import { scratchFile } from "../measuring/scratch.ts";
import { maxRatio, maxSubject } from "../tool/goal.ts";
import { maxLongRounds, type BenchRow } from "../tool/row.ts";

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
