import { seededNumbers } from "../../base/statistics/random.ts";
import { bodyJson } from "../../evidence/exchange.ts";
import { agentIds } from "./discover-target.ts";
import { assignedAgents } from "../../target/target.ts";
import type { ProbeContext } from "../probe.ts";

/** Used if the target has no known agent id whose pattern could be imitated. */
const defaultUnknownId = "no-such-agent-7f3a";
/** If all agent ids are numbers, the unknown id has at least this many digits, so that it is unlikely to exist. */
const minDigits = 9;
const maxTries = 20;
const idSeed = 1;

/** Returns the id of an agent that does not exist, in the format of the target's ids, so that it is not malformed. */
export const unknownAgentId = ({ discovery, target }: Pick<ProbeContext, "discovery" | "target">): string =>
  unknownIdLike([...agentIds(bodyJson(discovery.listing)), ...assignedAgents(target)]);

/**
 * Returns an id that no known agent has, but that has the length, separators, prefix and characters of the known ids.
 * The same ids always give the same result.
 */
export function unknownIdLike(known: readonly string[]): string {
  const [first] = known;
  if (first === undefined) return defaultUnknownId;
  if (known.every((id) => /^\d+$/.test(id))) return unknownNumber(known);
  const longest = known.reduce((one, other) => (other.length > one.length ? other : one), first);
  const kept = prefixLength(longest, known);
  const letters = characterClasses.map((each) => ({
    each,
    of: charactersOf(
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

/**
 * Returns the characters of one class, such as digits, that occur in known ids. Some alphabets omit letters that look
 * like digits.
 */
const charactersOf = (each: RegExp, known: readonly string[]): string =>
  [...new Set(known.join(""))].filter((letter) => each.test(letter)).join("");

/** Returns the length of the prefix that all ids share, such as `agent_`; 0 for UUIDs and for a single id. */
function prefixLength(longest: string, known: readonly string[]): number {
  if (known.length < 2 || uuid.test(longest)) return 0;
  const separators = [...longest.matchAll(/[-_.:]/g)].map(({ index }) => index + 1);
  return Math.max(0, ...separators.filter((end) => known.every((id) => id.startsWith(longest.slice(0, end)))));
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Whether the position in a UUID holds its version or variant digit. Changing such a digit makes the UUID invalid. */
const isVersionOrVariant = (id: string, at: number): boolean => uuid.test(id) && (at === 14 || at === 19);

function unknownNumber(known: readonly string[]): string {
  const length = Math.max(minDigits, ...known.map((id) => id.length));
  const number = "907356281".padEnd(length, "3");
  return known.includes(number) ? `${number.slice(0, -1)}7` : number;
}
