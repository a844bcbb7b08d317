/**
 * Contracts: a value that an object publishes for its referers, read by path and validated by a schema.
 *
 * A Standard Schema library validates the value itself, and its output is the contract. A JSON Schema is validated like
 * the schema of a CRD: structurally, with patterns in linear time, because the value is untrusted.
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
      /** The value as stored in the object. */
      readonly published: JsonValue
      readonly reason?: undefined
    }
  | { readonly reason: 'ContractMissing' | 'ContractInvalid'; readonly message: string }

export interface ContractReader {
  read(object: KubeObject): Promise<ContractRead>
  /** Validates an earlier value. */
  check(published: JsonValue): Promise<ContractRead>
}

/** @throws {RangeError} for an invalid path or schema. */
export function contractReader({ path, schema }: Contract): ContractReader {
  const names = typeof path === 'string' ? path.split('.') : path
  const where = names.join('.')
  if (names.length === 0 || names.includes(''))
    throw new RangeError(
      `the path of a contract must consist of field names, such as 'status.endpoint'; got ${JSON.stringify(path)}`,
    )
  const check = isStandard(schema) ? standardCheck(schema['~standard'], where) : schemaCheck(schema, where)
  return {
    check,
    async read(object) {
      const value = valueAt(object, names)
      return value === undefined || value === null
        ? { reason: 'ContractMissing', message: `it does not publish ${where}` }
        : await check(value)
    },
  }
}

type Check = (value: JsonValue) => Promise<ContractRead>

function valueAt(object: KubeObject, names: readonly string[]): JsonValue | undefined {
  let value: unknown = object
  for (const name of names) value = isJsonObject(value) ? getOwn(value, name) : undefined
  return value as JsonValue | undefined
}

/** The part of Standard Schema that validates values. */
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
    const path = [where, ...(issue?.path ?? []).map((step) => String(typeof step === 'object' ? step.key : step))].join(
      '.',
    )
    return { reason: 'ContractInvalid', message: `${path}: ${issue?.message ?? 'is invalid'}` }
  }
}

function schemaCheck(schema: object, where: string): Check {
  const root = toStructuralSchema({
    type: 'object',
    properties: { contract: jsonSchemaOf(schema, `the contract ${where}`) },
  } as JsonObject)
  // Loaded now if it is needed, so that no reconcile waits for a file: its order would not be deterministic.
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
