/** The position of a parsed value in its source text. `members` holds the positions of the value's fields or items. */
export interface PlaceNode {
  readonly offset: number;
  readonly members: ReadonlyMap<string, PlaceNode>;
}

export interface SourceValue {
  readonly value: unknown;
  readonly places: PlaceNode;
}

export class SourceError extends Error {
  override readonly name = "SourceError";
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** Maximum depth of nesting. It is limited because the code that reads a value is recursive. */
const maxDepth = 200;

export function assertDepth(depth: number, offset: number): void {
  if (depth > maxDepth) throw new SourceError(`is nested deeper than ${maxDepth} levels`, offset);
}

export function assertName(name: string, known: ReadonlyMap<string, unknown>, offset: number): void {
  if (name === "__proto__") throw new SourceError('has the name "__proto__", which cannot be used', offset);
  if (known.has(name)) throw new SourceError(`has a duplicate name ${JSON.stringify(name)}`, offset);
}
