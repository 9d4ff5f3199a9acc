import { describe, expect, it } from "vitest";

import { clauseOf } from "./clauses.ts";
import { endpointNames, publishedEndpoints } from "./endpoints.ts";
import { fieldTableNames, fieldTableOf, fieldTables, rowsOf } from "./fields.ts";

describe.each(fieldTableNames)("the table %s", (name) => {
  const { section, message, fields } = fieldTableOf(name);

  it(`names no field twice in ${name}`, () => {
    const paths = (fields ?? []).map(({ path }) => path);
    expect(paths).toEqual([...new Set(paths)]);
  });

  it(`holds what a field of ${name} stands in before the field`, () => {
    const known = (fields ?? []).map(({ path }) => path);
    const orphans = known.filter((path, at) => {
      const holder = path.replace(/(?:\.[^.]+|\[\])$/, "");
      return holder !== path && known.includes(holder) && known.indexOf(holder) > at;
    });
    expect(orphans).toEqual([]);
  });

  it(`cites binding clauses for ${name}`, () => {
    expect((fields ?? []).map(({ clause }) => clauseOf(clause).level).filter((level) => level !== "must")).toEqual([]);
    expect(section).not.toBe("");
  });

  it(`has statuses of its endpoint for ${name}`, () => {
    const statuses: readonly number[] = message.kind === "answer" ? publishedEndpoints[message.endpoint].statuses : [];
    expect(message.kind === "answer" ? message.statuses.filter((each) => !statuses.includes(each)) : []).toEqual([]);
  });
});

it("says for each endpoint what its answer has, or that it is not shown", () => {
  const named = fieldTableNames.flatMap((name) => {
    const { message } = fieldTableOf(name);
    return message.kind === "answer" ? [message.endpoint] : [];
  });
  // No table describes the response of `stream` as a whole, because it consists of events.
  expect([...named, "stream"].toSorted()).toEqual([...endpointNames].toSorted());
});

it("gives the rows that a clause states", () => {
  expect(rowsOf("invoke", "INV-3").map(({ path }) => path)).toEqual([
    "usage",
    "usage.prompt_tokens",
    "usage.completion_tokens",
    "usage.total_tokens",
  ]);
  expect(fieldTables.webhooks.fields).toBeNull();
});
