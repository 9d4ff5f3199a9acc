import { once } from "node:events";
import { availableParallelism } from "node:os";
import { startWorker } from "../../base/spawn-module.ts";
import { seededRandom, shuffled } from "../../base/numbers.ts";
import { patchNamed } from "../../reference/catalogue.ts";
import type { Patch } from "../../reference/patch.ts";
import { type CleanRun, mapEvidence, type Mutant } from "./mutant.ts";
import { judgeCleanRun, type MutantTrial, tryLegalMutants, tryMutant } from "./judge-mutants.ts";
import {
  bodyMessage,
  deliveryMessage,
  eventMessages,
  type MutableMessage,
  type MutationSite,
  mutationSites,
  representativeIds,
} from "./messages.ts";
import { crossDeliveryMutants, crossResponseMutants } from "./operators/across.ts";
import {
  bodyMutants,
  contentTypeMutants,
  errorMutants,
  headerSpellingMutants,
  jsonStyleMutants,
  rateHeaderMutants,
} from "./operators/responses.ts";
import { deliveriesToMutate, deliveryMutants } from "./operators/deliveries.ts";
import { fieldMutants, unknownFieldMutants } from "./operators/fields.ts";
import { streamMutants } from "./operators/streams.ts";
import { isObject } from "../../base/json.ts";
import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import { probesOf } from "../../run/judge/check.ts";
import { isExchange, resultsByProbe } from "../../run/judge/judge-evidence.ts";
import { suites } from "../../suites/all.ts";
import { type Target, usableKeys } from "../../target/target.ts";
import { coreMessages, runUnbounded, withSmallTiers } from "../trial.ts";

export async function cleanRunWith(source: string, variants: readonly Patch[]): Promise<CleanRun> {
  const embedded = await startEmbedded(variants);
  try {
    return await cleanRunOf(source, withSmallTiers(embedded.target));
  } finally {
    await embedded.close();
  }
}

/**
 * Runs the suites against a correct server.
 *
 * @throws {Error} if nothing could be judged
 */
export async function cleanRunOf(source: string, target: Target): Promise<CleanRun> {
  const result = await runUnbounded(target, suites, { maxWaitMs: 2000 });
  if (result.kind !== "judged") throw new Error(`${source}: ${coreMessages.reason(result.sentence)}`);
  return reducedRun({
    source,
    results: resultsByProbe(result.runs),
    exchanges: result.exchanges,
    deliveries: result.deliveries,
    validKeys: usableKeys(target).map(({ name }) => name),
    paths: target.paths,
  });
}

/** Drops similar responses from the evidence of probes that read the whole run, so that mutants are judged faster. */
function reducedRun(run: CleanRun): CleanRun {
  const kept = representativeIds(run);
  const isDropped = (value: unknown): boolean =>
    typeof value === "object" && value !== null && isExchange(value) && !kept.has(value.id);
  const slim = (value: unknown): unknown =>
    isObject(value)
      ? Object.fromEntries(
          Object.entries(value).map(([name, each]) => [
            name,
            Array.isArray(each) ? each.filter((item) => !isDropped(item)) : each,
          ]),
        )
      : value;
  const results = mapEvidence(run.results, wholeRunProbes, slim);
  return { ...run, results, exchanges: run.exchanges.filter(({ id }) => kept.has(id)) };
}

/** Names of the probes of stage `review`, which read the exchanges of the whole run. */
const wholeRunProbes: ReadonlySet<string> = new Set(
  suites.flatMap(({ checks }) =>
    checks.flatMap(({ on }) =>
      Object.values(probesOf(on)).flatMap(({ name, stage }) => (stage === "review" ? [name] : [])),
    ),
  ),
);

interface MutantSelection {
  readonly sample: number | null;
  readonly seed: number;
}

export interface MutantsShare extends MutantSelection {
  readonly runs: readonly CleanRun[];
  readonly share: number;
  readonly of: number;
}

/** Runs the suites against several correct servers. Then tries the mutants, in one worker thread per core. */
export async function runMutants(selection: MutantSelection): Promise<MutantTrial[]> {
  const runs = await Promise.all(cleanServers.map((source) => cleanRunWith(source.name, variantsOf(source))));
  const of = Math.max(1, availableParallelism());
  const shares = Array.from({ length: of }, (_, share) => inWorker({ ...selection, runs, share, of }));
  return (await Promise.all(shares)).flat();
}

async function inWorker(share: MutantsShare): Promise<MutantTrial[]> {
  const worker = startWorker(import.meta.url, "mutants-worker", { workerData: share });
  try {
    const [trials] = (await once(worker, "message")) as [MutantTrial[]];
    return trials;
  } finally {
    await worker.terminate();
  }
}

/**
 * One in this many illegal mutants is always judged by all checks. This finds clauses that fail although the mutant
 * should not break them.
 */
const fullyJudgedInterval = 20;

export function tryMutants({ runs, sample, seed, share, of }: MutantsShare): MutantTrial[] {
  let left = sample;
  return runs.flatMap((run, at) => {
    // Divides the rest of the sample equally among the remaining runs. If a run has too few, later runs get more.
    const max = left === null ? null : Math.ceil(left / (runs.length - at));
    const selection = selectMutants(run, { sample: max, seed });
    if (left !== null) left -= selection.length;
    const clean = judgeCleanRun(run);
    const own = selection.filter((_, index) => index % of === share);
    return [
      ...own
        .filter(({ kind }) => kind === "illegal")
        .map((each, index) => tryMutant(clean, each, index % fullyJudgedInterval === 0)),
      ...tryLegalMutants(
        clean,
        own.filter(({ kind }) => kind === "legal"),
      ),
    ];
  });
}

function selectMutants(run: CleanRun, { sample, seed }: MutantSelection): readonly Mutant[] {
  const source = cleanServers.find(({ name }) => name === run.source);
  const all = mutantsOf(run).filter((mutant) => source === undefined || source.isNew(mutant));
  return sample === null ? all : drawSample(all, sample, seed);
}

/** A correct server: the reference server, alone or with variants. Mutants change the evidence of its run. */
interface CleanServer {
  readonly name: string;
  readonly variants: readonly string[];
  /** Whether to try a mutant on this server. `false` if the server without variants gives the same mutant. */
  readonly isNew: (mutant: Mutant) => boolean;
}

/**
 * Whether the mutant changes an error response: the body, `X-RateLimit-Limit`, or a field such as `error.code`. The
 * variants of the server `form B` mainly affect errors.
 */
const changesError = ({ place, subject }: Mutant): boolean =>
  / (4\d\d|500)/.test(place) && /^(error|status|the body|X-RateLimit-Limit)/.test(subject);

const changesEnvelope = ({ place, subject }: Mutant): boolean =>
  /^(list|usage|keyUsage|batch|other paths) 20\d/.test(place) && !/^(X-|Content-Type|headers)/.test(subject);

/**
 * The selftest makes mutants from the evidence of these correct servers. The reference server without variants gives
 * the most mutants. It comes last, so that it gives as many as the sample still needs.
 */
const cleanServers: readonly CleanServer[] = [
  {
    name: "form B",
    variants: ["form-b", "headers-of-minute", "code-rate-limited", "index-from-1"],
    isNew: changesError,
  },
  {
    name: "envelopes",
    variants: [
      "list-envelope",
      "usage-envelope-result",
      "key-usage-envelope",
      "metrics-in-envelope",
      "handle-envelope",
    ],
    isNew: changesEnvelope,
  },
  { name: "reference", variants: [], isNew: () => true },
];

const variantsOf = ({ variants }: CleanServer): Patch[] =>
  variants.map((name) => patchNamed({ kind: "variant", name }));

/** Draws a sample of up to `max` items, and keeps their order. The same seed draws the same items. */
export function drawSample<T>(items: readonly T[], max: number, seed: number): readonly T[] {
  if (items.length <= max) return items;
  const chosen = new Set(shuffled([...items.keys()], seededRandom(seed)).slice(0, max));
  return items.filter((_, at) => chosen.has(at));
}

export const mutantsOf = (run: CleanRun): Mutant[] => [
  ...crossResponseMutants(run),
  ...crossDeliveryMutants(run),
  ...mutationSites(run).flatMap(responseMutants),
  ...deliveriesToMutate(run).flatMap((delivery) => {
    const message = deliveryMessage(delivery);
    return [...(message === null ? [] : messageMutants(message)), ...deliveryMutants(delivery, run)];
  }),
];

function responseMutants(site: MutationSite): Mutant[] {
  const body = bodyMessage(site);
  return [
    ...rateHeaderMutants(site),
    ...headerSpellingMutants(site),
    ...contentTypeMutants(site),
    ...(body === null ? [] : [...messageMutants(body), ...bodyMutants(site)]),
    ...eventMessages(site).flatMap(messageMutants),
    ...streamMutants(site),
    ...errorMutants(site),
  ];
}

const messageMutants = (message: MutableMessage): Mutant[] => [
  ...fieldMutants(message),
  ...unknownFieldMutants(message),
  ...jsonStyleMutants(message),
];
