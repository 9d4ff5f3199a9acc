import { createHash } from "node:crypto";

import type { Report } from "../report.ts";

/** SHA-256 of bytes, or of a text's UTF-8, as lower-case hex: what `sha256sum` prints of a file. */
export const sha256Of = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex");

/** Digests of files by the names they have in a report's folder: `report.json`, and `evidence.json` or the files of load under `load/`. */
export type Digests = Readonly<Record<string, string>>;

/** The report itself: what a statement does not repeat of it must not change either. */
export const reportFile = "report.json";

/** The files that the verdict of a report rests on, by the names they have beside it. */
export const evidenceFiles = ({ load }: Pick<Report, "load">): string[] =>
  load === undefined ? ["evidence.json"] : load.runs.map(({ evidence }) => evidence);
