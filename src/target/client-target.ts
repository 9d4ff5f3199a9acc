import { defaultKeyTraits, defaultTargetTraits, type Target } from "./target.ts";

/** A client to judge, by what it is given. */
export interface ClientUnderTest {
  /** Name for the report. */
  readonly name: string;
  /** The base URL that the client gets. */
  readonly baseUrl: string;
  readonly key: { readonly name: string; readonly text: string };
  readonly signingSecret: string;
}

/** Creates the target that stands for a client. Its key and its secrets are redacted everywhere. */
export const clientTarget = ({ name, baseUrl, key, signingSecret }: ClientUnderTest): Target => ({
  ...defaultTargetTraits,
  name,
  baseUrl,
  keys: {
    [key.name]: { ...defaultKeyTraits, name: key.name, key: key.text, variable: "AGENT_API_KEY" },
  },
  signing: { secret: signingSecret },
});
