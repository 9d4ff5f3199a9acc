import { describe, expect, it } from "vitest";

import { listing } from "./checks.ts";
import { listingOf } from "./probes.ts";
import { exchange } from "../testing/evidence.ts";
import { judged, judgeBy } from "../testing/judged.ts";

const listRequest = { method: "GET", path: "/agents?page=1&limit=2" } as const;
const agents = [{ agent_id: "a" }, { agent_id: "b" }, { agent_id: "c" }];
const beyond = { method: "GET", path: "/agents?page=99999&limit=10" } as const;
const noRoom = { method: "GET", path: "/agents?page=1&limit=0" } as const;
const page = (
  number: number,
  extra: object = {},
  data: readonly unknown[] = agents.slice(number * 2 - 2, number * 2),
) =>
  exchange({
    method: "GET",
    path: `/agents?page=${number}&limit=2`,
    json: { data, pagination: { page: number, limit: 2, total: 3, pages: 2, ...extra } },
  });

describe("where a listing may stand", () => {
  const pagination = { page: 1, limit: 2, total: 3, pages: 2 };
  it.each([
    ["at the top", { data: agents, pagination }],
    ["in `data`", { status: "success", data: { data: agents, pagination } }],
    ["as `data` of the envelope", { status: "success", data: agents, pagination }],
    ["in `data.result`", { status: "success", data: { result: { data: agents, pagination } } }],
    ["as `data.result`", { status: "success", data: { result: agents, metadata: { pagination } } }],
  ])("%s", (_, json) => {
    expect(listingOf(exchange({ json }))).toEqual({ agents, pagination });
    expect(judged(listing, "LST-2", { first: exchange({ ...listRequest, json }) })).toBe("holds");
    expect(judged(listing, "LST-3", { first: exchange({ ...listRequest, json }) })).toBe("holds");
  });
});

describe("listing", () => {
  it.each([
    ["LST-1", "a page", page(1), "holds"],
    ["LST-1", "answered 404", exchange({ status: 404, json: {} }), "breach"],
    ["LST-2", "data that is no list", exchange({ ...listRequest, json: { data: {}, pagination: {} } }), "breach"],
    ["LST-2", "a page of HTML", exchange({ ...listRequest, text: "<html>" }), "unproven"],
    ["LST-3", "a total in text", page(1, { total: "3" }), "breach"],
    ["LST-3", "no pagination", exchange({ ...listRequest, json: { data: [] } }), "breach"],
    ["LST-9", "a page", page(1), "observed"],
  ] as const)("%s: %s", (id, _case, first, expected) => {
    expect(judged(listing, id, { first })).toBe(expected);
  });

  it.each([
    ["a second page without its block", page(2, { pages: undefined }), "breach"],
    ["a page past the end without its block", exchange({ ...beyond, json: { data: [] } }), "holds"],
    ["a page of no room without its block", exchange({ ...noRoom, json: { data: [] } }), "holds"],
  ] as const)("LST-3 of every page: %s", (_, other, expected) => {
    const all = { exchanges: [page(1), other], validKeys: ["main"] };
    expect(judged(listing, "LST-3", { all, first: page(1) })).toBe(expected);
  });

  it.each([
    ["without its block", { data: [] }, "inapplicable"],
    ["with integers", { data: [], pagination: { page: 99_999, limit: 10, total: 3, pages: 1 } }, "holds"],
    ["with some of the integers", { data: [], pagination: { page: 99_999, limit: 10 } }, "holds"],
    ["with `null` as its total", { data: [], pagination: { page: 99_999, limit: 10, total: null } }, "breach"],
    ["with pages in text", { data: [], pagination: { pages: "1" } }, "breach"],
  ] as const)("LST-3 of a page past the end: %s", (_, json, expected) => {
    const all = { exchanges: [page(1), exchange({ ...beyond, json })], validKeys: ["main"] };
    expect(judgeBy(listing, "LST-3/past the end", all).kind).toBe(expected);
  });

  it.each([
    ["LST-4", "the pages asked for", page(1), page(2), "holds"],
    ["LST-4", "the first page twice", page(1), page(2, { page: 1 }), "breach"],
    ["LST-4", "another limit than asked for", page(1, { limit: 20 }), page(2), "breach"],
    ["LST-5", "as many pages as the total needs", page(1), page(2), "holds"],
    ["LST-5", "one page too few", page(1, { pages: 1 }), page(2), "breach"],
    [
      "LST-5",
      "an empty list of no pages, then of one",
      page(1, { total: 0, pages: 0 }, []),
      page(2, { total: 0, pages: 1 }, []),
      "holds",
    ],
    ["LST-5", "a limit of 0", page(1, { limit: 0 }), page(2, { limit: 0 }), "unproven"],
    ["LST-6", "pages that are full up to the last", page(1), page(2), "holds"],
    ["LST-11", "pages that are full up to the last", page(1), page(2), "holds"],
    ["LST-11", "a first page that is too long, which is LST-6", page(1, {}, agents), page(2), "unproven"],
    ["LST-11", "a second page that is longer than what is left", page(1), page(2, {}, agents.slice(0, 2)), "breach"],
    ["LST-6", "a first page that is too long", page(1, {}, agents), page(2), "breach"],
    ["LST-7", "no agent twice", page(1), page(2), "holds"],
    ["LST-7", "an agent on both pages", page(1), page(2, {}, agents.slice(1, 2)), "breach"],
    ["LST-7", "an empty second page", page(1), page(2, {}, []), "unproven"],
    ["LST-7", "a second page that answers 500", page(1), exchange({ status: 500 }), "unproven"],
  ] as const)("%s over two pages: %s", (id, _case, first, second, expected) => {
    expect(judged(listing, id, { first, second })).toBe(expected);
  });

  it("LST-7 proves nothing while the order of the agents changes", () => {
    const pages = { first: page(1), second: page(2, {}, agents.slice(1, 2)), isReordered: true };
    expect(judged(listing, "LST-7", pages)).toBe("unproven");
  });

  it("observes what is not stated", () => {
    expect(judged(listing, "LST-8", { listed: page(1) })).toBe("observed");
    expect(judged(listing, "LST-10", { pastTheEnd: page(9), limitOfNone: exchange({ status: 400 }) })).toBe("observed");
  });
});
