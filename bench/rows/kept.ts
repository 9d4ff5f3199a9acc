import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { keptRun, writeManyExchanges } from "../fixtures/kept-run.ts";
import { conformance, runCommand } from "../measuring/command.ts";
import { runInProcess } from "../measuring/run-workload.ts";
import { scratchFile } from "../measuring/scratch.ts";
import { atMost, itself } from "../tool/goal.ts";
import { maxLongRounds, type Row } from "../tool/row.ts";

const again: Row = {
  name: "evidence-again",
  what: "evidence of 100,000 exchanges judged again, from the file to the report",
  against: "`JSON.parse` of the file",
  compared: "wall time",
  goal: atMost(2),
  mostRounds: maxLongRounds,
  open: async (size) => {
    const folder = await keptRun();
    const file = scratchFile("evidence", "json");
    writeManyExchanges(folder, file, size.of(100_000));
    return {
      subject: () => runInProcess("evidence-again", { side: "judge", folder, file }),
      baseline: () => runInProcess("evidence-again", { side: "parse", folder, file }),
      close: async () => rmSync(folder, { recursive: true }),
    };
  },
};

const bareReading = fileURLToPath(new URL("../bare/reading-and-writing.mjs", import.meta.url));

const page: Row = {
  name: "page",
  what: "the page of a report with 400 findings, start to exit",
  against: "Node reading the report and its evidence and writing as long a file",
  compared: "wall time",
  goal: itself(300),
  mostRounds: null,
  open: async () => {
    const folder = await keptRun();
    const file = scratchFile("page", "html");
    const subject = () => runCommand({ args: conformance("report", folder, "--html", file, "--quiet"), codes: [0] });
    await subject();
    const files = ["report.json", "evidence.json"].map((name) => join(folder, name));
    const bytes = String(statSync(file).size);
    return {
      subject,
      baseline: () => runCommand({ args: [bareReading, file, bytes, ...files], codes: [0] }),
      close: async () => rmSync(folder, { recursive: true }),
    };
  },
};

export const keptRows: readonly Row[] = [again, page];
