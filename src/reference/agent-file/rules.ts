import { isObject } from "../../base/json.ts";

/** Rules that the values of a file must keep; what breaks one is told with its place and with what is allowed there. */

/** Where a value stands, and who hears what is wrong with it. */
export interface Place {
  /** `webhooks.endpoints[0].url`; empty for the file itself. */
  readonly path: string;
  complain(problem: string): void;
}

/** What a value must be. `read` gives the value, or `undefined` after having complained. */
export interface Rule<T> {
  /** Continues "must be": `a string`. */
  readonly allowed: string;
  read(value: unknown, place: Place): T | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** A value in a few characters. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 40 ? text : `${text.slice(0, 37)}…`;
}

/** A rule that needs no more than a look at the value. */
export function simple<T>(allowed: string, holds: (value: unknown) => value is T): Rule<T> {
  return {
    allowed,
    read: (value, place) => {
      if (holds(value)) return value;
      place.complain(`${place.path || "the file"} is ${shown(value)}; it must be ${allowed}`);
      return undefined;
    },
  };
}

/** A string that a pattern allows. */
export function textOf(allowed: string, holds: (text: string) => boolean): Rule<string> {
  return simple(allowed, (value): value is string => typeof value === "string" && holds(value));
}

export const text = textOf("a string", () => true);
export const filledText = textOf("a string that is not empty", (value) => value !== "");

const anyObject = simple("an object", isObject);

export function arrayOf<T>(allowed: string, rule: Rule<T>, least = 0): Rule<readonly T[]> {
  const whole = simple(allowed, (value): value is unknown[] => Array.isArray(value) && value.length >= least);
  return {
    allowed,
    read: (value, place) =>
      whole.read(value, place)?.flatMap((entry, at) => {
        const read = rule.read(entry, { ...place, path: `${place.path}[${at}]` });
        return read === undefined ? [] : [read];
      }),
  };
}

/** An object of any names, each with a value of one kind. */
export function mapOf(value: Rule<string>, name?: Rule<string>): Rule<Readonly<Record<string, string>>> {
  return {
    allowed: "an object of strings",
    read: (given, place) => {
      const fields = anyObject.read(given, place);
      if (fields === undefined) return undefined;
      const entries = Object.entries(fields).flatMap(([key, each]): [string, string][] => {
        const at = { ...place, path: `${place.path}.${key}` };
        if (name !== undefined && name.read(key, at) === undefined) return [];
        const read = value.read(each, at);
        return read === undefined ? [] : [[key, read]];
      });
      return Object.fromEntries(entries);
    },
  };
}

/** Reads the fields of an object one by one. Fields that nobody asks for are allowed. */
export interface FieldReader {
  /** The field, or `undefined` where it is absent or wrong, which has then been told. */
  readonly required: <T>(name: string, rule: Rule<T>) => T | undefined;
  /** The field, or `otherwise` where it is absent. */
  readonly optional: <T, U>(name: string, rule: Rule<T>, otherwise: U) => T | U;
}

/** An object whose fields `build` reads; `undefined` from `build` means that something was wrong. */
export function objectOf<T>(build: (fields: FieldReader) => T): Rule<T> {
  return {
    allowed: anyObject.allowed,
    read: (value, place) => {
      const fields = anyObject.read(value, place);
      return fields === undefined ? undefined : build(fieldReader(fields, place));
    },
  };
}

function fieldReader(fields: Fields, place: Place): FieldReader {
  const at = (name: string): Place => ({ ...place, path: place.path === "" ? name : `${place.path}.${name}` });
  return {
    required: (name, rule) => {
      if (name in fields) return rule.read(fields[name], at(name));
      place.complain(`${at(name).path} is missing; it must be ${rule.allowed}`);
      return undefined;
    },
    optional: (name, rule, otherwise) =>
      name in fields ? (rule.read(fields[name], at(name)) ?? otherwise) : otherwise,
  };
}
