import { getPath } from "../../../base/json.ts";
import { bodyJson } from "../../../evidence/exchange.ts";
import type { ClauseId } from "../../../spec/clauses.ts";
import { errorCodes } from "../../../spec/errors.ts";
import { answeredWith, changedAt, withJson } from "../edits.ts";
import { inPlaceOf, type Mutant } from "../mutant.ts";
import type { MutationSite } from "../mutation-sites.ts";

/** A code that the document gives to another status. */
const strangeCode = (status: number): string => (status === 404 ? "INVALID_API_KEY" : "AGENT_NOT_FOUND");

/** A status that the document does not have, or has for other codes. */
const strangeStatuses = [402, 409, 418, 200] as const;

const statusOfCode = (code: unknown): unknown => {
  const known: Readonly<Record<string, { readonly status: unknown }>> = errorCodes;
  return typeof code === "string" && Object.hasOwn(errorCodes, code) ? known[code]?.status : undefined;
};

/** Ways to spoil what an error says it is: its code, its words, and its status. */
export function errorMutants({ exchange, endpoint, status, name }: MutationSite): Mutant[] {
  const body = bodyJson(exchange);
  const code = getPath(body, "error", "code");
  if (endpoint === null || status < 400 || statusOfCode(code) !== status) return [];
  const saying = (operator: string, field: "code" | "message", to: string, expects: readonly ClauseId[]): Mutant => ({
    kind: "wrong",
    operator,
    place: name,
    subject: `error.${field}`,
    id: exchange.id,
    expects,
    make: () => inPlaceOf(withJson(exchange, changedAt(body, ["error", field], to))),
  });
  return [
    saying("a code of another status", "code", strangeCode(status), ["ERR-10", "ERR-9"]),
    saying("an empty text", "code", "", ["ERR-5"]),
    saying("an empty text", "message", "", ["ERR-5"]),
    ...strangeStatuses.map((other): Mutant => {
      const told = getPath(body, "error", "status") === undefined ? body : changedAt(body, ["error", "status"], other);
      return {
        kind: "wrong",
        operator: "a status that is not the code's",
        place: name,
        subject: "the status",
        id: exchange.id,
        expects: ["ERR-1", "ERR-10", "INV-2", "SVC-2"],
        make: () => inPlaceOf(answeredWith(withJson(exchange, told), { status: other })),
      };
    }),
  ];
}
