/**
 * A tool as data and one function, and the check of its arguments.
 *
 * The schema that clients see and the check of the arguments are one declaration, so that they always agree.
 */
import { isJsonObject, type JsonObject, type JsonValue } from 'evenkeel/unstable/api'
import { Failure } from '../failure.ts'
import { nearestWords } from '../parse.ts'
import type { Scope } from './scope.ts'

interface ArgumentSchema {
  readonly type?: 'string' | 'integer' | 'boolean' | 'object' | 'array'
  readonly description?: string
  /** Of a list: what each of its elements is. */
  readonly items?: { readonly type: 'string' }
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: string | number | boolean
  /** More of JSON Schema, for clients: the input of an action. */
  readonly [keyword: string]: unknown
}

/** What clients are told about the effect of a tool. */
interface ToolEffect {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

export interface Tool {
  readonly name: string
  readonly title: string
  /** What it does and when to use it. */
  readonly about: string
  readonly input: Readonly<Record<string, ArgumentSchema>>
  /** The names of the arguments that must be given. @default none */
  readonly required?: readonly string[]
  /** The schemas of the fields of the result; all are optional but the first. */
  readonly output: Readonly<Record<string, JsonObject>>
  readonly effect: ToolEffect
  /** What to add to a call whose result was too large. */
  readonly narrow?: string
  run(given: ToolArguments, call: ToolCall): Promise<JsonObject>
}

/** One call of a tool. */
export interface ToolCall {
  readonly scope: Scope
  /** Aborts when the client cancels the call, or disconnects. */
  readonly signal: AbortSignal
  /** How far a long call is; the client may not want to know. */
  progress(message: string): void
  /** How many bytes of text a result may have. */
  readonly bytesMax: number
}

export const reads: ToolEffect = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}

/** A tool that changes something: `isDestructive` when something may be lost, `isIdempotent` when twice is the same as once. */
export function changes({ isDestructive = false, isIdempotent = false } = {}): ToolEffect {
  return { readOnlyHint: false, destructiveHint: isDestructive, idempotentHint: isIdempotent, openWorldHint: false }
}

/** The arguments of most tools. */
export const argument = {
  kind: {
    type: 'string',
    description:
      'Plural, singular or short name of a kind, with its group if several kinds have that name: pods, deploy, websites.demo.example.com',
  },
  name: { type: 'string', description: 'The name of the object' },
  namespace: { type: 'string', description: 'The namespace; without it the one of the kubeconfig' },
} as const satisfies Readonly<Record<string, ArgumentSchema>>

/** The fields of most results. */
export const field = {
  object: { type: 'object', description: 'The object, as JSON' },
  objects: { type: 'array', items: { type: 'object' } },
  text: { type: 'string' },
  texts: { type: 'array', items: { type: 'string' } },
  flag: { type: 'boolean' },
  number: { type: 'number' },
} as const satisfies Readonly<Record<string, JsonObject>>

/** The arguments of a call, checked. */
export class ToolArguments {
  readonly #given: JsonObject

  private constructor(given: JsonObject) {
    this.#given = given
  }

  /** @throws {Failure} `usage`, with the argument and what it must be */
  static check(
    { name, input, required = [] }: Pick<Tool, 'name' | 'input' | 'required'>,
    given: unknown,
  ): ToolArguments {
    const values = isJsonObject(given as JsonValue) ? (given as JsonObject) : {}
    const present = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))
    const names = Object.keys(input)
    for (const [key, value] of Object.entries(present)) {
      const schema = Object.hasOwn(input, key) ? input[key] : undefined
      if (!schema)
        throw new Failure('usage', `${name} has no argument ${JSON.stringify(key)}`, {
          hint: [...nearestWords(key, names), `its arguments are ${names.join(', ') || 'none'}`].slice(0, 2),
        })
      const complaint = complaintAbout(value, schema)
      if (complaint !== undefined)
        throw new Failure('usage', `${key} must be ${complaint}, got ${JSON.stringify(value).slice(0, 80)}`)
    }
    const missing = required.filter((each) => !(each in present))
    if (missing.length > 0)
      throw new Failure('usage', `${name} needs ${missing.join(' and ')}`, {
        hint: missing.map((each) => `${each}: ${input[each]?.description ?? ''}`),
      })
    return new ToolArguments(present)
  }

  /** @throws {Error} when a required argument was declared as an optional one */
  text(name: string): string {
    const value = this.optional(name)
    if (value === undefined) throw new Error(`the argument ${name} is not required`)
    return value
  }

  optional(name: string): string | undefined {
    const value = this.#given[name]
    return typeof value === 'string' ? value : undefined
  }

  flag(name: string, preset = false): boolean {
    const value = this.#given[name]
    return typeof value === 'boolean' ? value : preset
  }

  count(name: string, preset: number): number {
    const value = this.#given[name]
    return typeof value === 'number' ? value : preset
  }

  texts(name: string): readonly string[] {
    const value = this.#given[name]
    return Array.isArray(value) ? value.map(String) : []
  }

  json(name: string): JsonValue | undefined {
    return this.#given[name]
  }
}

/** What a value must be; undefined: it is. */
function complaintAbout(
  value: JsonValue | undefined,
  { type, items, enum: allowed, minimum = -Infinity, maximum = Infinity }: ArgumentSchema,
): string | undefined {
  if (type === 'integer') {
    const isCount = Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum
    return isCount ? undefined : `a whole number${rangeText(minimum, maximum)}`
  }
  if (type === 'object') return isJsonObject(value) ? undefined : 'an object'
  if (type === 'array') {
    const isText =
      Array.isArray(value) && value.every((each) => items?.type === undefined || typeof each === items.type)
    return isText ? undefined : 'a list of texts'
  }
  if (type !== undefined && typeof value !== type) return type === 'boolean' ? 'true or false' : 'a text'
  return allowed === undefined || allowed.includes(String(value)) ? undefined : `one of ${allowed.join(', ')}`
}

function rangeText(minimum: number, maximum: number): string {
  if (minimum === -Infinity) return ''
  return maximum === Infinity ? ` from ${minimum}` : ` from ${minimum} to ${maximum}`
}

/** The schema of an object with these fields. */
export function objectSchema(
  properties: Readonly<Record<string, object>>,
  required: readonly string[],
): { type: 'object'; properties: Record<string, object>; required: string[] } {
  return { type: 'object', properties: { ...properties }, required: [...required] }
}
