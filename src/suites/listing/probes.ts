import { z } from "zod";

import { probe } from "../../run/probe.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { isSuccess } from "../shared/response.ts";
import { getPath } from "../../base/json.ts";

export const pageLimit = 2;

export const secondPageListed = probe(
  "the second page of the agents is listed",
  { requests: 1, reads: true, countsTowardWindow: true },
  async ({ client, discovery }) => ({
    first: discovery.listing,
    second: await client.send("GET", `/agents?page=2&limit=${pageLimit}`),
  }),
);

/** Returns the first page of the list, which the pre-flight discovery has read. */
export const firstPageListed = probe(
  "the first page of the agents is listed",
  { requests: 0, reads: true },
  async ({ discovery }) => ({
    first: discovery.listing,
  }),
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
