import type { Exchange } from "../../evidence/exchange.ts";
import { check, observe, suite } from "../../run/check.ts";
import { breach, holds, observed, unproven } from "../../run/finding.ts";
import { type Member, universal } from "../../run/universal.ts";
import { type AnswerSeen, answersSeen } from "../answers/field-checks.ts";
import { universeOf } from "../answers/universes.ts";
import { wrongField } from "../answers/fields.ts";
import { everything } from "../answers/recorded.ts";
import { codeOf } from "../answers/refusal.ts";
import { hasStatus, isSuccess, member, outcomeOf, typeName } from "../answers/shape.ts";
import { isObject } from "../../base/json.ts";
import { firstPageListed, listedBeyond, listedByDefault, pageLimit, secondPageListed } from "./probes.ts";
import { listingOf, pageOf, pagesOf } from "./pages.ts";
import { noPage, pagingChecks } from "./paging.ts";

/** The two fields of a listing, wherever a published shape holds them. */
function rootOf(exchange: Exchange): unknown {
  const { agents, pagination } = listingOf(exchange);
  return { data: agents, pagination };
}

/** Whether a page was asked for that lies past the end, or has no room: what comes then is not stated. */
function isBeyond({ exchange }: AnswerSeen, pages: readonly Member<AnswerSeen>[]): boolean {
  const asked = new URL(exchange.request.url).searchParams;
  const [page, limit] = ["page", "limit"].map((name) => (asked.has(name) ? Number(asked.get(name)) : null));
  if ((page !== null && !(Number(page) >= 1)) || (limit !== null && !(Number(limit) >= 1))) return true;
  if (page === null || limit === null || page === undefined || limit === undefined || page === 1) return false;
  const totals = pages.map(({ subject }) => member(subject.root, "pagination", "total"));
  return totals.some((total) => typeof total === "number" && (page - 1) * limit >= total);
}

export const listing = suite("List agents", [
  check("LST-1", firstPageListed, ({ first }) => {
    if (hasStatus(first, 429)) return unproven("a limit refused the request (429)");
    return hasStatus(first, 200) ? holds() : breach("200", outcomeOf(first), first);
  }),
  ...(["LST-2", "LST-3"] as const).map((clause) =>
    universal(
      clause,
      { all: everything, firstPageListed },
      {
        universe: universeOf("list"),
        members: ({ all }) => {
          const pages = answersSeen("list", all, isSuccess, rootOf);
          return pages.filter(({ subject }) => !isBeyond(subject, pages));
        },
        say: ({ root }) => wrongField("list", clause, root),
        none: ({ firstPageListed: { first } }) =>
          isSuccess(first)
            ? unproven("the answer is no JSON")
            : unproven(`the list did not come (${outcomeOf(first)})`),
      },
    ),
  ),
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
