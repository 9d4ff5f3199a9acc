import { isDeepStrictEqual } from "node:util";

import { z } from "zod";

import { hasFewRequests } from "../../run/plan/needs.ts";
import type { Client } from "../../run/send/client.ts";
import { probe } from "../../run/probe.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { isSuccess } from "../shared/response.ts";
import { getPath } from "../../base/json.ts";

export const pageLimit = 2;

interface TwoPages {
  readonly first: Exchange;
  readonly second: Exchange;
  /** Whether page 1 had other agents, or another order, when read again. Absent if the pages were read only once. */
  readonly isReordered?: boolean;
}

/** Maximum number of times to read both pages again if an agent is on both. Concurrent probes can reorder the list. */
const maxRereads = 3;

export const secondPageListed = probe(
  "the second page of the agents is listed",
  {
    requests: (target) => (hasFewRequests(target) ? 1 : 1 + requestsToList(2, maxRereads)),
    reads: true,
    countsTowardWindow: true,
  },
  async ({ client, discovery: { listing: first }, target }): Promise<TwoPages> => {
    const second = await listPage(client, 2, pageLimit);
    if (hasFewRequests(target) || repeatedAgent(pagesOf({ first, second })) === null) return { first, second };
    const { pages, isReordered } = await listPages(client.since("1.2"), {
      limit: pageLimit,
      count: 2,
      maxTries: maxRereads,
    });
    return { first: pages[0] ?? first, second: pages[1] ?? second, isReordered };
  },
);

interface WantedPages {
  readonly limit: number;
  readonly count: number;
  readonly maxTries: number;
}

interface ListedPages {
  readonly pages: readonly Exchange[];
  readonly isReordered: boolean;
}

/**
 * Lists the first `count` pages. If an agent is on two pages, lists page 1 once more, because invokes can reorder the
 * list. If page 1 has changed, lists all pages again, at most `maxTries` times in all.
 */
export async function listPages(client: Client, wanted: WantedPages): Promise<ListedPages> {
  const { limit, count, maxTries } = wanted;
  const pages: Exchange[] = [];
  for (let page = 1; page <= count; page += 1) pages.push(await listPage(client, page, limit));
  const [first] = pages;
  if (first === undefined || repeatedAgent(pages.flatMap((each) => pageOf(each) ?? [])) === null)
    return { pages, isReordered: false };
  // Set 1.2 added these requests, so checks of earlier sets must not see them.
  const later = client.since("1.2");
  const isReordered = !isDeepStrictEqual(agentIdsIn(first), agentIdsIn(await listPage(later, 1, limit)));
  return isReordered && maxTries > 1 ? listPages(later, { ...wanted, maxTries: maxTries - 1 }) : { pages, isReordered };
}

/** Returns the maximum number of requests that {@link listPages} sends. */
export const requestsToList = (count: number, maxTries: number): number => maxTries * (count + 1);

const listPage = (client: Client, page: number, limit: number): Promise<Exchange> =>
  client.send("GET", `/agents?page=${page}&limit=${limit}`);

const agentIdsIn = (listed: Exchange): string[] => (pageOf(listed)?.agents ?? []).map(identityOf);

interface RepeatedAgent {
  readonly id: string;
  readonly pages: readonly [Page, Page];
}

export function repeatedAgent(pages: readonly Page[]): RepeatedAgent | null {
  for (const [at, page] of pages.entries())
    for (const earlier of pages.slice(0, at)) {
      const known = new Set(earlier.agents.map(identityOf));
      const id = page.agents.map(identityOf).find((each) => known.has(each));
      if (id !== undefined) return { id, pages: [earlier, page] };
    }
  return null;
}

export const hasRepeats = ({ agents }: Page): boolean => new Set(agents.map(identityOf)).size < agents.length;

function identityOf(agent: unknown): string {
  const id = ["agent_id", "id"].map((name) => getPath(agent, name)).find((each) => each !== undefined);
  return JSON.stringify(id ?? agent);
}

/** Sends nothing: returns the first page, which the pre-flight discovery has read. */
export const firstPageListed = probe(
  "the first page of the agents is listed",
  { requests: 0, reads: true },
  async ({ discovery }) => ({ first: discovery.listing }),
);

export const listedByDefault = probe(
  "the agents are listed without parameters",
  { requests: 1, reads: true },
  async ({ client }) => ({ listed: await client.send("GET", "/agents") }),
);

export const listedOutOfRange = probe(
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

export function listingOf(exchange: Exchange): Listing {
  const body = bodyJson(exchange);
  const [data, result, metadata] = [
    getPath(body, "data"),
    getPath(body, "data", "result"),
    getPath(body, "data", "metadata"),
  ];
  const arrays = [
    data,
    getPath(data, "data"),
    result,
    getPath(result, "data"),
    getPath(data, "agents"),
    getPath(result, "agents"),
  ];
  const paginations = [body, data, result, metadata].map((each) => getPath(each, "pagination"));
  return {
    agents: arrays.find((each) => Array.isArray(each)) ?? data,
    pagination: paginations.find((each) => each !== undefined),
  };
}

const integer = z.int();
const paginationShape = z.looseObject({ page: integer, limit: integer, total: integer, pages: integer });
type Pagination = z.infer<typeof paginationShape>;

export interface Page {
  readonly exchange: Exchange;
  readonly agents: readonly unknown[];
  readonly pagination: Pagination;
}

export function pageOf(exchange: Exchange): Page | null {
  const { agents, pagination } = listingOf(exchange);
  const parsed = paginationShape.safeParse(pagination);
  return isSuccess(exchange) && Array.isArray(agents) && parsed.success
    ? { exchange, agents, pagination: parsed.data }
    : null;
}

export const pagesOf = (evidence: { readonly first: Exchange; readonly second?: Exchange }): Page[] =>
  [evidence.first, evidence.second].flatMap((exchange) => {
    const page = exchange === undefined ? null : pageOf(exchange);
    return page === null ? [] : [page];
  });
