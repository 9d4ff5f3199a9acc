import type { BenchRow } from "../tool/row.ts";
import { judgeRows } from "./judge.ts";
import { savedRunRows } from "./saved-run.ts";
import { limiterRows } from "./limiter.ts";
import { loadAllRow } from "./load-all.ts";
import { loadRows } from "./load.ts";
import { proxyRows } from "./proxy.ts";
import { referenceRows } from "./reference.ts";
import { runRows } from "./run.ts";
import { startRows } from "./start.ts";
import { streamRows } from "./streams.ts";
import { vendorsRow } from "./vendors.ts";

/** Every row of the bench, in the order of the table. */
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
