import { partMark } from "../../evidence/secret.ts";

/**
 * Shell variable by which commands of a kept report speak of a key, where nobody is there to say which one holds it: `$PRO_KEY` of the key
 * `pro`, what `conformance run` itself reads of the only key, and of a webhook's secret the variable that the commands set.
 */
export function shellVariableOfKey(name: string): string | undefined {
  // What stands there is not the key, and no variable holds it.
  if (name.endsWith(partMark)) return undefined;
  if (name === "webhook secret") return "WEBHOOK_SECRET";
  if (name === "key") return "CONFORMANCE_API_KEY";
  const variable = `${name.toUpperCase().replace(/\W+/g, "_")}_KEY`;
  return /^[A-Z_]/.test(variable) ? variable : undefined;
}
