import type { Secret } from "../../evidence/redaction.ts";
import type { Target } from "../../target/target.ts";

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
