import { z } from "zod";

import { isBroken } from "../model/report.ts";
import { type Night, nightFindingSchema, nightFormat, nightLoadSchema, nightSchema } from "./night.ts";

export const nightV1Format = "agent-hosting-conformance/night/1";

const reasonSchema = z.string().nullable();

const findingV1Schema = nightFindingSchema.omit({ actual: true, reason: true, load: true }).extend({
  /** The actual result, if the finding is broken; otherwise its reason. */
  says: z.string().exactOptional(),
});

const loadV1Schema = nightLoadSchema.extend({ validity: z.object({ counts: reasonSchema, times: reasonSchema }) });

/** Parses a history entry of version 0.1 and converts it to the current format. */
export const nightV1Schema = nightSchema
  .omit({ stopped: true })
  .extend({
    format: z.literal(nightV1Format),
    target: nightSchema.shape.target.omit({ tiers: true }),
    stopped: reasonSchema,
    findings: z.array(findingV1Schema),
    load: z.array(loadV1Schema),
    second: z.array(loadV1Schema),
  })
  .transform(({ stopped, target, findings, load, second, ...same }): Night => ({
    ...same,
    format: nightFormat,
    target: { ...target, tiers: {} },
    ...(stopped === null ? {} : { stopped }),
    findings: findings.map(upgradeFinding),
    load: load.map(upgradeLoad),
    second: second.map(upgradeLoad),
  }));

function upgradeFinding({ says, ...row }: z.infer<typeof findingV1Schema>): Night["findings"][number] {
  if (says === undefined) return row;
  return isBroken(row) ? { ...row, actual: says } : { ...row, reason: says };
}

/**
 * Converts a load run of version 0.1. That version repeated the reason for invalid counts in `times`. So `times` is about the pace only if
 * the counts are valid.
 */
const upgradeLoad = ({ validity: { counts, times }, ...run }: z.infer<typeof loadV1Schema>): Night["load"][number] => ({
  ...run,
  validity: { invalid: null, counts, pace: counts === null ? times : null },
});
