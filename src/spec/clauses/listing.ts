import type { ClauseTable } from "../clause.ts";

const section = "Endpoints / 4. List agents";

export const listingClauses = {
  "LST-1": { section, level: "must", says: "`GET /v1/agents` with `page` and `limit` answers 200." },
  "LST-2": { section, level: "must", says: "The answer has `data`, an array of agents." },
  "LST-3": {
    section,
    level: "must",
    says: "The answer has `pagination` with the integers `page`, `limit`, `total` and `pages`.",
  },
  "LST-4": {
    section,
    level: "advisory",
    says: "`pagination.page` and `pagination.limit` are those that were asked for.",
  },
  "LST-5": { section, level: "advisory", says: "`pages` is `total` divided by `limit`, rounded up." },
  "LST-6": { section, level: "must", says: "A page of a paginated listing holds at most the `limit` asked for." },
  "LST-7": { section, level: "must", says: "The second page of a paginated listing does not repeat the first." },
  "LST-8": { section, level: "gap", says: "Defaults of `page` and `limit` are not stated." },
  "LST-9": {
    section: "Resources and their fields / Gaps in the resource fields",
    level: "gap",
    says: "The fields of an item in the agent list are not shown.",
  },
  "LST-10": {
    section,
    level: "gap",
    says: "The answer to a page past the end, and to a `limit` of 0 or below, is not shown.",
  },
  "LST-11": { section, level: "advisory", says: "A page holds as many agents as `total` leaves for it." },
} as const satisfies ClauseTable;
