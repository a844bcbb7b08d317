/**
 * Expressions in the style of rules in custom resources, with what kube-apiserver's own engine (cel-go in the environment of
 * Kubernetes 1.36) says about each: type, value or error, what it cost, what it was estimated to cost, and the text of
 * compilation errors. `kubernetes-cases.json` holds ours and its answers; regenerate the answers, never edit them.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  baseEnvironment,
  Bytes,
  CompiledExpression,
  compileExpression,
  Double,
  Duration,
  formatShortest,
  formatType,
  ListValue,
  MapValue,
  Opaque,
  Optional,
  printTimestamp,
  Timestamp,
  TypeValue,
  Uint,
  type DeclType,
  type Value,
} from '@evenkeel/cel'
import { schemaDeclType } from './cel-types.ts'
import type { SchemaNode } from './schema.ts'

interface Subject {
  readonly schema: SchemaNode
  readonly self?: unknown
  readonly oldSelf?: unknown
  readonly root?: boolean
}

interface Outcome {
  readonly compilation?: string
  readonly instantiation?: boolean
  readonly type?: string
  readonly value?: string
  readonly error?: string
  readonly cost?: number
  readonly min?: string
  readonly max?: string
}

interface Case extends Outcome {
  readonly on?: number
  readonly expr: string
}

const { objects, cases } = JSON.parse(readFileSync(new URL('./kubernetes-cases.json', import.meta.url), 'utf8')) as {
  objects: Subject[]
  cases: Case[]
}
const subjects = objects.map(prepare)

/** Where we differ on purpose, or cannot help it. */
const differences: Readonly<Record<string, string>> = {
  "self.labels.map(k, self.labels[k]).join(' ')": 'Go iterates over maps in random order',
  'optional.of([]).optMap(v, [v + [1], v + [2]])':
    'cel-go adds to the bound list in place, so that both come out as [1, 2]',
  "cidr('192.168.0.0/16').containsIP('x')":
    'upstream says "no such overload" where we say what is wrong with the address',
  'dyn(1).all(x, true)': 'upstream names a Go type in the message',
  "'a'.in": 'the parser stops at the first mistake, upstream reports one that follows from it',
}

describe('expressions in the environment of Kubernetes', () => {
  test('give the type, value, cost, estimate and errors that kube-apiserver gives', () => {
    const different = cases
      .filter(({ on, expr, ...wanted }) => JSON.stringify(run(expr, on)) !== JSON.stringify(wanted))
      .map(({ expr }) => expr)
    expect(different.filter((expr) => differences[expr] === undefined)).toEqual([])
    expect(cases.length).toBe(944)
  })
})

function prepare({ schema, self, oldSelf, root = false }: Subject): {
  type: DeclType
  bindings: Record<string, unknown>
} {
  const type = schemaDeclType({ root: schema, definitions: () => undefined }, { isResource: root, name: 'selfType' })!
  return { type, bindings: { ...(self !== undefined && { self }), ...(oldSelf !== undefined && { oldSelf }) } }
}

function run(expr: string, on?: number): Outcome {
  const subject = on === undefined ? undefined : subjects[on]
  const compiled = compileExpression(
    expr,
    subject ? baseEnvironment.extend({ self: subject.type, oldSelf: subject.type }) : baseEnvironment,
  )
  if (!(compiled instanceof CompiledExpression))
    return compiled.stage === 'compilation' ? { compilation: compiled.errors } : { instantiation: true }
  const { min, max } = compiled.estimateCost(subject?.type)
  const { value, error, cost } = compiled.evaluate(subject?.bindings ?? {})
  const outcome = error === undefined ? { value: show(value) } : { error }
  return { type: formatType(compiled.type), ...outcome, cost, min: String(min), max: String(max) }
}

const prefixes: Readonly<Record<string, string>> = {
  'kubernetes.Quantity': 'quantity',
  'kubernetes.URL': 'url',
  'net.IP': 'ip',
  'net.CIDR': 'cidr',
  'kubernetes.Semver': 'semver',
  'kubernetes.NamedFormat': 'format',
}

function show(value: Value): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof Double) return `double(${formatShortest(value.value)})`
  if (value instanceof Uint) return `${value.value}u`
  if (value instanceof Bytes) return `bytes(${Buffer.from(value.value).toString('hex')})`
  if (value instanceof TypeValue) return `type(${value.name})`
  if (value instanceof Optional) return value.value === undefined ? 'optional.none' : `optional(${show(value.value)})`
  if (value instanceof Timestamp) return `timestamp(${printTimestamp(value)})`
  if (value instanceof Duration) return `duration(${value.nanos})`
  if (value instanceof Opaque) return `${prefixes[value.typeName]}(${value.toString()})`
  if (value instanceof ListValue) return `[${value.values().map(show).join(', ')}]`
  if (value instanceof MapValue)
    return `{${value
      .keys()
      .map((key) => `${show(key)}: ${show(value.find(key) ?? null)}`)
      .sort()
      .join(', ')}}`
  return String(value)
}
