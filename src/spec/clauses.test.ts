import { describe, expect, it } from "vitest";

import { type ClauseId, clauseIds, clauseOf } from "./clauses.ts";
import { webhookEvents } from "./events-and-errors.ts";

const pin = (id: ClauseId): string => {
  const { level, party, since, says, readings } = clauseOf(id);
  const read = readings === undefined ? "" : ` {${Object.keys(readings).join(", ")}}`;
  return `${id} ${level} ${party} ${since}: ${says}${read}`;
};

describe("clauses", () => {
  it("keep their ids and meanings, because old reports refer to them", async () => {
    await expect(`${clauseIds.map(pin).join("\n")}\n`).toMatchFileSnapshot("clauses.pin.txt");
  });

  it("have ids of a section's letters and a number, each once", () => {
    for (const id of clauseIds) expect(id).toMatch(/^[A-Z]{3,4}-[1-9]\d*$/);
    expect(new Set(clauseIds).size).toBe(clauseIds.length);
  });

  it("number each section from 1 without a gap", () => {
    const bySection = Map.groupBy(clauseIds, (id) => id.split("-")[0] ?? "");
    for (const ids of bySection.values())
      expect(ids.map((id) => Number(id.split("-")[1])).toSorted((a, b) => a - b)).toEqual(
        ids.map((_, index) => index + 1),
      );
  });

  const ofLevel = (level: string): ClauseId[] => clauseIds.filter((id) => clauseOf(id).level === level);

  it.each(ofLevel("policy"))("%s says why it cannot be tested, being a policy", (id) => {
    expect(clauseOf(id).untestable).toBeTruthy();
  });

  it.each(ofLevel("must"))("%s can be tested, being a must", (id) => {
    expect(clauseOf(id).untestable).toBeUndefined();
  });

  it.each(webhookEvents)("say when %s is sent", (type) => {
    expect(clauseIds.some((id) => id.startsWith("HOOK-") && clauseOf(id).says.includes(`\`${type}\` is sent`))).toBe(
      true,
    );
  });

  it("are one sentence each, with a full stop", () => {
    for (const id of clauseIds) expect(clauseOf(id).says, id).toMatch(/^[A-Z`0-9].*\.$/s);
  });
});
