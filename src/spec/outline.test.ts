import { describe, expect, it } from "vitest";

import { clauseIds, clauseOf } from "./clauses.ts";
import { clausesOf, isItemNumber, outline, placesCiting } from "./outline.ts";
import { derivations } from "./outline/derived.ts";
import { endpointNames, publishedEndpoints } from "./endpoints.ts";
import { errorCodes, statusCodes, streamEvents, webhookEvents } from "./events-and-errors.ts";
import { fieldTableNames, fieldTableOf } from "./fields.ts";
import { tierNames } from "./tiers.ts";

const headings = outline.map(({ heading }) => heading);
const under = (heading: string) => outline.find((section) => section.heading === heading)?.items ?? [];
const derivedIds = clauseIds.filter((id) => derivations[id] !== undefined);

describe("the outline of the document", () => {
  it("has each heading once, and something under each", () => {
    expect(headings).toEqual([...new Set(headings)]);
    expect(outline.filter(({ items }) => items.length === 0)).toEqual([]);
  });

  it.each(outline)("gives each item under “$heading” its clauses, each once, or says why it has none", ({ items }) => {
    const empty = items.filter((item) => (item.kind === "stated" ? item.clauses.length === 0 : item.why === ""));
    expect(empty).toEqual([]);
    for (const item of items) expect(clausesOf(item), item.about).toEqual([...new Set(clausesOf(item))]);
  });

  it.each(outline)("tells the items under “$heading” apart", ({ items }) => {
    const names = items.map(({ at, about }) => `${at}: ${about}`);
    expect(names).toEqual([...new Set(names)]);
  });

  it.each(outline)("numbers the items under “$heading” in order, without a hole", ({ items }) => {
    const numbers = [...new Set(items.map(({ at }) => at).filter(isItemNumber))];
    expect(numbers).toEqual(numbers.map((_, index) => String(index + 1)));
  });

  it.each(outline)("covers unspecified items under “$heading” by gaps, or by nothing", ({ items }) => {
    const silent = items.filter(({ about }) => about.startsWith("not shown: ") || about.startsWith("not stated: "));
    const levels = silent.flatMap(clausesOf).map((id) => clauseOf(id).level);
    expect(levels.filter((level) => level !== "gap")).toEqual([]);
  });

  it.each(clauseIds)("has an item that cites %s, at the place that it names itself", (id) => {
    expect(placesCiting(id)).toContain(clauseOf(id).section);
  });
});

describe("derived clauses", () => {
  it.each(derivedIds)("%s, being derived, binds, and follows from items that cite it", (id) => {
    const from = derivations[id]?.from ?? [];
    expect(["must", "should"]).toContain(clauseOf(id).level);
    expect(from.filter((place) => !placesCiting(id).includes(place))).toEqual([]);
  });
});

describe("the outline and the tables agree", () => {
  it.each(fieldTableNames)("on the fields of %s", (name) => {
    const { section, fields } = fieldTableOf(name);
    expect(headings).toContain(section);
    const unknown = (fields ?? []).filter(({ clause }) => !placesCiting(clause).includes(section));
    expect(unknown).toEqual([]);
  });

  it("on endpoints", () => {
    const published = endpointNames.map((name) => publishedEndpoints[name].section);
    expect(headings.filter((heading) => /^Endpoints \/ (?!12)\d/.test(heading))).toEqual(published);
  });

  it.each([
    ["stream events", "Events / Stream events (SSE)", streamEvents],
    ["event types", "Events / Webhook events", webhookEvents],
    ["statuses", "Errors / Status codes", statusCodes.map((status) => `status ${status}`)],
    ["error codes", "Errors / Error codes", Object.keys(errorCodes)],
    ["rates of tiers", "Limits / Request rate (per API key)", tierNames],
    ["quotas of tiers", "Limits / Token quota per month", tierNames],
  ])("on %s", (_, heading, names) => {
    const rows = under(heading).map(({ at }) => at.toLowerCase());
    expect(names.filter((name) => !rows.includes(name.toLowerCase()))).toEqual([]);
  });
});
