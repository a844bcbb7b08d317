/**
 * The kinds of these benchmarks: a parent with three children, a referrer and its dependency, and an object with an
 * external resource.
 */
import { defineKind } from 'evenkeel'

const group = 'bench.evenkeel.dev'
const version = 'v1'

export const Parent = defineKind({
  group,
  version,
  kind: 'BenchParent',
  spec: { type: 'object', properties: { text: { type: 'string' } } },
  status: { type: 'object', properties: { made: { type: 'integer' } } },
  reports: ['children'],
} as const)

export const Hub = defineKind({
  group,
  version,
  kind: 'BenchHub',
  spec: { type: 'object', properties: { port: { type: 'integer' } } },
  status: { type: 'object', properties: { port: { type: 'integer' } } },
} as const)

export const Referer = defineKind({
  group,
  version,
  kind: 'BenchReferer',
  spec: { type: 'object', properties: { hub: { type: 'string' } } },
  status: { type: 'object', properties: { port: { type: 'integer' } } },
  reports: ['dependencies'],
} as const)

export const Thing = defineKind({
  group,
  version,
  kind: 'BenchThing',
  spec: { type: 'object', properties: { size: { type: 'integer' } } },
  status: { type: 'object', properties: {} },
  reports: ['external'],
} as const)
