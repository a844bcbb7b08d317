/**
 * Contracts: what an object publishes for those who depend on it, read by path and checked by schema.
 *
 * A Standard Schema library checks by itself, and what it makes of the value is the contract. A JSON Schema is checked as
 * an API server checks a definition's: structurally, patterns in linear time, because the value is somebody else's.
 */
import {
  formatFieldError,
  getOwn,
  isJsonObject,
  jsonSchemaOf,
  toStructuralSchema,
  validateCustomObject,
  type JsonObject,
  type JsonValue,
  type KubeObject,
} from '#api'
import type { Contract } from './depends-on.ts'

export type ContractRead =
  | {
      readonly value: unknown
      /** As it stands on the object. */ readonly published: JsonValue
      readonly reason?: undefined
    }
  | { readonly reason: 'ContractMissing' | 'ContractInvalid'; readonly message: string }

export interface ContractReader {
  read(object: KubeObject): Promise<ContractRead>
  /** The same for what was published once. */
  check(published: JsonValue): Promise<ContractRead>
}

/** @throws {RangeError} for a path or a schema that cannot be used. */
export function contractReader({ path, schema }: Contract): ContractReader {
  const names = typeof path === 'string' ? path.split('.') : path
  const where = names.join('.')
  if (names.length === 0 || names.includes(''))
    throw new RangeError(`the path ${JSON.stringify(path)} of a contract must name fields: 'status.endpoint'`)
  const check = isStandard(schema) ? standardCheck(schema['~standard'], where) : schemaCheck(schema, where)
  return {
    check,
    async read(object) {
      const value = valueAt(object, names)
      return value === undefined || value === null
        ? { reason: 'ContractMissing', message: `it publishes no ${where}` }
        : await check(value)
    },
  }
}

type Check = (value: JsonValue) => Promise<ContractRead>

function valueAt(object: KubeObject, names: readonly string[]): JsonValue | undefined {
  let value = object as unknown as JsonValue | undefined
  for (const name of names) value = isJsonObject(value) ? getOwn(value, name) : undefined
  return value
}

/** The slice of Standard Schema that checks values. */
interface Standard {
  readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>
}

type StandardResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
      }[]
    }

function isStandard(schema: object): schema is { readonly '~standard': Standard } {
  const standard = (schema as { readonly '~standard'?: Partial<Standard> })['~standard']
  return typeof standard?.validate === 'function'
}

function standardCheck({ validate }: Standard, where: string): Check {
  return async (value) => {
    const result = await validate(value)
    if (result.issues === undefined) return { value: result.value, published: value }
    const [issue] = result.issues
    const place = [
      where,
      ...(issue?.path ?? []).map((step) => String(typeof step === 'object' ? step.key : step)),
    ].join('.')
    return { reason: 'ContractInvalid', message: `${place}: ${issue?.message ?? 'is not as it should be'}` }
  }
}

function schemaCheck(schema: object, where: string): Check {
  const root = toStructuralSchema({
    type: 'object',
    properties: { contract: jsonSchemaOf(schema, `the contract ${where}`) },
  } as JsonObject)
  // Loaded now if it is needed at all: a reconcile that waits for a file is no longer the same each time.
  const loading = JSON.stringify(schema).includes('"pattern') ? loadPatterns() : undefined
  return async (value) => {
    const matches = (await loading) ?? (() => true)
    const [error] = validateCustomObject({ contract: value }, root, { matches })
    if (!error) return { value, published: value }
    return {
      reason: 'ContractInvalid',
      message: formatFieldError({ ...error, field: `${where}${error.field.slice('contract'.length)}` }),
    }
  }
}

type Matches = Parameters<typeof validateCustomObject>[2]['matches']

let loadingPatterns: Promise<Matches> | undefined

function loadPatterns(): Promise<Matches> {
  return (loadingPatterns ??= import('re2js').then(
    ({ RE2JS }) =>
      (pattern, text) =>
        RE2JS.compile(pattern).matcher(text).find(),
  ))
}
