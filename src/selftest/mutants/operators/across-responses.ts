import { getPath } from "../../../base/json.ts";
import { bodyJson } from "../../../evidence/exchange.ts";
import type { ClauseId } from "../../../spec/clauses.ts";
import type { EndpointName } from "../../../spec/endpoints.ts";
import { headerNames } from "../../../spec/headers.ts";
import type { CleanRun } from "../clean-run.ts";
import { changedAt, headerOf, type Steps, stepsOf, valueAt, withHeader, withJson } from "../edits.ts";
import { inPlaceOf, type Mutant } from "../mutant.ts";
import { type MutationSite, mutationSites } from "../mutation-sites.ts";

/** What is done to one field of all answers of an endpoint: each is sound by itself. */
interface FieldAcross {
  readonly operator: string;
  readonly endpoint: EndpointName;
  readonly path: string;
  readonly expects: readonly ClauseId[];
  /** @param values of the answers in which the field stands, in order; `null` where they show nothing */
  readonly to: (values: readonly unknown[]) => readonly unknown[] | null;
}

const allAsTheFirst = (values: readonly unknown[]): readonly unknown[] | null =>
  new Set(values).size < 2 ? null : values.map(() => values[0]);
const allBut = (first: (value: unknown) => unknown) => (values: readonly unknown[]) =>
  values.length < 2 ? null : [first(values[0]), ...values.slice(1)];

const fieldsAcross: readonly FieldAcross[] = [
  {
    operator: "one id for all requests",
    endpoint: "invoke",
    path: "metadata.request_id",
    expects: ["INV-8"],
    to: allAsTheFirst,
  },
  {
    operator: "a version that health does not tell",
    endpoint: "invoke",
    path: "metadata.agent_version",
    expects: ["VER-4"],
    to: (values) => values.map(() => "99.9.9"),
  },
  {
    operator: "a version that one invoke alone tells",
    endpoint: "invoke",
    path: "metadata.agent_version",
    expects: ["VER-4"],
    to: allBut(() => "99.9.9"),
  },
  {
    operator: "one time for all reports",
    endpoint: "health",
    path: "uptime",
    expects: ["HLT-22"],
    to: allAsTheFirst,
  },
  {
    operator: "one period that is none for all",
    endpoint: "usage",
    path: "period",
    expects: ["USE-2"],
    to: (values) => values.map(() => "this month"),
  },
  {
    operator: "one page for all that is asked",
    endpoint: "list",
    path: "pagination.page",
    expects: ["LST-4"],
    to: (values) => values.map(() => 1),
  },
];

/** Where a field stands in the answers of an endpoint that succeeded for a good key. */
function bearersOf(places: readonly MutationSite[], { endpoint, path }: Pick<FieldAcross, "endpoint" | "path">) {
  const sound = places.filter((each) => each.endpoint === endpoint && each.status === 200 && each.hasValidKey);
  return sound.flatMap((place): { readonly place: MutationSite; readonly body: unknown; readonly steps: Steps }[] => {
    const body = bodyJson(place.exchange);
    return stepsOf(body, path)
      .slice(0, 1)
      .map((steps) => ({ place, body, steps }));
  });
}

function fieldMutant(places: readonly MutationSite[], row: FieldAcross): Mutant[] {
  const bearers = bearersOf(places, row);
  const [first] = bearers;
  const values = row.to(bearers.map(({ body, steps }) => valueAt(body, steps)));
  if (first === undefined || values === null) return [];
  return [
    {
      kind: "wrong",
      operator: row.operator,
      place: `several of ${row.endpoint}`,
      subject: row.path,
      id: first.place.exchange.id,
      expects: row.expects,
      make: () =>
        inPlaceOf(
          ...bearers.map(({ place, body, steps }, at) => withJson(place.exchange, changedAt(body, steps, values[at]))),
        ),
    },
  ];
}

/** What is done to one header of all answers to a good key. */
const headersAcross: readonly (readonly [string, header: string, expects: readonly ClauseId[], to: string])[] = [
  ["one count for all", headerNames.rateRemaining, ["HDR-12", "HDR-13", "HDR-17"], "7"],
  ["one wait for all", headerNames.rateResetAfter, ["HDR-14", "HDR-15"], "31"],
  ["one limit of no tier for all", headerNames.rateLimit, ["HDR-10"], "317"],
];

function headerMutant(
  places: readonly MutationSite[],
  [operator, header, expects, to]: (typeof headersAcross)[number],
): Mutant[] {
  const bearers = places.filter(
    ({ hasValidKey, exchange }) => hasValidKey && headerOf(exchange.answer.headers, header) !== null,
  );
  const [first] = bearers;
  if (first === undefined) return [];
  return [
    {
      kind: "wrong",
      operator,
      place: "several of all endpoints",
      subject: header,
      id: first.exchange.id,
      expects,
      make: () => inPlaceOf(...bearers.map(({ exchange }) => withHeader(exchange, header, () => [to]))),
    },
  ];
}

/** The second page with the agents of the first. */
function repeatedPage(places: readonly MutationSite[]): Mutant[] {
  const pageOf = (page: number) =>
    places.find(({ exchange: { request } }) => new RegExp(`/agents\\?page=${page}&limit=2$`).test(request.url));
  const [first, second] = [pageOf(1), pageOf(2)];
  if (first === undefined || second === undefined) return [];
  const agents: unknown = getPath(bodyJson(first.exchange), "data");
  if (!Array.isArray(agents)) return [];
  return [
    {
      kind: "wrong",
      operator: "the first page again",
      place: "several of list",
      subject: "data",
      id: second.exchange.id,
      expects: ["LST-7"],
      make: () => inPlaceOf(withJson(second.exchange, changedAt(bodyJson(second.exchange), ["data"], agents))),
    },
  ];
}

/** Mutants of several answers, of which each is sound by itself. */
export function answersMutants(run: CleanRun): Mutant[] {
  const places = mutationSites(run);
  return [
    ...fieldsAcross.flatMap((row) => fieldMutant(places, row)),
    ...headersAcross.flatMap((row) => headerMutant(places, row)),
    ...repeatedPage(places),
  ];
}
