import type { Clause, ClauseTable, Level, Party } from "./clause.ts";
import { alertClauses, keyClauses, usageClauses, webhookClauses, deliveryClauses } from "./clauses/accounts.ts";
import { authenticationClauses, errorClauses, limitClauses } from "./clauses/access.ts";
import { configurationClauses, serviceClauses, requestClauses, versioningClauses } from "./clauses/service.ts";
import { clientClauses, receiverClauses } from "./clauses/client-and-receiver.ts";
import { healthClauses, invokeClauses, listingClauses, operationClauses, streamClauses } from "./clauses/agents.ts";
import { headerClauses } from "./headers.ts";

export const clauses = {
  ...serviceClauses,
  ...configurationClauses,
  ...requestClauses,
  ...invokeClauses,
  ...streamClauses,
  ...healthClauses,
  ...listingClauses,
  ...usageClauses,
  ...webhookClauses,
  ...deliveryClauses,
  ...receiverClauses,
  ...clientClauses,
  ...alertClauses,
  ...keyClauses,
  ...operationClauses,
  ...authenticationClauses,
  ...errorClauses,
  ...headerClauses,
  ...limitClauses,
  ...versioningClauses,
} as const satisfies ClauseTable;

type Clauses = typeof clauses;

export type ClauseId = keyof Clauses;

/** Ids of the clauses that checks judge. The types refuse a check on any other clause. */
export type JudgedId = {
  [K in ClauseId]: Clauses[K] extends { untestable: string } ? never : Clauses[K]["level"] extends "gap" ? never : K;
}[ClauseId];

/** Ids of clauses with the level `gap`: questions that the document leaves open and that a run can observe. */
export type GapId = {
  [K in ClauseId]: Clauses[K] extends { untestable: string } ? never : Clauses[K]["level"] extends "gap" ? K : never;
}[ClauseId];

export type ReadingOf<K extends ClauseId> = Clauses[K] extends { readings: infer R } ? keyof R & string : never;

export const clauseIds = Object.keys(clauses) as ClauseId[];

export const isClauseId = (id: string): id is ClauseId => Object.hasOwn(clauses, id);

export const clauseOf = (id: ClauseId): Clause => clauses[id];

export const clausesOfParty = (party: Party): readonly ClauseId[] =>
  clauseIds.filter((id) => clauseOf(id).party === party);

export const levels = ["must", "should", "advisory", "gap", "policy"] as const satisfies readonly Level[];
