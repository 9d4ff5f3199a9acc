import type { Conversation } from "../agents.ts";

/** What agents remember of sessions, by the name of the conversation. */
export interface Conversations {
  /** Adds a turn and says what was known before it. */
  turn(name: string, query: string): Conversation;
}

/** Conversations that are kept; beyond that the one that was quiet for longest is forgotten. */
const maxConversations = 10_000;

interface Memory {
  readonly turns: number;
  readonly lastQuery: string;
}

export function conversations(): Conversations {
  const memories = new Map<string, Memory>();
  return {
    turn: (name, query) => {
      const before = memories.get(name);
      const turn = (before?.turns ?? 0) + 1;
      memories.delete(name);
      memories.set(name, { turns: turn, lastQuery: query });
      const [quietest] = memories.keys();
      if (memories.size > maxConversations && quietest !== undefined) memories.delete(quietest);
      return { turn, previousQuery: before?.lastQuery ?? null };
    },
  };
}
