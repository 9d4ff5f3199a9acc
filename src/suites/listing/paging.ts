import { type Check, check } from "../../run/judge/check.ts";
import { breach, holds, unproven } from "../../run/judge/finding.ts";
import { checkEvery } from "../../run/judge/check-every.ts";
import { bodyCases } from "../shared/cases.ts";
import { allExchanges } from "../shared/all-exchanges.ts";
import { isSuccess } from "../shared/response.ts";
import { getPath } from "../../base/json.ts";
import { fieldMatrix } from "../shared/matrices.ts";
import { pageOf, pagesOf } from "./pages.ts";
import { pageLimit, secondPageListed } from "./probes.ts";

export const noPage = () => unproven("no page came with its agents and a whole `pagination`");

/** Identifies an agent of the list by its id, or else by all of its fields. */
function identityOf(agent: unknown): string {
  const id = ["agent_id", "id"].map((name) => getPath(agent, name)).find((each) => each !== undefined);
  return JSON.stringify(id ?? agent);
}

/** Checks that `page` and `limit` have an effect. */
export const pagingChecks: readonly Check[] = [
  checkEvery(
    "LST-6",
    { all: allExchanges, secondPageListed },
    {
      matrix: fieldMatrix("list"),
      members: ({ all }) => bodyCases("list", all, isSuccess),
      judge: ({ exchange }) => {
        const asked = Number(new URL(exchange.request.url).searchParams.get("limit") ?? 0);
        const page = pageOf(exchange);
        if (page === null || !Number.isInteger(asked) || asked < 1) return undefined;
        return page.agents.length <= asked
          ? null
          : { expected: `at most ${asked} agents, as \`limit\` asks`, actual: String(page.agents.length) };
      },
      whenEmpty: noPage(),
    },
  ),
  check("LST-7", secondPageListed, ({ first, second }) => {
    const [one, two] = [pageOf(first), pageOf(second)];
    if (one === null || two === null) return noPage();
    // The document does not define the response to a page past the end.
    if (one.agents.length === 0 || two.agents.length === 0 || one.pagination.total <= pageLimit)
      return unproven("the target has too few agents for a second page", `a target with more than ${pageLimit} agents`);
    if (one.pagination.total !== two.pagination.total)
      return unproven("the number of agents changed from one page to the next");
    const known = new Set(one.agents.map(identityOf));
    if (known.size < one.agents.length) return unproven("the agents of one page cannot be told apart");
    const twice = two.agents.map(identityOf).find((each) => known.has(each));
    return twice === undefined
      ? holds()
      : breach("an agent stands on one page only", `${twice} on both`, first, second);
  }),
  check("LST-11", secondPageListed, (evidence) => {
    const pages = pagesOf(evidence).filter(({ pagination: { page, limit } }) => page > 0 && limit > 0);
    if (pages.length === 0) return noPage();
    if (pages.some(({ agents }) => agents.length > pageLimit))
      return unproven("a page has more agents than were asked for; see LST-6");
    for (const { exchange, agents, pagination } of pages) {
      const { page, limit, total } = pagination;
      const expected = Math.min(limit, Math.max(0, total - (page - 1) * limit));
      if (agents.length !== expected)
        return breach(
          `${expected} agents on page ${page} (limit ${limit}, total ${total})`,
          String(agents.length),
          exchange,
        );
    }
    return holds();
  }),
];
