import { join } from "node:path";

import type { CommandName } from "./trouble.ts";

/** File names for the additional formats, by the name of the flag. */
const formatFiles = {
  "--html": "report.html",
  "--junit": "junit.xml",
  "--ctrf": "ctrf.json",
  "--markdown": "summary.md",
  "--badge": "badge.svg",
  "--statement": "statement.json",
} as const;

/** Time limit of a run, in seconds. Without trouble, a run takes a few seconds. */
const maxRunSeconds = 60;

/** Time limit of each command on a busy machine, in seconds. It depends on the options that the trials give to the command. */
export const maxSeconds: Readonly<Record<CommandName, number>> = {
  run: maxRunSeconds + 25,
  "load autocannon": 150,
  "load k6": 150,
  nightly: maxRunSeconds + 25,
  // Between run and load, the keys pause for a minute.
  "nightly with load": maxRunSeconds + 150,
};

export interface CommandPlan {
  readonly targetFile: string;
  /** Folder for the report or the history that the command writes. */
  readonly folder: string;
}

/** Returns the arguments of a command that writes all its files into `folder`. */
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
