import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { hasFewRequests, mainKey } from "../../run/plan/needs.ts";
import { probe } from "../../run/probe.ts";
import { inclusionOfThisMachine } from "../../target/source-address.ts";
import type { Target, TargetKey } from "../../target/target.ts";
import { isKeyLifetimeOver } from "../keys/probes.ts";
import { operationStartTried } from "../keys/operation-start.ts";
import { hasNonJsonBody, isInconclusive, isSuccess, outcomeOf } from "../shared/response.ts";
import {
  fillAgentId,
  type HandleClause,
  operationHandleClauses,
  handleOf,
  operationHandleRules,
  isHandle,
  pollToEnd,
  pollWaits,
  startedId,
} from "./probes.ts";

// Tests operations started with other keys than the main key, e.g. keys for certain agents or expiring keys.

const since = "1.2";

/** Maximum number of keys to test, one of each kind (e.g. one expiring key). Each key costs one or two executions. */
const maxKinds = 3;

interface Start {
  readonly key: TargetKey;
  readonly agent: string;
  readonly path: string;
  readonly json: object;
}

interface OperationsStarted {
  readonly started: readonly Exchange[];
}

const startedByOtherKeys = probe(
  "keys of other kinds than the main key start operations on agents that they may use",
  {
    needs: ["paths.start", "agents.answering"],
    requests: 0,
    executions: (target) => startsOf(target).length,
    waits: pollWaits,
    stage: "coverage",
    creates: { operations: maxKinds + 1 },
    createsFew: {},
    since,
  },
  async ({ client, target, time }): Promise<OperationsStarted> => {
    const started: { readonly key: TargetKey; readonly exchange: Exchange }[] = [];
    for (const { key, agent, path, json } of startsOf(target)) {
      if (key.expiresInSeconds !== null && isKeyLifetimeOver(key, time)) continue;
      const options = { json, unpaced: target.clock === null };
      started.push({ key, exchange: await client.as(key).send("POST", fillAgentId(path, agent), options) });
    }
    // Polls each operation, so that its executions usually end before the next probe counts executions.
    for (const { key, exchange } of started) {
      const id = startedId(exchange);
      if (id !== null) await pollToEnd(client.as(key), id, time);
    }
    return { started: started.map(({ exchange }) => exchange) };
  },
);

function startsOf(target: Target): Start[] {
  const { answering } = target.agents;
  const { batch, operation } = target.paths;
  if (answering === undefined || hasFewRequests(target)) return [];
  const entry = { query: "Hello." };
  const paths = [
    ...(operation === null ? [] : [{ path: operation, json: entry }]),
    ...(batch === null ? [] : [{ path: batch, json: { batch: [entry] } }]),
  ];
  return keysOfOtherKinds(target).flatMap((key, at) => {
    const agent = key.agents?.includes(answering) === false ? (key.agents[0] ?? answering) : answering;
    return paths.slice(0, at === 0 ? paths.length : 1).map((start) => ({ key, agent, ...start }));
  });
}

/** Returns at most `maxKinds` usable keys, one of each kind, not the main key. Keys for certain agents come first. */
function keysOfOtherKinds(target: Target): TargetKey[] {
  const main = mainKey(target);
  const usable = Object.values(target.keys).filter((key) => key.key !== main?.key && mayStart(key));
  const byKind = Map.groupBy(usable, kindOf);
  return [...byKind]
    .toSorted(([one], [other]) => other.localeCompare(one))
    .flatMap(([, [key]]) => key ?? [])
    .slice(0, maxKinds);
}

function mayStart({ expired, scope, allowedIps, nearQuota, tokensPerMonth }: TargetKey): boolean {
  const isFromHere = allowedIps === null || inclusionOfThisMachine(allowedIps) === "included";
  return !expired && scope === null && isFromHere && !nearQuota && tokensPerMonth === null;
}

const kindOf = ({ agents, allowedIps, expiresInSeconds }: TargetKey): string =>
  [agents, allowedIps, expiresInSeconds].map((each) => Number(each !== null)).join("");

function judgeHandles(clause: HandleClause, exchanges: readonly Exchange[]): Finding<never> {
  const handles = exchanges.filter((each) => isSuccess(each) && isHandle(each) && !hasNonJsonBody(each));
  for (const exchange of handles) {
    const mismatch = operationHandleRules[clause](handleOf(exchange), exchange);
    if (mismatch !== null && mismatch !== undefined) return breach(mismatch.expected, mismatch.actual, exchange);
  }
  if (handles.length > 0) return holds();
  const limited = exchanges.find(isInconclusive);
  return limited === undefined
    ? inapplicable("no key of another kind started an operation")
    : unproven(`no other key started an operation (${outcomeOf(limited)})`);
}

export const otherKeyChecks: readonly Check[] = operationHandleClauses.map((clause) =>
  check(
    clause,
    { others: startedByOtherKeys, tries: operationStartTried },
    ({ others, tries }) => {
      // The document does not say whether a read-only key may start an operation. Therefore, refusals are left out.
      const byReader = tries.tried.filter(({ kind }) => kind === "a read-only key").map(({ exchange }) => exchange);
      return judgeHandles(clause, [...others.started, ...byReader.filter(isSuccess)]);
    },
    { as: "other keys", since },
  ),
);
