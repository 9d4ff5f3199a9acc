import { statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";

import { type OutputFiles, writeOutput } from "../app/report-folder/write-files.ts";
import { errorCodeOrText } from "../base/errors.ts";
import { line, UsageError } from "../base/line.ts";
import { FolderInUse, lockFolder, releaseFolders } from "../base/files/folder-lock.ts";
import {
  checkFolderWritable,
  checkWritable,
  followLinks,
  makeFolder,
  slug,
  timeInName,
} from "../base/files/output-folders.ts";
import { onCommandEnd } from "./command.ts";
import { flagForSetting } from "./options.ts";
import { reportUnwrittenOutput } from "./print-line.ts";

export function prepareFiles<Name extends string>(
  names: readonly Name[],
  flags: { readonly [name in Name]?: string | undefined },
): OutputFiles<Name> {
  const requested = names.flatMap((name) => {
    const path = flags[name];
    return path === undefined ? [] : [{ name, flag: flagForSetting(name), path }];
  });
  const printed = requested.filter(({ path }) => path === "-").map(({ flag }) => flag);
  if (printed.length > 1)
    throw new UsageError(line`${printed.join(" and ")} cannot both be printed: give all but one a file.`);
  const files = requested.map(({ name, flag, path }) => ({
    name,
    flag,
    file: path === "-" ? null : prepareFile(path, flag),
  }));
  for (const [, sharing] of Map.groupBy(files, ({ flag, file }) => (file === null ? flag : fileIdentity(file))))
    if (sharing.length > 1)
      throw new UsageError(
        line`${sharing.map(({ flag }) => flag).join(" and ")} name the same file: ${sharing[0]?.file ?? ""}. Give each its own.`,
      );
  return { files, isStdoutTaken: printed.length > 0 };
}

/** Writes each file. If one cannot be written, prints why, and the exit code is 4 instead of 0. */
export const writeOutputs = <Name extends string>(
  { files }: Pick<OutputFiles<Name>, "files">,
  render: (name: Name) => string,
): void => files.flatMap((output) => writeOutput(output, () => render(output.name))).forEach(reportUnwrittenOutput);

function fileIdentity(file: string): string {
  const path = followLinks(file);
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? join(followLinks(dirname(path)), basename(path)) : `${stats.dev}:${stats.ino}`;
}

/** Creates a folder if it is missing, locks it until the command ends, and returns its absolute path. */
export function prepareLockedFolder(folder: string, flag = "--out"): string {
  const path = prepareFolder(folder, flag);
  lockReportFolder(path, flag);
  return path;
}

export const prepareReportFolder = (out: string | undefined, name: string, prefix = ""): string =>
  prepareLockedFolder(out ?? join("reports", `${timeInName(new Date())}-${prefix}${slug(name).slice(0, 40)}`));

export function lockReportFolder(path: string, flag: string | null): void {
  try {
    lockFolder(path);
    onCommandEnd(releaseFolders);
  } catch (error) {
    const advice = flag === null ? "" : `, or give another with ${flag}`;
    if (error instanceof FolderInUse) throw new UsageError(line`${error.message}. Wait for its end${advice}.`);
    throw new UsageError(line`${path} cannot be locked (${errorCodeOrText(error)}).`);
  }
}

export function prepareFolder(folder: string, flag = "--out"): string {
  if (folder === "") throw new UsageError(line`${flag} is empty. Give a folder.`);
  const path = resolve(folder);
  try {
    makeFolder(path);
    checkFolderWritable(path);
  } catch (error) {
    throw new UsageError(
      line`The output folder cannot be written: ${path} (${errorCodeOrText(error)}). Give another with ${flag}.`,
    );
  }
  return path;
}

export function prepareFile(file: string, flag: string): string {
  if (file === "") throw new UsageError(line`${flag} is empty. Give a file.`);
  const path = resolve(file);
  try {
    checkWritable(path);
  } catch (error) {
    throw new UsageError(line`${flag} cannot be written: ${path} (${errorCodeOrText(error)}).`);
  }
  return path;
}

export function displayPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith("..") ? path : short;
}
