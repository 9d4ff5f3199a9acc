import type { BenchRow } from "../tool/row.ts";
import { judgeRows, savedRunRows } from "./saved-run.ts";
import { limiterRows, referenceRows, streamRows } from "./reference.ts";
import { loadAllRow, loadRows } from "./load.ts";
import { proxyRows } from "./proxy.ts";
import { runRows, startRows } from "./run.ts";
import { vendorsRow } from "./vendors.ts";

export const rows: readonly BenchRow[] = [
  ...startRows,
  ...runRows,
  ...referenceRows,
  ...streamRows,
  ...limiterRows,
  ...loadRows,
  ...proxyRows,
  ...judgeRows,
  ...savedRunRows,
  loadAllRow,
  vendorsRow,
];
