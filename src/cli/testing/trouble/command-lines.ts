import { join } from "node:path";

import type { CommandName } from "./trouble.ts";

/** Names of the formats that are written beside the report, by their flags. */
const formatFiles = {
  "--html": "report.html",
  "--junit": "junit.xml",
  "--ctrf": "ctrf.json",
  "--markdown": "summary.md",
  "--badge": "badge.svg",
  "--statement": "statement.json",
} as const;

/** Limit of the whole run in seconds. A run without trouble takes a few. */
const maxRunSeconds = 60;

/** Seconds that a command may take at most, by its options, on a busy machine. */
export const maxSeconds: Readonly<Record<CommandName, number>> = {
  run: maxRunSeconds + 25,
  "load autocannon": 150,
  "load k6": 150,
  nightly: maxRunSeconds + 25,
  // A minute of rest for the keys lies between the run and the load.
  "nightly with load": maxRunSeconds + 150,
};

export interface CommandPlan {
  readonly targetFile: string;
  /** Folder for the report, or for the history. */
  readonly folder: string;
}

/** The arguments of a command. Everything that it writes is in the folder. */
export function argumentsOf(command: CommandName, { targetFile, folder }: CommandPlan): readonly string[] {
  const target = ["--target", targetFile];
  const bounds = ["--max-wait", "5s", "--max-time", `${maxRunSeconds}s`, "--max-window", "100"];
  const formats = Object.entries(formatFiles).flatMap(([flag, name]) => [flag, join(folder, name)]);
  switch (command) {
    case "run":
      return ["run", ...target, ...bounds, "--out", folder, ...formats, "--har", join(folder, "run.har")];
    case "load autocannon":
    case "load k6": {
      const engine = command.slice("load ".length);
      return ["load", "burst", "--tier", "free", "--engine", engine, "--yes", ...target, "--out", folder, ...formats];
    }
    case "nightly":
      return ["nightly", ...target, ...bounds, "--no-load", "--history", folder];
    case "nightly with load":
      return ["nightly", ...target, ...bounds, "--scenario", "burst", "--yes", "--history", folder];
  }
}
