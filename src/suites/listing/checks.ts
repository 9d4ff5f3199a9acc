import { memoizeByObject, memoizeByPair } from "../../base/memoize.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, check, observe, suite } from "../../run/judge/check.ts";
import { breach, holds, observed, unproven } from "../../run/judge/finding.ts";
import type { Mismatch } from "../../rules/mismatch.ts";
import { type Member, checkEvery } from "../../run/judge/check-every.ts";
import { type JudgedResponse, bodyCases } from "../shared/cases.ts";
import { fieldMatrix } from "../shared/matrices.ts";
import { optionalFieldMismatch, fieldMismatch } from "../../rules/bodies/fields.ts";
import { allExchanges, type AllExchanges } from "../shared/all-exchanges.ts";
import { codeOf, hasStatus, isSuccess, outcomeOf, typeName } from "../shared/response.ts";
import { getPath, isObject } from "../../base/json.ts";
import { firstPageListed, listedOutOfRange, listedByDefault, secondPageListed } from "./probes.ts";
import { listingOf, type Page, pageOf } from "./pages.ts";
import { noPage, pagingChecks } from "./paging.ts";

/** The two fields of a listing, in any published shape. */
function rootOf(exchange: Exchange): unknown {
  const { agents, pagination } = listingOf(exchange);
  return { data: agents, pagination };
}

/** `page` and `limit` of a request; `null` if absent. */
const askedIn = memoizeByObject(
  (exchange: Exchange): { readonly page: number | null; readonly limit: number | null } => {
    const asked = new URL(exchange.request.url).searchParams;
    const of = (name: string): number | null => (asked.has(name) ? Number(asked.get(name)) : null);
    return { page: of("page"), limit: of("limit") };
  },
);

/**
 * Whether the requested page is past the end or its limit is 0. The document does not define the response then.
 * @param totals the `total` values of the run's pages
 */
function isBeyond({ exchange }: JudgedResponse, totals: readonly unknown[]): boolean {
  const { page, limit } = askedIn(exchange);
  if ((page !== null && !(page >= 1)) || (limit !== null && !(limit >= 1))) return true;
  if (page === null || limit === null || page === 1) return false;
  return totals.some((total) => typeof total === "number" && (page - 1) * limit >= total);
}

/** All listings, each with whether the document leaves its content open. */
const answersOfList = memoizeByObject((all: AllExchanges) => {
  const pages = bodyCases("list", all, isSuccess, rootOf);
  const totals = pages.map(({ subject }) => getPath(subject.root, "pagination", "total"));
  return pages.map((each) => ({ ...each, subject: openOrNot(each.subject, isBeyond(each.subject, totals)) }));
});

const openOrNot = memoizeByPair((seen: JudgedResponse, isOpen: boolean) => ({ ...seen, isOpen }));

/** Listings of pages that may exist. */
const pagesSeen = (all: AllExchanges): Member<JudgedResponse>[] =>
  answersOfList(all).filter(({ subject }) => !subject.isOpen);

/** Checks every complete page. */
const onPages = (clause: "LST-4" | "LST-5", say: (page: Page) => Mismatch | null | undefined): Check =>
  checkEvery(
    clause,
    { all: allExchanges, secondPageListed },
    {
      matrix: fieldMatrix("list"),
      members: ({ all }) => pagesSeen(all),
      judge: ({ exchange }) => {
        const page = pageOf(exchange);
        // The document does not define the response to a page past the end.
        const isSpoken = page !== null && (page.agents.length > 0 || (askedIn(exchange).page ?? 1) === 1);
        return isSpoken ? say(page) : undefined;
      },
      whenEmpty: noPage(),
    },
  );

export const listing = suite("List agents", [
  check("LST-1", firstPageListed, ({ first }) => {
    if (hasStatus(first, 429)) return unproven("a limit refused the request (429)");
    return hasStatus(first, 200) ? holds() : breach("200", outcomeOf(first), first);
  }),
  ...(["LST-2", "LST-3"] as const).map((clause) =>
    checkEvery(
      clause,
      { all: allExchanges, firstPageListed },
      {
        matrix: fieldMatrix("list"),
        members: ({ all }) => answersOfList(all),
        judge: ({ root, isOpen }) =>
          isOpen ? (optionalFieldMismatch("list", clause, root) ?? undefined) : fieldMismatch("list", clause, root),
        whenEmpty: ({ firstPageListed: { first } }) =>
          isSuccess(first)
            ? unproven("the answer is no JSON")
            : unproven(`the list did not come (${outcomeOf(first)})`),
      },
    ),
  ),
  onPages("LST-4", ({ exchange, pagination }) => {
    const asked = askedIn(exchange);
    if (asked.page === null && asked.limit === null) return undefined;
    const [page, limit] = [asked.page ?? pagination.page, asked.limit ?? pagination.limit];
    if (pagination.page === page && pagination.limit === limit) return null;
    return {
      expected: `page ${page} and limit ${limit}, as asked`,
      actual: `page ${pagination.page} and limit ${pagination.limit}`,
    };
  }),
  onPages("LST-5", ({ pagination: { total, limit, pages } }) => {
    if (limit <= 0) return undefined;
    const expected = Math.ceil(total / limit);
    const isEmptyAsOne = total === 0 && pages === 1;
    if (pages === expected || isEmptyAsOne) return null;
    return { expected: `\`pages\` is ${expected} (${total} by ${limit})`, actual: String(pages) };
  }),
  ...pagingChecks,
  observe("LST-8", listedByDefault, ({ listed }) => {
    const page = pageOf(listed);
    if (page === null) return observed(`without parameters: ${answerTo(listed)}`);
    const { pagination } = page;
    return observed(`without parameters: page ${pagination.page}, limit ${pagination.limit}`);
  }),
  observe("LST-9", firstPageListed, ({ first }) => {
    const { agents } = listingOf(first);
    const [agent] = Array.isArray(agents) ? (agents as readonly unknown[]) : [];
    if (agent === undefined) return unproven("the list shows no agent");
    if (!isObject(agent)) return observed(`an item is a ${typeName(agent)}`);
    return observed(
      `an item has ${Object.entries(agent)
        .map(([name, value]) => `${name} (${typeName(value)})`)
        .join(", ")}`,
    );
  }),
  observe("LST-10", listedOutOfRange, ({ pastTheEnd, limitOfNone }) =>
    observed(`page 99999: ${answerTo(pastTheEnd)}; limit 0: ${answerTo(limitOfNone)}`),
  ),
]);

function answerTo(exchange: Exchange): string {
  const page = pageOf(exchange);
  if (page !== null)
    return `${outcomeOf(exchange)} with ${page.agents.length} agents, page ${page.pagination.page}, limit ${page.pagination.limit}`;
  const code = codeOf(exchange);
  return typeof code === "string" ? `${outcomeOf(exchange)} ${code}` : outcomeOf(exchange);
}
