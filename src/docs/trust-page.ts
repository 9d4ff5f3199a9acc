import { readFileSync } from "node:fs";

import { survivorsTable } from "../selftest/mutants/survivors.ts";

const page = new URL("../../docs/trust.md", import.meta.url);
const table = /(<!-- mutants that live -->\n)[^]*?(\n<!-- end -->)/;

/** The page as people wrote it, with what tables of the code say in their places. */
export const trustPage = (): string =>
  readFileSync(page, "utf8").replace(table, (_, start: string, end: string) => `${start}\n${survivorsTable()}\n${end}`);
