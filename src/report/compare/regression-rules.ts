export const regressionKinds = {
  failing: "a check fails that did not fail before",
  warning: "a check warns that neither failed nor warned before",
  note: "a check notes what it did not note before",
  error: "the harness itself fails at a check that it judged before",
  "skipped-must": "a check of a must clause was judged before and is not exercised now",
  skipped: "a check of any clause was judged before and is not exercised now",
  "new-check": "a check or an instance that the older report does not have fails, or warns",
  reading: "another admissible reading is followed",
  observation: "another observation of a gap, in more than times or what the evidence leaves possible",
  verdict: "the verdict is worse: conformant, partial, incomplete, unreachable, nonconformant",
  counts: "under the same load, other numbers of admitted, refused or failed requests",
  latency: "a latency is higher by more than a share",
  throughput: "fewer requests per second by more than a share",
  memory: "the embedded server takes more memory by more than a share",
} as const satisfies Record<string, string>;

export type RegressionKind = keyof typeof regressionKinds;

/** Default tolerances. For example, `latency: 0.25` allows an increase by a quarter of the older latency. */
const defaultTolerances = { latency: 0.25, throughput: 0.25, memory: 0.25 } as const satisfies Partial<
  Record<RegressionKind, number>
>;
export type MetricRegressionKind = keyof typeof defaultTolerances;

export interface RegressionRules {
  readonly kinds: ReadonlySet<RegressionKind>;
  /** Maximum by which each kind of metric may get worse, as a share of its older value. */
  readonly tolerances: Readonly<Record<MetricRegressionKind, number>>;
}

export const defaultRegressionKinds = [
  "failing",
  "warning",
  "error",
  "skipped-must",
] as const satisfies readonly RegressionKind[];

export const defaultRegressionRules: RegressionRules = {
  kinds: new Set(defaultRegressionKinds),
  tolerances: defaultTolerances,
};

export class InvalidRegressionList extends Error {
  override readonly name = "InvalidRegressionList";
}

/** Parses a list of regression kinds, such as `default,latency:30%`. May throw {@link InvalidRegressionList}. */
export function parseRegressionRules(list: string): RegressionRules {
  const words = list.split(",").map((word) => word.trim());
  if (words.length === 1 && words[0] === "none") return { kinds: new Set(), tolerances: defaultTolerances };
  const kinds = new Set<RegressionKind>();
  const tolerances: Record<MetricRegressionKind, number> = { ...defaultTolerances };
  for (const word of words) {
    if (word === "default") for (const kind of defaultRegressionKinds) kinds.add(kind);
    else {
      const { kind, share } = parseRule(word);
      kinds.add(kind);
      if (share !== null) tolerances[share.of] = share.is;
    }
  }
  return { kinds, tolerances };
}

function parseRule(word: string) {
  const [kind = "", share, ...rest] = word.split(":");
  if (!isRegressionKind(kind))
    throw new InvalidRegressionList(
      `${JSON.stringify(word)} is no kind of regression. There are: ${Object.keys(regressionKinds).join(", ")}; default; none (alone).`,
    );
  if (share === undefined) return { kind, share: null };
  if (!hasTolerance(kind))
    throw new InvalidRegressionList(
      `${JSON.stringify(word)}: ${kind} takes no share; ${Object.keys(defaultTolerances).join(", ")} do.`,
    );
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(share)?.[1];
  if (percent === undefined || rest.length > 0)
    throw new InvalidRegressionList(`${JSON.stringify(word)}: the share is a percentage, such as ${kind}:25%.`);
  return { kind, share: { of: kind, is: Number(percent) / 100 } };
}

const isRegressionKind = (text: string): text is RegressionKind => Object.hasOwn(regressionKinds, text);
const hasTolerance = (kind: RegressionKind): kind is MetricRegressionKind => Object.hasOwn(defaultTolerances, kind);
