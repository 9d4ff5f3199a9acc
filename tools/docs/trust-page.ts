import { readFileSync } from "node:fs";

import { sensitivityTable } from "./sensitivity/sensitivity-table.ts";
import { survivorsTable } from "../../src/selftest/mutants/survivors.ts";
import { thirdPartyTable } from "../../src/selftest/third-party/defects.ts";

const page = new URL("../../docs/trust.md", import.meta.url);
/** Generators of the tables between two marks of the page, by the name in the first mark. */
const tables: Readonly<Record<string, () => string>> = {
  "mutants that live": survivorsTable,
  "how small an excess is found": sensitivityTable,
  "what defects of strangers turn red": thirdPartyTable,
};
const marked = /(<!-- ([a-z ]+) -->\n)[^]*?(\n<!-- end -->)/g;

/** The page with its tables generated again; the rest stays as written. */
export const trustPage = (): string =>
  readFileSync(page, "utf8").replace(marked, (whole, start: string, name: string, end: string) => {
    const table = tables[name];
    return table === undefined ? whole : `${start}\n${table()}\n${end}`;
  });
