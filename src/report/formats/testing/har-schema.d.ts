declare module "har-schema" {
  /** JSON Schemas of the parts of a HAR archive, by name. */
  const schemas: Readonly<Record<string, object>>;
  export = schemas;
}
