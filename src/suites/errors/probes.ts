import { probe } from "../../run/probe.ts";

const unknownPath = "/no-such-path-7f3a";

export const unknownPathRequested = probe(
  "a path that the document does not define is read",
  { requests: 1, reads: true },
  async ({ client }) => ({
    answered: await client.send("GET", unknownPath),
  }),
);

export const unknownMethodRequested = probe(
  "a method that the document does not define is sent to a path that it does not define",
  { requests: 1 },
  async ({ client }) => ({ answered: await client.send("DELETE", unknownPath) }),
);

export const failingInvoked = probe(
  "an agent that fails is invoked",
  { needs: ["agents.failing"], requests: 1 },
  async ({ client, given }) => ({ failed: await client.invoke(given["agents.failing"], { query: "Hello." }) }),
);
