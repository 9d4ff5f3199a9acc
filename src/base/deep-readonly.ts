/** Makes a type read-only at every depth. Needed for types that zod infers, which are mutable. */
export type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;
