import { defaultKeyTraits, defaultTargetTraits, type Target } from "./target.ts";

/** Everything that a client under test is given. */
export interface ClientUnderTest {
  /** Name for the report. */
  readonly name: string;
  /** The base URL that the client gets. */
  readonly baseUrl: string;
  readonly key: { readonly name: string; readonly text: string };
  readonly signingSecret: string;
}

/**
 * Describes a client under test in the form of a target. So its key and its secret are redacted everywhere, as those of
 * a target are.
 */
export const clientTarget = ({ name, baseUrl, key, signingSecret }: ClientUnderTest): Target => ({
  ...defaultTargetTraits,
  name,
  baseUrl,
  keys: {
    [key.name]: { ...defaultKeyTraits, name: key.name, key: key.text, variable: "AGENT_API_KEY" },
  },
  signing: { secret: signingSecret },
});
