import { advisory, gap, must, type ClauseTable } from "../clause.ts";

const section = "Endpoints / 4. List agents";

export const listingClauses = {
  "LST-1": must(section, "`GET /v1/agents` with `page` and `limit` answers 200."),
  "LST-2": must(section, "The answer has `data`, an array of agents."),
  "LST-3": must(section, "The answer has `pagination` with the integers `page`, `limit`, `total` and `pages`."),
  "LST-4": advisory(section, "`pagination.page` and `pagination.limit` are those that were asked for."),
  "LST-5": advisory(section, "`pages` is `total` divided by `limit`, rounded up."),
  "LST-6": must(section, "A page of a paginated listing holds at most the `limit` asked for."),
  "LST-7": must(section, "The second page of a paginated listing does not repeat the first."),
  "LST-8": gap(section, "Defaults of `page` and `limit` are not stated."),
  "LST-9": gap(
    "Resources and their fields / Gaps in the resource fields",
    "The fields of an item in the agent list are not shown.",
  ),
  "LST-10": gap(section, "The answer to a page past the end, and to a `limit` of 0 or below, is not shown."),
  "LST-11": advisory(section, "A page holds as many agents as `total` leaves for it."),
} as const satisfies ClauseTable;
