import type { ClauseId } from "../spec/clauses.ts";
import { rateLimitHeaders } from "../spec/headers.ts";
import type { TierLimits } from "../spec/tiers.ts";
import { type ErrorBodyInput, type ErrorCause, formB, standardErrors } from "./behaviour/errors.ts";
import { type AccessRequest, type Credentials, standardAuthentication } from "./behaviour/authentication.ts";
import { type ResponseHead, standardTransport } from "./behaviour/transport.ts";
import type { Endpoint } from "./endpoint.ts";
import { editField, removeField, renameField, setField } from "./json-edit.ts";
import type { IssuedKey, KeyRing, KeyTraits, ReferenceKey } from "./keys.ts";
import { type Limiter, type WindowName, windowsOf } from "./limits/windows.ts";
import { standardWebhooks } from "./behaviour/webhooks.ts";
import { standardAlerts } from "./behaviour/alerts.ts";
import { standardDetails, standardHealthListUsage } from "./behaviour/health-list-usage.ts";
import { standardBatches } from "./behaviour/batches.ts";
import { standardDeliveries } from "./behaviour/deliveries.ts";
import { standardInvoke, standardStream } from "./behaviour/execution.ts";
import { standardLimits } from "./behaviour/limits.ts";

/**
 * The reference server's standard behaviour: a function for each decision, such as the status of an error. Faults and
 * variants replace single functions.
 */
export const standardBehaviour = {
  ...standardDeliveries,
  ...standardWebhooks,
  ...standardAlerts,
  ...standardTransport,
  ...standardAuthentication,
  ...standardErrors,
  ...standardLimits,
  ...standardInvoke,
  ...standardStream,
  ...standardHealthListUsage,
  ...standardBatches,
  ...standardDetails,
};

export type Behaviour = typeof standardBehaviour;

export type Override = (base: Behaviour) => Partial<Behaviour>;

/** A named change of the reference server's behaviour: a fault or a variant. */
export interface Patch {
  readonly name: string;
  readonly kind: "fault" | "variant";
  readonly section: string;
  readonly summary: string;
  /** The clauses that the patch breaks. A variant breaks only advisory clauses. */
  readonly breaks: readonly ClauseId[];
  /** Clauses that the patch breaks in some runs only. */
  readonly mayAlsoBreak: readonly ClauseId[];
  /** `suites`: a run of the suites detects the fault. `load`: only a load run detects it. Variants have `suites`. */
  readonly detectedBy: "suites" | "load";
  readonly override: Override;
}

/** Applies patches to the standard behaviour, in order. Each patch gets the result of the patches before it. */
export function applyPatches(patches: readonly Patch[]): Behaviour {
  return patches.reduce<Behaviour>((base, { override }) => ({ ...base, ...override(base) }), standardBehaviour);
}

type FaultRow = Pick<Patch, "breaks" | "summary" | "override" | "mayAlsoBreak">;
type VariantRow = Omit<FaultRow, "mayAlsoBreak">;

export const fault = (breaks: ClauseId | readonly ClauseId[], summary: string) => ({
  by: (override: Override, mayAlsoBreak: readonly ClauseId[] = []): FaultRow => {
    return { breaks: typeof breaks === "string" ? [breaks] : breaks, summary, override, mayAlsoBreak };
  },
});

/** Declares a variant. `notes`: advisory clauses that the variant does not follow. */
export const variant = (summary: string) => ({
  by: (override: Override, notes: readonly ClauseId[] = []): VariantRow => ({ breaks: notes, summary, override }),
});

export function faults(
  section: string,
  rows: Readonly<Record<string, FaultRow>>,
  detectedBy: Patch["detectedBy"] = "suites",
): readonly Patch[] {
  return Object.entries(rows).map(([name, row]) => ({ ...row, name, kind: "fault", section, detectedBy }));
}

export function variants(section: string, rows: Readonly<Record<string, VariantRow>>): readonly Patch[] {
  return Object.entries(rows).map(([name, row]) => {
    return { ...row, name, kind: "variant", section, mayAlsoBreak: [], detectedBy: "suites" };
  });
}

type Arguments<D extends keyof Behaviour> = Parameters<Behaviour[D]>;
type Result<D extends keyof Behaviour> = ReturnType<Behaviour[D]>;
type Decide<D extends keyof Behaviour> = (...args: Arguments<D>) => Result<D>;

export const always =
  <D extends keyof Behaviour>(decision: D, value: Result<D>): Override =>
  () => ({ [decision]: () => value });

/**
 * `overrideResult(decision)(edit)` creates an override that edits the result of the behaviour function `decision`.
 * `edit` gets the result and the arguments of each call.
 */
export const overrideResult =
  <D extends keyof Behaviour>(decision: D) =>
  (edit: (result: Result<D>, ...args: Arguments<D>) => Result<D>): Override =>
  (base) => {
    const decide = base[decision] as Decide<D>;
    return { [decision]: (...args: Arguments<D>) => edit(decide(...args), ...args) };
  };

/** Like `overrideResult`, but `edit` also gets the number of the call of `decision`, from 1. */
export const overrideByCount =
  <D extends keyof Behaviour>(decision: D) =>
  (edit: (result: Result<D>, count: number, ...args: Arguments<D>) => Result<D>): Override =>
  (base) => {
    let count = 0;
    return overrideResult(decision)((result, ...args) => edit(result, (count += 1), ...args))(base);
  };

/**
 * Creates an override whose functions can call `last()`. It returns the arguments of the latest call of the behaviour
 * function `decision`.
 */
export const withLast =
  <D extends keyof Behaviour>(decision: D, change: (last: () => Arguments<D> | undefined) => Override): Override =>
  (base) => {
    let last: Arguments<D> | undefined;
    const changes = change(() => last)(base);
    const decide = (changes[decision] ?? base[decision]) as Decide<D>;
    const remember = (...args: Arguments<D>) => {
      last = args;
      return decide(...args);
    };
    return { ...changes, [decision]: remember };
  };

/** Creates an override whose functions can call `path()`, which returns the path and query of the latest request. */
export const withPath = (change: (path: () => string) => Override): Override =>
  withLast("servedPath", (last) => change(() => last()?.[0] ?? ""));

type JsonDecision = {
  [D in keyof Behaviour]: unknown extends Result<D> ? D : never;
}[keyof Behaviour];

/**
 * Returns functions that create overrides of the JSON value which the behaviour function `decision` returns, e.g.
 * `overrideJson("listBody").remove("data")`. `when` limits these functions to some calls.
 */
export function overrideJson<D extends JsonDecision>(decision: D) {
  const edit = overrideResult(decision);
  const when = (matches: (...args: Arguments<D>) => boolean) =>
    fieldEdits((change) => edit((value, ...args) => (matches(...args) ? (change(value) as Result<D>) : value)));
  return Object.assign(edit, { ...when(() => true), when });
}

function fieldEdits(edit: (change: (value: unknown) => unknown) => Override) {
  return {
    set: (path: string, to: unknown) => edit((value) => setField(value, path, to)),
    change: (path: string, change: (old: unknown) => unknown) => edit((value) => editField(value, path, change)),
    remove: (...paths: readonly string[]) => edit((value) => paths.reduce<unknown>(removeField, value)),
    rename: (from: string, to: string) => edit((value) => renameField(value, from, to)),
  };
}

/** Replaces the status of an endpoint's successful responses. For example, `every = 3` changes each third response. */
export const overrideSuccessStatus =
  (endpoint: Endpoint, status: number, every = 1): Override =>
  (base) => {
    let count = 0;
    const isDue = (called: Endpoint) => called === endpoint && (count += 1) % every === 0;
    return overrideResult("successStatus")((given, called) => (isDue(called) ? status : given))(base);
  };

export const overrideErrorStatus = (causes: readonly ErrorCause[], status: number, on?: Endpoint): Override =>
  overrideResult("errorStatus")((given, cause, endpoint) =>
    causes.includes(cause) && (on ?? endpoint) === endpoint ? status : given,
  );

export const overrideErrorCode = (causes: readonly ErrorCause[], code: string, on?: Endpoint): Override =>
  overrideResult("errorCode")((given, cause, endpoint) =>
    causes.includes(cause) && (on ?? endpoint) === endpoint ? code : given,
  );

export function overrideError(causes: readonly ErrorCause[], status: number, code: string, on?: Endpoint): Override {
  return (base) => ({ ...overrideErrorStatus(causes, status, on)(base), ...overrideErrorCode(causes, code, on)(base) });
}

export function withoutRateHeaders(
  matches: (head: ResponseHead) => boolean,
  names: readonly string[] = rateLimitHeaders,
): Override {
  return overrideResult("rateHeaders")((headers, _window, _nowMs, head) =>
    headers.filter(([name]) => !matches(head) || !names.includes(name)),
  );
}

/** Gives each key the limiters that `create` makes from its tier's windows (hour and minute) and limits. */
export const withLimiters =
  (create: (sizes: ReturnType<typeof windowsOf>, limits: TierLimits) => readonly Limiter[]): Override =>
  () => ({ limiters: (limits) => create(windowsOf(limits), limits) });

export const reportOnly = (name: WindowName): Override =>
  overrideResult("advertisedWindow")((usual, windows) => windows.find(({ window }) => window === name) ?? usual);

/** Gives error responses a body in form B, changed by `edit`. Form B is one of the document's two error formats. */
export const editFormB = (edit: (body: unknown, input: ErrorBodyInput) => unknown): Override =>
  overrideJson("errorBody")((_, input) => edit(formB(input), input));

/** Makes the server check permissions as if the key had these traits, if `matches` returns `true` for the request. */
export const withKeyTraitsIf =
  (traits: Partial<KeyTraits>, matches: (request: AccessRequest, key: ReferenceKey) => boolean): Override =>
  (base) => ({
    permits: (key, request) => base.permits(matches(request, key) ? { ...key, ...traits } : key, request),
  });

/** Makes these endpoints check permissions as if the key had these traits. Without `endpoints`, all endpoints do. */
export const withKeyTraits = (traits: Partial<KeyTraits>, ...endpoints: readonly Endpoint[]): Override =>
  withKeyTraitsIf(traits, ({ endpoint }) => endpoints.length === 0 || endpoints.includes(endpoint));

/** Makes the server treat a request as one with the key that `choose` returns. For `undefined`, nothing changes. */
export const acceptAsKey = (
  choose: (credentials: Credentials, ring: KeyRing, endpoint: Endpoint) => ReferenceKey | undefined,
): Override =>
  overrideResult("identify")((identity, credentials, ring, _nowMs, endpoint) => {
    const key = choose(credentials, ring, endpoint);
    return key === undefined ? identity : { kind: "known", key };
  });

export const namedKey = (credentials: Credentials, ring: KeyRing): IssuedKey | undefined =>
  credentials.kind === "bearer" ? ring.find(credentials.text) : undefined;

export const acceptExpiredKeys = (
  matchesKey: (key: KeyTraits) => boolean,
  matchesEndpoint: (endpoint: Endpoint) => boolean = () => true,
): Override =>
  acceptAsKey((credentials, ring, endpoint) => {
    const key = namedKey(credentials, ring)?.key;
    return key !== undefined && matchesKey(key) && matchesEndpoint(endpoint) ? key : undefined;
  });

export const wasIssuedExpired = ({ expiresInSeconds }: KeyTraits): boolean => expiresInSeconds === 0;

export const isTemporaryKey = ({ expiresInSeconds }: KeyTraits): boolean => (expiresInSeconds ?? 0) > 0;
