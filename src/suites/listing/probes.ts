import { probe } from "../../run/probe.ts";

export const pageLimit = 2;

export const secondPageListed = probe(
  "the second page of the agents is listed",
  { requests: 1, reads: true, countsTowardWindow: true },
  async ({ client, discovery }) => ({
    first: discovery.listing,
    second: await client.send("GET", `/agents?page=2&limit=${pageLimit}`),
  }),
);

/** Returns the first page of the list, which the pre-flight discovery has read. This probe sends no request. */
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
