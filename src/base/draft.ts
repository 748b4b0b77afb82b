/** A record that is being filled in, field by field and in one order: spreads would give each its own shape, slowly. */
export type Draft<T> = { -readonly [Name in keyof T]: T[Name] };
