import { type Secret, redactDeep, redactorFor } from "../../evidence/redaction.ts";
import type { Target } from "../../target/target.ts";
import { jsonIn, member } from "../../base/json.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import type { Report } from "../../report/report.ts";

/** Everything of a target that must never leave the process; the name is what stands in its place. */
export const secretsOf = (target: Target): Secret[] => [
  ...Object.values(target.keys).flatMap(({ name, key }) => [
    { name, value: key },
    // A wrong key is made from a right one by changing its last character, and gives the rest away.
    ...(key.length < 12 ? [] : [{ name: `${name}${cutMark}`, value: key.slice(0, -1) }]),
  ]),
  ...(target.signing === null ? [] : [{ name: "signing secret", value: target.signing.secret }]),
  ...target.callSecrets.map((value) => ({ name: "test control", value })),
];

/** Marks the name of a key that stands there without its last character. */
export const cutMark = ", its last character cut off";

/** What stands in the place of a webhook's secret, and the shell variable that holds it in commands. */
export const hookSecret = { name: "webhook secret", variable: "WEBHOOK_SECRET" } as const;

/** What was made at random, unlike a word such as `conformance`, which stands for something else in most places. */
const looksRandom = (secret: string): boolean => secret.length >= 12 && /\d/.test(secret);

type Shown = Pick<Evidence, "exchanges" | "deliveries"> & { readonly report: Report };

/**
 * A report and its evidence as people are shown them: without the secrets that the harness gave to webhooks. They were made for
 * one run, and `evidence.json` keeps them, so that a signature can be computed again; a terminal's scrollback need not.
 */
export function withoutHookSecrets<T extends Shown>(shown: T): T {
  const secrets = shown.exchanges.flatMap(secretsIn);
  return secrets.length === 0 ? shown : redactDeep(shown, redactorFor(secrets), secrets);
}

/**
 * A report without them, where its evidence is not read, which takes longer.
 *
 * @param text of `evidence.json`, in which the bodies of requests are JSON within JSON
 */
export function withoutHookSecretsOf(report: Report, text: string): Report {
  const values = text.matchAll(/\\"secret\\":\s*\\"([^"\\]+)\\"/g).map(([, value]) => value ?? "");
  const secrets = [...new Set(values)].filter(looksRandom).map((value) => ({ name: hookSecret.name, value }));
  return redactDeep(report, redactorFor(secrets), secrets);
}

function secretsIn({ request: { method, body } }: Exchange): Secret[] {
  const isCandidate = method === "POST" && body.kind === "text" && body.text.includes('"secret"');
  const secret = isCandidate ? member(jsonIn(body.text), "secret") : undefined;
  return typeof secret === "string" && looksRandom(secret) ? [{ name: hookSecret.name, value: secret }] : [];
}
