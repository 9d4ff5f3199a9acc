/** What cannot be changed at any depth: of a schema's type, which is free to be changed, the value that a reader gets. */
export type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;
