/**
 * What `evenkeel wait --for` waits for, in kubectl's words: a condition, a value at a JSON path, existence or deletion.
 *
 * A goal judges one object at a time and says in words how the object is now.
 */
import {
  findByJsonPath,
  isJsonObject,
  parseJsonPath,
  stringifyJson,
  type JsonObject,
  type JsonPath,
} from 'evenkeel/unstable/api'
import type { Condition, KubeObject } from 'evenkeel'
import { Failure } from './failure.ts'
import { blockedBecause, conditionsOf, stateOf } from './object-state.ts'

export interface WaitGoal {
  readonly type: 'condition' | 'jsonpath' | 'create' | 'delete'
  /** Undefined: the object does not exist. */
  isMet(object: KubeObject | undefined): boolean
  /** The state of an object that does not meet the goal: `condition Ready is False: TooBright, 5000 watts`. */
  describe(object: KubeObject | undefined): string
}

const hint = [
  "--for condition=Ready, --for condition=Ready=False, --for delete, --for create, --for jsonpath='{.status.phase}'=Running",
  'evenkeel wait --help',
]

/** @throws {Failure} `usage` */
export function waitGoalOf(text: string | undefined): WaitGoal {
  if (text === undefined) throw new Failure('usage', '--for is missing', { hint })
  if (text === 'create') return { type: 'create', isMet: (object) => object !== undefined, describe: () => missing }
  if (text === 'delete') return { type: 'delete', isMet: (object) => object === undefined, describe: whyNotDeleted }
  // `Ready` is the condition of that name, `Ready=False` its value.
  if (/^[A-Z]\w*(?:=\w+)?$/.test(text)) return conditionGoal(text)
  const [, type = '', rest = ''] = /^(condition|jsonpath)=(.+)$/s.exec(text) ?? []
  if (type === 'condition') return conditionGoal(rest)
  if (type === 'jsonpath') return jsonPathGoal(rest)
  throw new Failure('usage', `--for does not know ${JSON.stringify(text)}`, { hint })
}

const missing = 'it does not exist'

function whyNotDeleted(object: KubeObject | undefined): string {
  if (!object) return missing
  if (object.metadata.deletionTimestamp === undefined) return 'it exists and is not being deleted'
  const why = blockedBecause(object)
  return `it is being deleted and ${stateOf(object).why}${why === undefined ? '' : ` (${why})`}`
}

/** `Ready`, `Ready=False`: names and values in any case, as in kubectl. */
function conditionGoal(text: string): WaitGoal {
  const [name = '', value = 'True', ...more] = text.split('=')
  if (name === '' || value === '' || more.length > 0)
    throw new Failure('usage', `--for condition= must be NAME or NAME=VALUE, got ${JSON.stringify(text)}`, { hint })
  const find = (object: KubeObject): Condition | undefined =>
    conditionsOf(object).find(({ type }) => type.toLowerCase() === name.toLowerCase())
  const isValue = (condition: Condition): boolean => condition.status.toLowerCase() === value.toLowerCase()
  return {
    type: 'condition',
    isMet: (object) => {
      const condition = object && find(object)
      return (
        object !== undefined && condition !== undefined && isValue(condition) && lagOf(object, condition) === undefined
      )
    },
    describe: (object) => {
      if (!object) return missing
      const condition = find(object)
      if (!condition) return `it has no condition ${name}${stateWords(object)}`
      const lag = isValue(condition) ? lagOf(object, condition) : undefined
      return `condition ${condition.type} is ${condition.status}${lag ?? detailsOf(condition)}`
    },
  }
}

function detailsOf({ reason = '', message = '' }: Condition): string {
  const words = [reason, message].filter((word) => word !== '')
  return words.length === 0 ? '' : `: ${words.join(', ')}`
}

/** The state in one word, if the object reports one. */
function stateWords(object: KubeObject): string {
  const { word, isGood, why } = stateOf(object)
  return isGood === undefined ? '' : `; it is ${word}${why === '' || why === word ? '' : `: ${why}`}`
}

/** A condition of an earlier generation says nothing about the present spec. */
function lagOf(object: KubeObject, condition: Condition): string | undefined {
  const { generation } = object.metadata
  const { status } = object as { status?: JsonObject }
  const observed = condition.observedGeneration ?? (isJsonObject(status) ? status['observedGeneration'] : undefined)
  return generation !== undefined && typeof observed === 'number' && observed < generation
    ? ` for generation ${observed}, but the spec is at generation ${generation}`
    : undefined
}

/** `{.status.phase}=Running`, `{.status.ip}`: a value, or any. */
function jsonPathGoal(text: string): WaitGoal {
  const { pathText, value } = splitJsonPath(text)
  if (value === '')
    throw new Failure('usage', '--for jsonpath= needs a value after its equal sign', {
      hint: "--for jsonpath='{.status.readyReplicas}'=3",
    })
  const path = compile(pathText)
  return {
    type: 'jsonpath',
    isMet: (object) => {
      const found = object ? valuesAt(path, object) : []
      return value === undefined ? found.length > 0 : found.length === 1 && found[0] === value
    },
    describe: (object) => {
      if (!object) return missing
      const found = valuesAt(path, object)
      return `${pathText} ${found.length === 0 ? 'is not set' : `is ${found.slice(0, 3).join(', ')}`}${stateWords(object)}`
    },
  }
}

/** Splits at the first equal sign that is not in brackets or quotes: those of a filter are. */
function splitJsonPath(text: string): { readonly pathText: string; readonly value?: string } {
  let [depth, quote] = [0, '']
  for (const [at, character] of [...text].entries()) {
    if (quote !== '') quote = character === quote ? '' : quote
    else if (character === '"' || character === "'") quote = character
    else if ('{[('.includes(character)) depth++
    else if ('}])'.includes(character)) depth--
    else if (character === '=' && depth === 0)
      return { pathText: [...text].slice(0, at).join(''), value: trimQuotes([...text].slice(at + 1).join('')) }
  }
  return { pathText: text }
}

function trimQuotes(text: string): string {
  return text.replace(/^(["'])(.*)\1$/s, '$2')
}

/** With braces or without, as kubectl takes both. @throws {Failure} `usage` */
function compile(text: string): JsonPath {
  const inner = /^\{(.*)\}$/s.exec(text)?.[1] ?? text
  try {
    return parseJsonPath(inner.startsWith('.') || inner.startsWith('[') ? inner : `.${inner}`)
  } catch (error) {
    throw new Failure('usage', (error as Error).message, { cause: error, hint: "--for jsonpath='{.status.phase}'" })
  }
}

/** The values as text; those that are set to nothing do not count. */
function valuesAt(path: JsonPath, object: KubeObject): readonly string[] {
  return (findByJsonPath(path, object) ?? [])
    .filter((value) => value !== null && value !== undefined && value !== '')
    .map((value) => (typeof value === 'string' ? value : stringifyJson(value)))
}
