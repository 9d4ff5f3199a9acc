declare module "har-schema" {
  /** JSON Schemas of the parts of an HTTP Archive, by their names. */
  const schemas: Readonly<Record<string, object>>;
  export = schemas;
}
