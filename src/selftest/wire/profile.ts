import { memoizeByObject } from "../../base/memoize.ts";
import type { Header } from "../../evidence/exchange.ts";
import { type Check, probesOf, type Suite } from "../../run/judge/check.ts";
import type { CoverageMatrix } from "../../run/judge/finding.ts";
import type { Need } from "../../run/plan/needs.ts";
import type { Probe, ProbeContext, TierProbeContext } from "../../run/probe.ts";
import type { Client } from "../../run/send/client.ts";
import type { SendOptions } from "../../run/send/send-guard.ts";
import { SkipError } from "../../run/skip-reason.ts";
import { headerOf } from "../mutants/edits.ts";
import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import { suites } from "../../suites/all.ts";
import { coreMessages, runUnbounded } from "../trial.ts";
import type { RequestTraits } from "./dimensions.ts";
import { startWireProxy } from "./proxy.ts";

/** The requests of a run against a correct server. `requests` lists them in the order of their responses. */
export interface RequestProfile {
  readonly requests: readonly ProfiledRequest[];
  /** Number of requests of each probe, by the probe's name and tier. */
  readonly costs: ReadonlyMap<string, number>;
}

interface ProfiledRequest {
  readonly traits: RequestTraits;
  /** Probe that sent the request, e.g. `a minute's allowance is used up | pro`; `null` for a request of discovery. */
  readonly instance: string | null;
}

/** Runs all suites through a proxy that changes nothing, and records which probe sent each request. */
export async function takeProfile(): Promise<RequestProfile> {
  const embedded = await startEmbedded();
  const requests: ProfiledRequest[] = [];
  const proxy = await startWireProxy(embedded.target, null, (traits, { headers }) => {
    requests.push({ traits, instance: headerOf(headers, probeHeader) });
  });
  try {
    const result = await runUnbounded(proxy.target, markedSuites(suites));
    if (result.kind !== "judged") throw new Error(coreMessages.reason(result.sentence));
    const red = result.judgements.filter(({ finding }) => finding.kind === "breach" || finding.kind === "error");
    if (red.length > 0) throw new Error(`red without any change: ${red.map(({ check }) => check.id).join(", ")}`);
    const byInstance = Map.groupBy(requests, ({ instance }) => instance);
    return {
      requests,
      costs: new Map([...byInstance].flatMap(([name, { length }]) => (name === null ? [] : [[name, length]]))),
    };
  } finally {
    await proxy.close();
    await embedded.close();
  }
}

/** The request header that names the probe, so that the proxy can record which probe sent the request. */
const probeHeader = "x-selftest-probe";

const probeInstance = (probe: string, tier: string | null): string => (tier === null ? probe : `${probe} | ${tier}`);

/** Replaces every probe. For one probe, `replace` must always return the same object, or the probe runs repeatedly. */
function withProbes(all: readonly Suite[], replace: (probe: Probe) => Probe): Suite[] {
  return all.map(({ title, checks }) => ({
    title,
    checks: checks.map((check) => ({
      ...check,
      on: Object.fromEntries(Object.entries(probesOf(check.on)).map(([name, probe]) => [name, replace(probe)])),
      also: check.also.map(replace),
      ...(check.companions === undefined ? {} : { companions: check.companions.map(replace) }),
      matrix: withProbeOf(check.matrix, replace),
    })),
  }));
}

function withProbeOf(matrix: CoverageMatrix | null, replace: (probe: Probe) => Probe): CoverageMatrix | null {
  const probe = matrix?.coverageProbe ?? null;
  if (matrix === null || probe === null) return matrix;
  return { ...matrix, coverageProbe: replace(probe) as NonNullable<CoverageMatrix["coverageProbe"]> };
}

function markedSuites(all: readonly Suite[]): Suite[] {
  const marked = memoizeByObject((probe: Probe): Probe => {
    const after = probe.after === undefined ? {} : { after: probe.after.map(marked) };
    const mark = <C extends ProbeContext<Need>>(context: C, tier: string | null): C => ({
      ...context,
      client: markedClient(context.client, probeInstance(probe.name, tier)),
    });
    return probe.per === "target"
      ? { ...probe, ...after, run: (context: ProbeContext<Need>) => probe.run(mark(context, null)) }
      : { ...probe, ...after, run: (context: TierProbeContext<Need>) => probe.run(mark(context, context.tested.tier)) };
  });
  return withProbes(all, marked);
}

function markedClient(client: Client, mark: string): Client {
  const withMark = (options: SendOptions = {}): SendOptions => ({
    ...options,
    headers: (): readonly Header[] => [
      ...(typeof options.headers === "function" ? options.headers() : (options.headers ?? [])),
      [probeHeader, mark],
    ],
  });
  return {
    key: client.key,
    as: (key) => markedClient(client.as(key), mark),
    begin: (onAdmitted) => markedClient(client.begin(onAdmitted), mark),
    since: (requirements) => markedClient(client.since(requirements), mark),
    send: (method, path, options) => client.send(method, path, withMark(options)),
    open: (method, path, options) => client.open(method, path, withMark(options)),
    sample: (method, path, options) => client.sample(method, path, withMark(options)),
    invoke: (agent, body, options) => client.invoke(agent, body, withMark(options)),
    stream: (agent, body, options) => client.stream(agent, body, withMark(options)),
    health: (agent, options) => client.health(agent, withMark(options)),
    bodyToSend: client.bodyToSend,
  };
}

/** Returns suites whose per-tier probes skip each tier that `isSelected` rejects. */
function selectInstances(all: readonly Suite[], isSelected: (instance: string) => boolean): Suite[] {
  const selected = memoizeByObject((probe: Probe): Probe => {
    if (probe.per === "target") return probe;
    return {
      ...probe,
      run: (context: TierProbeContext<Need>) => {
        if (isSelected(probeInstance(probe.name, context.tested.tier))) return probe.run(context);
        throw new SkipError("this tier is not selected");
      },
    };
  });
  return withProbes(all, selected);
}

const probeNameOf = (instance: string): string => instance.replace(/ \| [^|]*$/, "");

/** A selection of checks. Selections with the same name are equal, so their results can be cached. */
export interface SelectedSuites {
  readonly name: string;
  readonly suites: readonly Suite[];
}

const isReview = ({ stage }: Probe): boolean => stage === "review";

const sendingProbesOf = ({ on }: Check): Probe[] => Object.values(probesOf(on)).filter((probe) => !isReview(probe));

const probes: ReadonlyMap<string, Probe> = new Map(
  suites
    .flatMap(({ checks }) => checks)
    .flatMap(({ on, also, companions = [], matrix }) => [
      ...Object.values(probesOf(on)),
      ...also,
      ...companions,
      ...(matrix?.coverageProbe ? [matrix.coverageProbe] : []),
    ])
    .flatMap(withPreparation)
    .map((probe) => [probe.name, probe]),
);

function withPreparation(probe: Probe): Probe[] {
  return [...(probe.after ?? []).flatMap(withPreparation), probe];
}

/**
 * Selects the checks whose probes are all in `instances`. Probes of the stage `review` do not count, because they send
 * nothing.
 */
function selectByProbes(instances: readonly string[]): SelectedSuites {
  const chosen = new Set(instances.map(probeNameOf));
  const companions = [...chosen].flatMap((name) => probes.get(name) ?? []);
  return {
    name: `only ${instances.toSorted().join(", ")}`,
    suites: selectInstances(
      selectChecks(
        (check) => sendingProbesOf(check).every(({ name }) => chosen.has(name)),
        companions,
        (probe) => chosen.has(probe.name),
      ),
      (instance) => instances.includes(instance),
    ),
  };
}

const exhaustsTier = (instance: string): boolean => /^an? (hour|minute)'s allowance/.test(instance);

/** Selects all checks. Of the probes that use up a tier's limit, runs only those in `instances`. */
const selectAlmostAll = (instances: readonly string[]): SelectedSuites => ({
  name: `all, with ${instances.filter(exhaustsTier).toSorted().join(", ")}`,
  suites: selectInstances(suites, (instance) => instances.includes(instance) || !exhaustsTier(instance)),
});

const allChecks: SelectedSuites = { name: "everything", suites };

function selectChecks(
  isWanted: (check: Check) => boolean,
  companions: readonly Probe[],
  hasProbe: (probe: Probe) => boolean,
): Suite[] {
  return suites
    .map(({ title, checks }) => ({
      title,
      checks: checks.filter(isWanted).map((check) => ({
        ...check,
        also: check.also.filter(hasProbe),
        companions,
        matrix:
          check.matrix?.coverageProbe && !hasProbe(check.matrix.coverageProbe)
            ? { ...check.matrix, coverageProbe: null }
            : check.matrix,
      })),
    }))
    .filter(({ checks }) => checks.length > 0);
}

const sortByCost = (instances: readonly string[], { costs }: RequestProfile): string[] =>
  instances.toSorted((one, other) => (costs.get(one) ?? 0) - (costs.get(other) ?? 0));

const maxProbesInFirstTry = 3;

/**
 * Returns the check selections to try, cheapest first. `instances` lists the probes that send a request affected by the
 * mutant.
 */
export function selectionsFor(instances: readonly string[], profile: RequestProfile): SelectedSuites[] {
  const sorted = sortByCost(instances, profile);
  const light = sorted.filter((each) => !exhaustsTier(each));
  const heavy = sorted.filter(exhaustsTier);
  return [
    selectByProbes(light.length > 0 ? light.slice(0, maxProbesInFirstTry) : heavy.slice(0, 1)),
    ...(light.length > 0 || heavy.length === 0 ? [selectAlmostAll([])] : []),
    ...(heavy.length > 0 ? [selectAlmostAll(heavy)] : []),
    allChecks,
  ];
}

/**
 * Selects all checks, but no probe that uses up a tier's limit. If only such probes trigger the mutant, includes the
 * cheapest of these probes.
 */
export function legalSelectionFor(instances: readonly string[], profile: RequestProfile): SelectedSuites {
  const heavy = instances.filter(exhaustsTier);
  return selectAlmostAll(instances.length > heavy.length ? [] : sortByCost(heavy, profile).slice(0, 1));
}
