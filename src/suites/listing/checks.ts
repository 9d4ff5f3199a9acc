import { z } from "zod";

import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { check, observe, suite } from "../../run/check.ts";
import { breach, holds, observed, unproven } from "../../run/finding.ts";
import { probe } from "../../run/probe.ts";
import { codeOf } from "../answers/refusal.ts";
import { hasOtherBody, hasStatus, isSuccess, member, misshapen, outcomeOf, show, typeName } from "../answers/shape.ts";
import { isObject } from "../../base/json.ts";

const pageLimit = 2;

export const secondPageListed = probe(
  "the second page of the agents is listed",
  { requests: 1, reads: true },
  async ({ client, look }) => ({
    first: look.listing,
    second: await client.send("GET", `/agents?page=2&limit=${pageLimit}`),
  }),
);

/** The look's own page, at no further cost. */
export const firstPageListed = probe(
  "the first page of the agents is listed",
  { requests: 0, reads: true },
  async ({ look }) => ({
    first: look.listing,
  }),
);

export const listedByDefault = probe(
  "the agents are listed without parameters",
  { requests: 1, reads: true },
  async ({ client }) => ({ listed: await client.send("GET", "/agents") }),
);

export const listedBeyond = probe(
  "a page past the end, and a limit of 0, are listed",
  { requests: 2, reads: true },
  async ({ client }) => ({
    pastTheEnd: await client.send("GET", "/agents?page=99999&limit=10"),
    limitOfNone: await client.send("GET", "/agents?page=1&limit=0"),
  }),
);

interface Listing {
  readonly agents: unknown;
  readonly pagination: unknown;
}

/**
 * The listing's two fields, wherever a published shape may hold them: at the top level, or inside the envelope, where the
 * array itself may be `data` or `data.result`.
 */
export function listingOf(exchange: Exchange): Listing {
  const body = bodyJson(exchange);
  const [data, result, metadata] = [
    member(body, "data"),
    member(body, "data", "result"),
    member(body, "data", "metadata"),
  ];
  const arrays = [
    data,
    member(data, "data"),
    result,
    member(result, "data"),
    member(data, "agents"),
    member(result, "agents"),
  ];
  const paginations = [body, data, result, metadata].map((each) => member(each, "pagination"));
  return {
    agents: arrays.find((each) => Array.isArray(each)) ?? data,
    pagination: paginations.find((each) => each !== undefined),
  };
}

const integer = z.int();
const paginationShape = z.looseObject({ page: integer, limit: integer, total: integer, pages: integer });
type Pagination = z.infer<typeof paginationShape>;

interface Page {
  readonly exchange: Exchange;
  readonly agents: readonly unknown[];
  readonly pagination: Pagination;
}

/** A page that came whole; `null` where a more basic clause is broken. */
function pageOf(exchange: Exchange): Page | null {
  const { agents, pagination } = listingOf(exchange);
  const parsed = paginationShape.safeParse(pagination);
  return isSuccess(exchange) && Array.isArray(agents) && parsed.success
    ? { exchange, agents, pagination: parsed.data }
    : null;
}

const pagesOf = (evidence: { readonly first: Exchange; readonly second?: Exchange }): Page[] =>
  [evidence.first, evidence.second].flatMap((exchange) => {
    const page = exchange === undefined ? null : pageOf(exchange);
    return page === null ? [] : [page];
  });

const noPage = () => unproven("no page came with its agents and a whole `pagination`");

/** What tells an agent of the list from another: an id where it has one, else all that is shown of it. */
function identityOf(agent: unknown): string {
  const id = ["agent_id", "id"].map((name) => member(agent, name)).find((each) => each !== undefined);
  return show(id ?? agent);
}

export const listing = suite("List agents", [
  check("LST-1", firstPageListed, ({ first }) => {
    if (hasStatus(first, 429)) return unproven("a limit refused the request (429)");
    return hasStatus(first, 200) ? holds() : breach("200", outcomeOf(first), first);
  }),
  check("LST-2", firstPageListed, ({ first }) => {
    if (!isSuccess(first)) return unproven(`the list did not come (${outcomeOf(first)})`);
    if (hasOtherBody(first)) return unproven("the answer is no JSON");
    const { agents } = listingOf(first);
    return Array.isArray(agents)
      ? holds()
      : breach("`data`, an array of agents", show(agents ?? bodyJson(first)), first);
  }),
  check("LST-3", firstPageListed, ({ first }) => {
    if (!isSuccess(first)) return unproven(`the list did not come (${outcomeOf(first)})`);
    if (hasOtherBody(first)) return unproven("the answer is no JSON");
    return misshapen(paginationShape, listingOf(first).pagination, "`pagination`", first) ?? holds();
  }),
  check("LST-4", secondPageListed, (evidence) => {
    const { first, second } = evidence;
    const asked = new Map([
      [first, 1],
      [second, 2],
    ]);
    // Of a page past the end it is open what is answered.
    const pages = pagesOf(evidence).filter(({ exchange, agents }) => exchange === first || agents.length > 0);
    if (pages.length === 0) return noPage();
    for (const { exchange, pagination } of pages) {
      const page = asked.get(exchange);
      if (pagination.page !== page || pagination.limit !== pageLimit)
        return breach(
          `page ${page} and limit ${pageLimit}, as asked`,
          `page ${pagination.page} and limit ${pagination.limit}`,
          exchange,
        );
    }
    return holds();
  }),
  check("LST-5", secondPageListed, (evidence) => {
    const pages = pagesOf(evidence).filter(({ pagination }) => pagination.limit > 0);
    if (pages.length === 0) return noPage();
    for (const { exchange, pagination } of pages) {
      const { total, limit } = pagination;
      const expected = Math.ceil(total / limit);
      const isEmptyAsOne = total === 0 && pagination.pages === 1;
      if (pagination.pages !== expected && !isEmptyAsOne)
        return breach(`\`pages\` is ${expected} (${total} by ${limit})`, String(pagination.pages), exchange);
    }
    return holds();
  }),
  check("LST-6", secondPageListed, (evidence) => {
    const pages = pagesOf(evidence).filter(({ pagination: { page, limit } }) => page > 0 && limit > 0);
    if (pages.length === 0) return noPage();
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
  check("LST-7", secondPageListed, ({ first, second }) => {
    const [one, two] = [pageOf(first), pageOf(second)];
    if (one === null || two === null) return noPage();
    if (one.agents.length === 0 || two.agents.length === 0)
      return unproven("the target has too few agents for a second page", `a target with more than ${pageLimit} agents`);
    const known = new Set(one.agents.map(identityOf));
    const twice = two.agents.map(identityOf).find((each) => known.has(each));
    return twice === undefined
      ? holds()
      : breach("an agent stands on one page only", `${twice} on both`, first, second);
  }),
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
  observe("LST-10", listedBeyond, ({ pastTheEnd, limitOfNone }) =>
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
