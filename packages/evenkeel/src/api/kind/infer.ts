/**
 * The TypeScript types of a schema: what a client may send, and what a server has stored.
 *
 * They differ in defaults: a field with a default may be left out when sending and is always there when reading.
 * Standard Schema libraries bring their own types; for plain JSON Schema this file works them out from the literal.
 * All of them are readonly to any depth: objects that are read are frozen, and the compiler refuses an assignment first.
 */
import type { JsonObject } from '@evenkeel/cel/primitives'
import type { StandardSchema } from './standard-schema.ts'

/** `input`: what a client sends. `stored`: what comes back, with defaults filled in. */
type Direction = 'input' | 'stored'

/** The part of JSON Schema that has a meaning for types; other keywords may stand beside it. */
interface JsonSchemaLike {
  readonly type?: string | readonly string[]
  readonly properties?: object
  readonly required?: readonly string[] | undefined
  readonly items?: object | boolean
  readonly additionalProperties?: object | boolean
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly nullable?: boolean
  readonly anyOf?: readonly object[]
  readonly oneOf?: readonly object[]
  readonly allOf?: readonly object[]
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
}

export type SchemaSource = StandardSchema | JsonSchemaLike

/** The type a source describes. */
export type Infer<Source, D extends Direction> = ReadonlyDeep<
  Source extends { readonly '~standard': { readonly types?: infer Types } }
    ? StandardType<NonNullable<Types>, D>
    : FromJsonSchema<Source, D>
>

type Primitive = string | number | bigint | boolean | symbol | null | undefined

/**
 * The type with every field and item readonly. Functions and `any` stay as they are, and so does a type whose own fields
 * are readonly already, such as `PodTemplateSpec`: it keeps its name in messages of the compiler.
 */
type ReadonlyDeep<T> = 0 extends 1 & T
  ? T
  : T extends Primitive | ((...given: never[]) => unknown)
    ? T
    : T extends object
      ? IsReadonly<T> extends true
        ? T
        : { readonly [Name in keyof T]: ReadonlyDeep<T[Name]> }
      : T

/** Whether no field can be assigned to: types that differ in `readonly` are not identical. */
type IsReadonly<T> =
  (<X>() => X extends { [Name in keyof T]: T[Name] } ? 1 : 2) extends <X>() => X extends {
    readonly [Name in keyof T]: T[Name]
  }
    ? 1
    : 2
    ? true
    : false

type StandardType<Types, D extends Direction> = Types extends {
  readonly input: infer Input
  readonly output: infer Output
}
  ? D extends 'input'
    ? Input
    : Output
  : unknown

/** A JSON Schema whose TypeScript type is known: what `schemaOf` returns. `~type` never has a value. */
export type TypedSchema<T> = {
  readonly type: 'object'
  readonly properties: JsonObject
  readonly required?: readonly string[]
  readonly '~type'?: T
}

/** A type of Kubernetes as a value, such as `PodTemplateSpec`: its name, and its TypeScript type for `schemaOf`. */
export interface BuiltinType<T> {
  /** `core.v1.PodTemplateSpec` */
  readonly builtinType: string
  readonly '~type'?: T
}

/** The type a JSON Schema literal describes. */
export type FromJsonSchema<Schema, D extends Direction> = '~type' extends keyof Schema
  ? Schema extends TypedSchema<infer T>
    ? T
    : never
  : Schema extends { readonly nullable: true }
    ? NonNull<Schema, D> | null
    : NonNull<Schema, D>

type NonNull<Schema, D extends Direction> = Schema extends { readonly 'x-kubernetes-int-or-string': true }
  ? string | number
  : Schema extends { readonly const: infer Value }
    ? Value
    : Schema extends { readonly enum: readonly (infer Value)[] }
      ? Value
      : Schema extends { readonly anyOf: readonly (infer Member)[] }
        ? EachOf<Member, D>
        : Schema extends { readonly oneOf: readonly (infer Member)[] }
          ? EachOf<Member, D>
          : Schema extends { readonly allOf: readonly [infer Only] }
            ? FromJsonSchema<Only, D>
            : Schema extends { readonly type: readonly (infer Type)[] }
              ? EachType<Schema, Type, D>
              : Schema extends { readonly type: infer Type }
                ? OfType<Schema, Type, D>
                : Schema extends { readonly properties: object }
                  ? ObjectType<Schema, D>
                  : unknown

// Distributes over a union of schemas.
type EachOf<Member, D extends Direction> = Member extends unknown ? FromJsonSchema<Member, D> : never
type EachType<Schema, Type, D extends Direction> = Type extends unknown ? OfType<Schema, Type, D> : never

type OfType<Schema, Type, D extends Direction> = Type extends 'string'
  ? string
  : Type extends 'number' | 'integer'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'null'
        ? null
        : Type extends 'array'
          ? ArrayType<Schema, D>
          : Type extends 'object'
            ? ObjectType<Schema, D>
            : unknown

type ArrayType<Schema, D extends Direction> = Schema extends { readonly items: infer Items extends object }
  ? FromJsonSchema<Items, D>[]
  : unknown[]

type ObjectType<Schema, D extends Direction> = Flatten<Properties<Schema, D> & Rest<Schema, D>>

type Properties<Schema, D extends Direction> = Schema extends { readonly properties: infer Members extends object }
  ? { -readonly [Name in PresentNames<Schema, Members, D>]: FromJsonSchema<Members[Name], D> } & {
      -readonly [Name in Exclude<keyof Members, PresentNames<Schema, Members, D>>]?: FromJsonSchema<Members[Name], D>
    }
  : unknown

/** Names that are always there: the required ones, and when reading also those with a default. */
type PresentNames<Schema, Members, D extends Direction> = D extends 'stored'
  ? RequiredNames<Schema, Members> | NamesWithDefault<Members>
  : Exclude<RequiredNames<Schema, Members>, NamesWithDefault<Members>>

type RequiredNames<Schema, Members> = Schema extends { readonly required: readonly (infer Name)[] }
  ? Extract<keyof Members, Name>
  : never

type NamesWithDefault<Members> = {
  [Name in keyof Members]: Members[Name] extends { readonly default: unknown } ? Name : never
}[keyof Members]

type KeepsUnknown =
  | { readonly 'x-kubernetes-preserve-unknown-fields': true }
  | { readonly 'x-kubernetes-embedded-resource': true }

/** Fields beyond the named ones. Without any of these keywords a server prunes them, so they do not exist. */
type Rest<Schema, D extends Direction> = Schema extends KeepsUnknown
  ? Record<string, unknown>
  : Schema extends { readonly additionalProperties: true }
    ? Record<string, unknown>
    : Schema extends { readonly additionalProperties: infer Value extends object }
      ? Record<string, FromJsonSchema<Value, D>>
      : Schema extends { readonly patternProperties: infer Patterns extends object }
        ? Record<string, EachOf<Patterns[keyof Patterns], D>>
        : Schema extends { readonly properties: object }
          ? unknown
          : Record<string, never>

type Flatten<T> = T extends object ? { [Name in keyof T]: T[Name] } : T
