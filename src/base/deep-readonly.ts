/** A type that is read-only at every depth. For values of a zod schema, whose type is mutable. */
export type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;
