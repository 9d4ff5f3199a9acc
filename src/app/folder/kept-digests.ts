import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

import type { ReportDocument } from "../../report/report.ts";
import { type Digests, reportFile, sha256Of } from "../../report/statement/statement.ts";

/** Digests of a kept report and of the evidence that stands beside it and was read with it; none without evidence. */
export function digestsOfKept(path: string, { evidence, load }: ReportDocument): Digests {
  const folder = folderOf(path);
  const names = evidence === null ? [...load.keys()] : ["evidence.json"];
  const files = names.length === 0 ? [] : [reportFile, ...names];
  return Object.fromEntries(files.map((name) => [name, sha256Of(readFileSync(join(folder, name)))]));
}

/** Folder of a report that is named by its folder or its file. */
export const folderOf = (path: string): string => (statSync(path).isDirectory() ? path : dirname(path));
