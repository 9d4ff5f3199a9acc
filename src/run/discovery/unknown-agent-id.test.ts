import { expect, it } from "vitest";

import { unknownIdLike } from "./discover-target.ts";

it.each<[name: string, known: readonly string[], form: RegExp]>([
  ["no id that is known", [], /^no-such-agent-7f3a$/],
  ["words", ["echo", "storyteller"], /^[a-z]{11}$/],
  [
    "UUIDs",
    ["3f2b8c1e-9d4a-4f6b-8c2d-1a5e7f9b0c3d"],
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
  ],
  ["ids behind a prefix", ["agent_a1b2c3", "agent_d4e5f6"], /^agent_[a-f][1-6][a-f][1-6][a-f][1-6]$/],
  ["numbers", ["7", "42"], /^\d{9}$/],
  ["capitals", ["01HZX5KQ", "01HZX5KR"], /^[0-9]{2}[A-Z]{3}[0-9][A-Z]{2}$/],
])("makes of %s an id that is written alike and is none of them", (_name, known, form) => {
  const id = unknownIdLike(known);
  expect(id).toMatch(form);
  expect(known).not.toContain(id);
  expect(unknownIdLike(known)).toBe(id);
});
