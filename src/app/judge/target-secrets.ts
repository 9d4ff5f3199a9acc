import type { Secret } from "../../evidence/redaction.ts";
import type { Target } from "../../target/target.ts";

/** Everything of a target that must never leave the process; the name is what stands in its place. */
export const secretsOf = (target: Target): Secret[] => [
  ...Object.values(target.keys).map(({ name, key }) => ({ name, value: key })),
  ...Object.values(target.keys).flatMap(({ signingSecret }) =>
    signingSecret === null ? [] : [{ name: "signing secret", value: signingSecret }],
  ),
  ...(target.signing === null ? [] : [{ name: "signing secret", value: target.signing.secret }]),
  ...target.callSecrets.map((value) => ({ name: "test control", value })),
];
