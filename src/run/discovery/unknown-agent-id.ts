import { seededNumbers } from "../../base/statistics/random.ts";
import { bodyJson } from "../../evidence/exchange.ts";
import { agentIds } from "./discover-target.ts";
import { assignedAgents } from "../../target/target.ts";
import type { ProbeContext } from "../probe.ts";

/** Where nothing shows how the target writes its ids. */
const plainId = "no-such-agent-7f3a";
/** So long a number is nobody's, and still fits where ids are numbers. */
const leastDigits = 9;
const mostTries = 20;
const sameInEveryRun = 1;

/** An id of an agent that does not exist, written as the target writes its own: "no such agent" is to be asked, and not "no such id". */
export const unknownAgentOf = ({ discovery, target }: Pick<ProbeContext, "discovery" | "target">): string =>
  unknownIdLike([...agentIds(bodyJson(discovery.listing)), ...assignedAgents(target)]);

/** Of the length and the letters of the ids that are known, and none of them; the same in every run. */
export function unknownIdLike(known: readonly string[]): string {
  const [first] = known;
  if (first === undefined) return plainId;
  if (known.every((id) => /^\d+$/.test(id))) return unknownNumber(known);
  const longest = known.reduce((one, other) => (other.length > one.length ? other : one), first);
  const kept = keptLength(longest, known);
  const letters = classes.map((each) => ({
    each,
    of: lettersOf(
      each,
      known.map((id) => id.slice(kept)),
    ),
  }));
  const next = seededNumbers(sameInEveryRun);
  for (let tries = 0; tries < mostTries; tries++) {
    const id = Array.from(longest, (letter, at) => {
      const of = letters.find(({ each }) => each.test(letter))?.of;
      return at < kept || of === undefined || isVersion(longest, at)
        ? letter
        : of.charAt(Math.floor(next() * of.length));
    }).join("");
    if (!known.includes(id)) return id;
  }
  return plainId;
}

const classes: readonly RegExp[] = [/[a-z]/, /[A-Z]/, /\d/];

/** The letters of a class that the ids are seen to use: an alphabet may lack some. */
const lettersOf = (each: RegExp, known: readonly string[]): string =>
  [...new Set(known.join(""))].filter((letter) => each.test(letter)).join("");

/** What all ids have in front, up to a separator, such as `agent_`; of a UUID, and of one id alone, nothing. */
function keptLength(longest: string, known: readonly string[]): number {
  if (known.length < 2 || uuid.test(longest)) return 0;
  const separators = [...longest.matchAll(/[-_.:]/g)].map(({ index }) => index + 1);
  return Math.max(0, ...separators.filter((end) => known.every((id) => id.startsWith(longest.slice(0, end)))));
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Version and variant of a UUID stand at fixed places. */
const isVersion = (id: string, at: number): boolean => uuid.test(id) && (at === 14 || at === 19);

function unknownNumber(known: readonly string[]): string {
  const length = Math.max(leastDigits, ...known.map((id) => id.length));
  const number = "907356281".padEnd(length, "3");
  return known.includes(number) ? `${number.slice(0, -1)}7` : number;
}
