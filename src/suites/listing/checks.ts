import { formatValue, getPath, isObject } from "../../base/json.ts";
import { memoizeByObject, memoizeByPair } from "../../base/memoize.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { fieldMismatch, optionalFieldMismatch } from "../../rules/bodies/fields.ts";
import type { Mismatch } from "../../rules/bodies/errors.ts";
import { type Check, check, checkEvery, type ClauseCase, observe, suite } from "../../run/judge/check.ts";
import { breach, holds, inapplicable, observed, unproven } from "../../run/judge/finding.ts";
import { allExchanges, type AllExchanges } from "../shared/all-exchanges.ts";
import {
  bodyCases,
  checkEverySuccess,
  fieldMatrix,
  type JudgedResponse,
  judgeOk,
  emptyMatrix,
} from "../shared/cases.ts";
import { describeFields, describeStatus, isSuccess, outcomeOf, typeName } from "../shared/response.ts";
import {
  listingOf,
  type Page,
  pageOf,
  pagesOf,
  firstPageListed,
  listedByDefault,
  listedOutOfRange,
  pageLimit,
  hasRepeats,
  repeatedAgent,
  secondPageListed,
} from "./probes.ts";

function rootOf(exchange: Exchange): unknown {
  const { agents, pagination } = listingOf(exchange);
  return { data: agents, pagination };
}

const requestedPage = memoizeByObject(
  (exchange: Exchange): { readonly page: number | null; readonly limit: number | null } => {
    const requestedQuery = new URL(exchange.request.url).searchParams;
    const valueOf = (name: string): number | null =>
      requestedQuery.has(name) ? Number(requestedQuery.get(name)) : null;
    return { page: valueOf("page"), limit: valueOf("limit") };
  },
);

/** Whether the document does not define the response: `page` or `limit` is below 1, or the page is past the end. */
function isResponseOpen({ exchange }: JudgedResponse, totals: readonly unknown[]): boolean {
  const { page, limit } = requestedPage(exchange);
  if ((page !== null && !(page >= 1)) || (limit !== null && !(limit >= 1))) return true;
  if (page === null || limit === null || page === 1) return false;
  return totals.some((total) => typeof total === "number" && (page - 1) * limit >= total);
}

function isAfterFirstPage(exchange: Exchange): boolean {
  const { page, limit } = requestedPage(exchange);
  return page !== null && page > 1 && limit !== null && limit >= 1;
}

function presentFieldMismatch(pagination: unknown): Mismatch | null | undefined {
  if (!isObject(pagination)) return undefined;
  const present = paginationFields.filter((name) => name in pagination);
  const wrong = present.find((name) => !Number.isInteger(pagination[name]));
  if (wrong === undefined) return present.length === 0 ? undefined : null;
  return { expected: `\`pagination.${wrong}\`, a whole number`, actual: formatValue(pagination[wrong]) };
}

const paginationFields = ["page", "limit", "total", "pages"] as const;

const listCases = memoizeByObject((all: AllExchanges) => {
  const pages = bodyCases("list", all, isSuccess, rootOf);
  const totals = pages.map(({ subject }) => getPath(subject.root, "pagination", "total"));
  return pages.map((each) => ({ ...each, subject: withIsOpen(each.subject, isResponseOpen(each.subject, totals)) }));
});

const withIsOpen = memoizeByPair((response: JudgedResponse, isOpen: boolean) => ({ ...response, isOpen }));

const pageCases = (all: AllExchanges): ClauseCase<JudgedResponse>[] =>
  listCases(all).filter(({ subject }) => !subject.isOpen);

const noPage = () => unproven("no page has its agents and a complete `pagination`");

const checkPages = (clause: "LST-4" | "LST-5", judge: (page: Page) => Mismatch | null | undefined): Check =>
  checkEvery(
    clause,
    { all: allExchanges, secondPageListed },
    {
      matrix: fieldMatrix("list"),
      members: ({ all }) => pageCases(all),
      judge: ({ exchange }) => {
        const page = pageOf(exchange);
        // An empty page after the first is past the end of the list. The document does not define its response.
        const isDefined = page !== null && (page.agents.length > 0 || (requestedPage(exchange).page ?? 1) === 1);
        return isDefined ? judge(page) : undefined;
      },
      whenEmpty: noPage(),
    },
  );

export const listing = suite("List agents", [
  check("LST-1", firstPageListed, ({ first }) => judgeOk(first)),
  checkEverySuccess("LST-1", "list", (exchange, all) => {
    const { page, limit } = requestedPage(exchange);
    // `true` leaves out the exchange. A target may reject a request with only one of the parameters `page` and `limit`.
    if (page === null && limit === null) return false;
    return page === null || limit === null || !pageCases(all).some(({ proof }) => proof === exchange);
  }),
  ...(["LST-2", "LST-3"] as const).map((clause) =>
    checkEvery(
      clause,
      { all: allExchanges, firstPageListed },
      {
        matrix: fieldMatrix("list"),
        members: ({ all }) => listCases(all),
        judge: ({ root, isOpen }) =>
          isOpen ? (optionalFieldMismatch("list", clause, root) ?? undefined) : fieldMismatch("list", clause, root),
        whenEmpty: ({ firstPageListed: { first } }) =>
          isSuccess(first) ? unproven("the response is not JSON") : unproven(`there is no list (${outcomeOf(first)})`),
      },
    ),
  ),
  checkEvery("LST-3", allExchanges, {
    as: "past the end",
    since: "1.2",
    matrix: emptyMatrix("every list of a page past the end"),
    members: (all) => listCases(all).filter(({ subject }) => subject.isOpen && isAfterFirstPage(subject.exchange)),
    judge: ({ root }) => presentFieldMismatch(getPath(root, "pagination")),
    whenEmpty: inapplicable("no page past the end was listed with a `pagination`"),
  }),
  checkPages("LST-4", ({ exchange, pagination }) => {
    const requested = requestedPage(exchange);
    if (requested.page === null && requested.limit === null) return undefined;
    const [page, limit] = [requested.page ?? pagination.page, requested.limit ?? pagination.limit];
    if (pagination.page === page && pagination.limit === limit) return null;
    return {
      expected: `page ${page} and limit ${limit}, as requested`,
      actual: `page ${pagination.page} and limit ${pagination.limit}`,
    };
  }),
  checkPages("LST-5", ({ pagination: { total, limit, pages } }) => {
    if (limit <= 0) return undefined;
    const expected = Math.ceil(total / limit);
    const isEmptyAsOne = total === 0 && pages === 1;
    if (pages === expected || isEmptyAsOne) return null;
    return { expected: `\`pages\` is ${expected} (${total} by ${limit})`, actual: String(pages) };
  }),
  checkEvery(
    "LST-6",
    { all: allExchanges, secondPageListed },
    {
      matrix: fieldMatrix("list"),
      members: ({ all }) => bodyCases("list", all, isSuccess),
      judge: ({ exchange }) => {
        const limit = requestedPage(exchange).limit ?? 0;
        const page = pageOf(exchange);
        if (page === null || !Number.isInteger(limit) || limit < 1) return undefined;
        return page.agents.length <= limit
          ? null
          : { expected: `at most ${limit} agents, as \`limit\` asks`, actual: String(page.agents.length) };
      },
      whenEmpty: noPage(),
    },
  ),
  check("LST-7", secondPageListed, ({ first, second, isReordered = false }) => {
    const [one, two] = [pageOf(first), pageOf(second)];
    if (one === null || two === null) return noPage();
    // If all agents fit on one page, the document does not define the response to a second page.
    if (one.agents.length === 0 || two.agents.length === 0 || one.pagination.total <= pageLimit)
      return unproven("the target has too few agents for a second page", `a target with more than ${pageLimit} agents`);
    if (one.pagination.total !== two.pagination.total)
      return unproven("the number of agents changed from one page to the next");
    if (hasRepeats(one)) return unproven("the agents of one page are not distinguishable");
    const repeated = repeatedAgent([one, two]);
    if (repeated === null) return holds();
    if (isReordered) return unproven("the order of the agents changed while their pages were read");
    return breach("an agent is on one page only", `${repeated.id} on both`, first, second);
  }),
  check("LST-11", secondPageListed, (evidence) => {
    const pages = pagesOf(evidence).filter(({ pagination: { page, limit } }) => page > 0 && limit > 0);
    if (pages.length === 0) return noPage();
    if (pages.some(({ agents }) => agents.length > pageLimit))
      return unproven("a page has more agents than requested; see LST-6");
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
  observe("LST-8", listedByDefault, ({ listed }) => {
    const page = pageOf(listed);
    if (page === null) return observed(`without parameters: ${describeList(listed)}`);
    const { pagination } = page;
    return observed(`without parameters: page ${pagination.page}, limit ${pagination.limit}`);
  }),
  observe("LST-9", firstPageListed, ({ first }) => {
    const { agents } = listingOf(first);
    const [agent] = Array.isArray(agents) ? (agents as readonly unknown[]) : [];
    if (agent === undefined) return unproven("the list has no agent");
    return observed(isObject(agent) ? `an item has ${describeFields(agent)}` : `an item is a ${typeName(agent)}`);
  }),
  observe("LST-10", listedOutOfRange, ({ pastTheEnd, limitOfNone }) =>
    observed(`page 99999: ${describeList(pastTheEnd)}; limit 0: ${describeList(limitOfNone)}`),
  ),
]);

function describeList(exchange: Exchange): string {
  const page = pageOf(exchange);
  if (page !== null)
    return `${outcomeOf(exchange)} with ${page.agents.length} agents, page ${page.pagination.page}, limit ${page.pagination.limit}`;
  return describeStatus(exchange);
}
