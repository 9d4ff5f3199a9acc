import { publishedTiers } from "../../spec/tiers.ts";
import type { HeadInput } from "../behaviour/transport.ts";
import { overrideJson, overrideResult, overrideSuccessStatus, overrideThirdSuccessStatus } from "../overrides.ts";
import { setField } from "../json-edit.ts";
import { fault, faults, type Override } from "../patch.ts";

const listBody = overrideJson("listBody");
const usageBody = overrideJson("usageBody");

/** Leaves matching requests out of the requests that `GET /usage` reports as used. */
const omitFromUsage = (matches: (head: HeadInput) => boolean): Override =>
  overrideResult("isInUsage")((isInUsage, head) => isInUsage && !matches(head));

export const listFaults = faults("Endpoints / 4. List agents", {
  "list-answers-203": fault("LST-1", "The list responds with 203.").by(overrideSuccessStatus("list", 203)),
  "list-answers-201-at-times": fault("LST-1", "Each third list responds with 201.").by(
    overrideThirdSuccessStatus("list", 201),
  ),
  "list-data-renamed": fault("LST-2", "`data` is called `agents`.").by(listBody.rename("data", "agents")),
  "list-data-is-object": fault("LST-2", "`data` is an object.").by(listBody.change("data", (items) => ({ items }))),
  "pagination-is-text": fault("LST-3", "`total` is text.").by(listBody.change("pagination.total", String)),
  "pagination-missing": fault("LST-3", "`pagination` is missing.").by(listBody.remove("pagination")),
  "pages-missing": fault("LST-3", "`pages` is missing.").by(listBody.remove("pagination.pages")),
  "total-is-null-past-the-end": fault("LST-3", "`total` is `null` on a page past the end.").by(
    overrideJson("listBody")
      .when(({ page, limit, total }) => (page - 1) * limit >= total)
      .set("pagination.total", null),
  ),
  "page-counts-from-0": fault("LST-4", "`pagination.page` is one less than the requested page.").by(
    listBody((body, { page }) => setField(body, "pagination.page", page - 1)),
  ),
  "pages-rounded-down": fault("LST-5", "`pages` is rounded down.").by(
    listBody((body, { total, limit }) => setField(body, "pagination.pages", Math.floor(total / limit))),
  ),
  "page-too-short": fault("LST-11", "A page has one agent less than its limit allows.").by((base) => ({
    pageItems: (agents, request) => base.pageItems(agents, request).slice(0, -1),
  })),
  "page-too-long": fault(["LST-6", "LST-7"], "A page has one agent more than its limit.").by(() => ({
    pageItems: (agents, { page, limit }) => agents.slice((page - 1) * limit, page * limit + 1),
  })),
  "pages-overlap": fault("LST-7", "A page begins with the last agent of the page before it.").by((base) => ({
    pageItems: (agents, request) => {
      const { length } = base.pageItems(agents, request);
      const from = Math.max(0, (request.page - 1) * request.limit - 1);
      return agents.slice(from, from + length);
    },
  })),
  "page-ignored": fault("LST-7", "Every page is the first one.").by((base) => ({
    pageItems: (agents, { limit }) => base.pageItems(agents, { page: 1, limit }),
  })),
  "limit-ignored": fault(["LST-4", "LST-6", "LST-7"], "`page` and `limit` are ignored.").by((base) => ({
    effectivePage: () => base.effectivePage(undefined, undefined),
  })),
});

export const usageFaults = faults("Resources / Usage report", {
  "usage-answers-203": fault("USE-1", "Usage responds with 203.").by(overrideSuccessStatus("usage", 203)),
  "usage-answers-201-at-times": fault("USE-1", "Each third reading of usage responds with 201.").by(
    overrideThirdSuccessStatus("usage", 201),
  ),
  "period-is-no-time": fault("USE-2", "`period` is no timestamp.").by(usageBody.set("period", "this month")),
  "period-is-number": fault("USE-2", "`period` is Unix seconds.").by(usageBody.set("period", 1_772_323_200)),
  "requests-are-text": fault("USE-3", "`requests.used` is text.").by(usageBody.change("requests.used", String)),
  "requests-without-remaining": fault("USE-3", "`requests.remaining` is missing.").by(
    usageBody.remove("requests.remaining"),
  ),
  "tokens-are-text": fault("USE-4", "`tokens.limit` is text.").by(usageBody.change("tokens.limit", String)),
  "tokens-without-used": fault("USE-4", "`tokens.used` is missing.").by(usageBody.remove("tokens.used")),
  "remaining-is-the-limit": fault("USE-5", "`requests.remaining` is always the limit.").by(
    usageBody((body, { hour }) => setField(body, "requests.remaining", hour.limit)),
  ),
  "token-limit-of-nobody": fault("USE-6", "`tokens.limit` is no tier's.").by(
    usageBody((body, { tokens }) =>
      setField(body, "tokens", { used: tokens.used, limit: 12_345_678, remaining: 12_345_678 - tokens.used }),
    ),
  ),
  "token-limit-of-free-keys": fault("USE-6", "`tokens.limit` of Free keys is ten times the tier's.").by(
    usageBody((body, { tokens: { used, limit } }) =>
      limit === publishedTiers.free.tokensPerMonth
        ? setField(body, "tokens", { used, limit: limit * 10, remaining: limit * 10 - used })
        : body,
    ),
  ),
  "requests-do-not-grow": fault("USE-7", "`requests.used` is always 0.").by(
    usageBody((body, { hour: { limit } }) => setField(body, "requests", { used: 0, limit, remaining: limit })),
  ),
  "usage-without-streams": fault("USE-7", "`requests.used` does not grow with streams, but `Remaining` falls.").by(
    omitFromUsage(({ endpoint }) => endpoint === "stream"),
    ["ALR-3"],
  ),
  "usage-without-errors": fault(
    "USE-7",
    "`requests.used` does not grow with requests that end in a 4xx, but `Remaining` falls.",
  ).by(
    omitFromUsage(({ status }) => status >= 400 && status < 500),
    ["ALR-3"],
  ),
  "usage-without-lists": fault("USE-7", "`requests.used` does not grow with lists, but `Remaining` falls.").by(
    omitFromUsage(({ endpoint }) => endpoint === "list"),
    ["ALR-3"],
  ),
  "tokens-do-not-grow": fault("USE-8", "`tokens.used` is always 0.").by(
    usageBody((body, { tokens: { limit } }) => setField(body, "tokens", { used: 0, limit, remaining: limit })),
  ),
  "tokens-of-streams-uncounted": fault("USE-8", "`tokens.used` does not grow by the tokens of streams.").by((base) => ({
    chargeTokens: (account, count, nowMs, endpoint) => {
      if (endpoint !== "stream") base.chargeTokens(account, count, nowMs, endpoint);
    },
  })),
  "tokens-grow-twice": fault("USE-8", "`tokens.used` grows by twice the tokens.").by(
    usageBody((body, { tokens: { used, limit } }) =>
      setField(body, "tokens", { used: used * 2, limit, remaining: Math.max(0, limit - used * 2) }),
    ),
  ),
});
