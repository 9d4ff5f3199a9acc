import type { Row } from "../../base/covering-array.ts";
import { publishedTierNames } from "../../spec/tiers.ts";

export const isOneOf = (value: string | undefined, ...those: readonly string[]): boolean => those.includes(value ?? "");

export const isDocumented = ({ method }: Row): boolean => method === "documented";

export const hasValidTierKey = ({ key }: Row): boolean => isOneOf(key, ...publishedTierNames, "enterprise");

const answeringAgents = ["answering", "streaming", "remembering"] as const;

export const isLegalCall = (row: Row, endpoint: string): boolean =>
  row["endpoint"] === endpoint &&
  isDocumented(row) &&
  hasValidTierKey(row) &&
  isOneOf(row["body"], "valid", "spelled otherwise") &&
  isOneOf(row["agent"], ...answeringAgents) &&
  // A server may restrict the characters of a session id.
  row["session"] !== "not ASCII";
