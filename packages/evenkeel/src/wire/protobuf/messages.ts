/**
 * The protobuf message tables, parsed from generated text one message at a time.
 *
 * The text has one entry per API version, and in it one line per message, separated by `;`. A line is the name, `!` for a
 * kind, then the fields as `jsonName=number`, a modifier and a type. The modifiers: `*` a pointer, `?` omitted from JSON
 * when zero, `[]` a list, `{}` a map with string keys. The type: a scalar, a special type (see `special.ts`), or a message
 * of the same API version or, with `apiVersion#Name`, of another one. An empty JSON name inlines the fields.
 *
 * Example, from `apps/v1`:
 *
 *     DeploymentSpec replicas=1*int32 selector=2*meta.k8s.io/v1#LabelSelector paused=7?bool
 *
 *     field 1, `replicas`, int32, pointer                          { "replicas": 0 } is kept when present
 *     field 2, `selector`, message of meta.k8s.io/v1, pointer
 *     field 7, `paused`, bool, omitted when false
 *
 * Invariants: a line is parsed at the first use of its message, so that a process pays only for the messages it uses, a
 * few microseconds each; a parsed message is cached and never changes.
 */
import { assert } from '#base'
import { messageText } from './generated/messages.ts'
import { specialParts } from './special.ts'

type Shape = 'single' | 'list' | 'map'
/**
 * How a zero is treated: `value` is always encoded and always in the JSON; `omitted` is always encoded and left out of
 * the JSON when zero; `pointer` is encoded and in the JSON when present.
 */
type Presence = 'value' | 'omitted' | 'pointer'
export type ScalarType = 'string' | 'bytes' | 'view' | 'bool' | 'int32' | 'int64' | 'double'
export type SpecialType = keyof typeof specialParts
export type FieldType = ScalarType | SpecialType | 'message'

export interface Field {
  /** The name of the message that contains the field. */
  readonly owner: string
  /** The name in JSON. Empty when the fields of the message are inlined into the enclosing object. */
  readonly name: string
  readonly number: number
  readonly shape: Shape
  readonly presence: Presence
  readonly type: FieldType
  readonly wireType: number
  /** The message of a message field or special type; parsed on first access. */
  readonly message: Message
}

export interface Message {
  readonly name: string
  /** Whether it is sent and stored on its own, with an apiVersion and a kind. */
  readonly isKind: boolean
  /** In number order. */
  readonly fields: readonly Field[]
  /** The same fields, indexed by number. */
  readonly byNumber: readonly (Field | undefined)[]
}

/** Wire types of protobuf. */
export const varintWire = 0
export const fixed64Wire = 1
export const bytesWire = 2
export const fixed32Wire = 5

/** A message of an API version; undefined when there is none with this name. */
export function findMessage(apiVersion: string, name: string): Message | undefined {
  const key = `${apiVersion}#${name}`
  const known = messages.get(key)
  if (known) return known
  const line = findLine(apiVersion, name)
  if (line === undefined) return undefined
  const message = parseMessage(line, apiVersion)
  messages.set(key, message)
  return message
}

const messages = new Map<string, Message>()
const scalarWires = new Map<ScalarType, number>([
  ['string', bytesWire],
  ['bytes', bytesWire],
  ['view', bytesWire],
  ['bool', varintWire],
  ['int32', varintWire],
  ['int64', varintWire],
  ['double', fixed64Wire],
])
const knownTypes = new Map<string, FieldType>(
  [...scalarWires.keys(), ...(Object.keys(specialParts) as SpecialType[])].map((type) => [type, type]),
)

/** The line of a message, searched in the whole text: splitting it into lines would cost more than the few lookups of most processes. */
function findLine(apiVersion: string, name: string): string | undefined {
  // The name may come from a request, so only valid identifiers are searched.
  if (!Object.hasOwn(messageText, apiVersion) || !/^[A-Z]\w*$/.test(name)) return undefined
  const text = messageText[apiVersion] ?? ''
  for (let start = text.indexOf(name); start >= 0; start = text.indexOf(name, start + 1)) {
    const end = text.indexOf(';', start)
    const line = text.slice(start, end < 0 ? text.length : end)
    if ((start === 0 || text[start - 1] === ';') && isEndOfName(line[name.length])) return line
  }
  return undefined
}

function isEndOfName(character: string | undefined): boolean {
  return character === undefined || character === ' ' || character === '!'
}

function parseMessage(line: string, apiVersion: string): Message {
  const [name = '', ...texts] = line.split(' ')
  const owner = name.replace('!', '')
  const fields = texts.map((text) => new LazyField(text, { owner, apiVersion }))
  const byNumber: (Field | undefined)[] = []
  for (const field of fields) {
    while (byNumber.length < field.number) byNumber.push(undefined)
    byNumber.push(field)
  }
  return { name: owner, isKind: name.endsWith('!'), fields, byNumber }
}

class LazyField implements Field {
  readonly owner: string
  readonly name: string
  readonly number: number
  readonly shape: Shape
  readonly presence: Presence
  readonly type: FieldType
  readonly wireType: number
  readonly #typeText: string
  readonly #apiVersion: string
  #message: Message | undefined

  constructor(text: string, { owner, apiVersion }: { owner: string; apiVersion: string }) {
    this.owner = owner
    const equals = text.indexOf('=')
    this.name = text.slice(0, equals)
    this.number = Number.parseInt(text.slice(equals + 1), 10)
    const rest = text.slice(equals + 1 + String(this.number).length)
    this.shape = rest.startsWith('[]') ? 'list' : rest.startsWith('{}') ? 'map' : 'single'
    this.presence = rest.startsWith('*') ? 'pointer' : rest.startsWith('?') ? 'omitted' : 'value'
    this.#typeText = rest.slice(this.shape === 'single' ? (this.presence === 'value' ? 0 : 1) : 2)
    this.type = typeOf(this.#typeText)
    this.wireType = this.shape === 'map' ? bytesWire : (scalarWires.get(this.type as ScalarType) ?? bytesWire)
    this.#apiVersion = apiVersion
  }

  get message(): Message {
    return (this.#message ??= this.#find())
  }

  #find(): Message {
    if (this.type !== 'message') return specialMessage(this.type as SpecialType, this.#apiVersion)
    const [first = '', second] = this.#typeText.split('#')
    const found = second === undefined ? findMessage(this.#apiVersion, first) : findMessage(first, second)
    assert(found, `the tables contain ${this.#typeText}`)
    return found
  }
}

function typeOf(text: string): FieldType {
  return knownTypes.get(text) ?? 'message'
}

function specialMessage(type: SpecialType, apiVersion: string): Message {
  const key = `${apiVersion}#${type}`
  const known = messages.get(key) ?? parseMessage(`${type} ${specialParts[type]}`, apiVersion)
  messages.set(key, known)
  return known
}
