import { seededNumbers } from "../../base/statistics/random.ts";
import { bodyJson } from "../../evidence/exchange.ts";
import { agentIds } from "./discover-target.ts";
import { assignedAgents } from "../../target/target.ts";
import type { ProbeContext } from "../probe.ts";

/** An agent id that is unlikely to exist. `unknownIdLike` returns this id if no agent id of the target is known. */
const defaultUnknownId = "no-such-agent-7f3a";
/** Minimum digits of an unknown numeric id, so that the id is unlikely to exist. */
const minDigits = 9;
const maxTries = 20;
const idSeed = 1;

export const unknownAgentId = ({ discovery, target }: Pick<ProbeContext, "discovery" | "target">): string =>
  unknownIdLike([...agentIds(bodyJson(discovery.listing)), ...assignedAgents(target)]);

/** Returns an id that resembles the known ids but is not among them. Equal inputs give equal ids. */
export function unknownIdLike(known: readonly string[]): string {
  const [first] = known;
  if (first === undefined) return defaultUnknownId;
  if (known.every((id) => /^\d+$/.test(id))) return unknownNumber(known);
  const longest = known.reduce((one, other) => (other.length > one.length ? other : one), first);
  const kept = prefixLength(longest, known);
  const letters = characterClasses.map((each) => ({
    each,
    of: charactersIn(
      each,
      known.map((id) => id.slice(kept)),
    ),
  }));
  const next = seededNumbers(idSeed);
  for (let tries = 0; tries < maxTries; tries++) {
    const id = Array.from(longest, (letter, at) => {
      const of = letters.find(({ each }) => each.test(letter))?.of;
      return at < kept || of === undefined || isVersionOrVariant(longest, at)
        ? letter
        : of.charAt(Math.floor(next() * of.length));
    }).join("");
    if (!known.includes(id)) return id;
  }
  return defaultUnknownId;
}

const characterClasses: readonly RegExp[] = [/[a-z]/, /[A-Z]/, /\d/];

const charactersIn = (each: RegExp, known: readonly string[]): string =>
  [...new Set(known.join(""))].filter((letter) => each.test(letter)).join("");

function prefixLength(longest: string, known: readonly string[]): number {
  if (known.length < 2 || uuid.test(longest)) return 0;
  const separators = [...longest.matchAll(/[-_.:]/g)].map(({ index }) => index + 1);
  return Math.max(0, ...separators.filter((end) => known.every((id) => id.startsWith(longest.slice(0, end)))));
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const isVersionOrVariant = (id: string, at: number): boolean => uuid.test(id) && (at === 14 || at === 19);

function unknownNumber(known: readonly string[]): string {
  const length = Math.max(minDigits, ...known.map((id) => id.length));
  const number = "907356281".padEnd(length, "3");
  return known.includes(number) ? `${number.slice(0, -1)}7` : number;
}
