/**
 * What the server does to an object in memory, step by step: no requests, no storage, no parsing.
 */
import {
  applyConfiguration,
  applyMergePatch,
  applyStrategicMergePatch,
  loadRuleEngine,
  managedFieldsAfterUpdate,
  validateCustomObject,
  wouldApplyChange,
} from 'evenkeel/unstable/api'
import type { JsonObject } from 'evenkeel/unstable/api'
import { baseEnvironment, compileExpression, CompiledExpression } from '@evenkeel/cel'
import { schemaDeclType } from 'evenkeel/unstable/schema'
import { apiVersion, gardenOf, root, rules, schema } from './garden.ts'

export interface EngineCase {
  readonly name: string
  /** One operation; it changes something if possible. */
  readonly run: () => unknown
}

const sizes = [
  ['1KiB', 1024],
  ['100KiB', 100 * 1024],
] as const

export async function engineCases(): Promise<EngineCase[]> {
  const judged = await Promise.all(sizes.map(([size, bytes]) => rulesCase(size, bytes)))
  return [
    ...sizes.flatMap(([size, bytes]) => [...applyCases(size, bytes), ...patchCases(size, bytes)]),
    ...expressionCases(),
    ...sizes.map(([size, bytes]) => validateCase(size, bytes)),
    ...judged,
  ]
}

/** An object that one manager applied and another one updated. */
function liveOf(bytes: number): JsonObject {
  const request = { apiVersion, kind: 'Garden', schema, nowMs: 0 }
  const applied = applyConfiguration({
    ...request,
    manager: 'applier',
    live: undefined,
    config: gardenOf(bytes),
    force: false,
  })
  const live = { ...applied, metadata: { ...(applied['metadata'] as JsonObject), uid: 'u' } }
  const next = { ...live, status: { ready: true } }
  return {
    ...next,
    metadata: {
      ...next.metadata,
      managedFields: managedFieldsAfterUpdate({ ...request, manager: 'updater', live, next }) as never,
    },
  }
}

function applyCases(size: string, bytes: number): EngineCase[] {
  const request = { apiVersion, kind: 'Garden', schema, nowMs: 1000, force: true }
  const live = liveOf(bytes)
  const configs = ['1', '2'].map((counter) => gardenOf(bytes, counter))
  const nexts = configs.map((config) => ({ ...live, spec: config['spec'] as JsonObject }))
  let turn = 0
  return [
    {
      name: `ssa ${size}`,
      run: () =>
        applyConfiguration({ ...request, manager: 'applier', live, config: configs[turn++ & 1] as JsonObject }),
    },
    {
      name: `ssa no-op ${size}`,
      run: () => applyConfiguration({ ...request, manager: 'applier', live, config: gardens.get(size) as JsonObject }),
    },
    {
      name: `ssa oracle ${size}`,
      run: () => wouldApplyChange(live, gardens.get(size) as JsonObject, { manager: 'applier' }),
    },
    {
      name: `track update ${size}`,
      run: () =>
        managedFieldsAfterUpdate({ ...request, manager: 'updater', live, next: nexts[turn++ & 1] as JsonObject }),
    },
  ]
}

const gardens = new Map(sizes.map(([size, bytes]) => [size as string, gardenOf(bytes)]))

function patchCases(size: string, bytes: number): EngineCase[] {
  const object = gardenOf(bytes)
  const change = {
    metadata: { labels: { app: 'other' } },
    spec: { counter: '7', beds: [{ name: 'bed-0', image: 'registry.example.com/plants/tomato:99' }] },
  }
  return [
    {
      name: `merge patch ${size}`,
      run: () => applyMergePatch(object, { metadata: change.metadata, spec: { counter: '7' } }),
    },
    { name: `strategic patch ${size}`, run: () => applyStrategicMergePatch(object, change, schema) },
  ]
}

function expressionCases(): EngineCase[] {
  const spec = root.properties?.['spec']
  const self = spec && schemaDeclType({ root: spec, definitions: () => undefined })
  if (!self) throw new Error('expressions have no access to the spec')
  const environment = baseEnvironment.extend({ self: { type: self.type, adapt: self.adapt } })
  const compiled = rules.map((text) => {
    const expression = compileExpression(text, environment)
    if (!(expression instanceof CompiledExpression)) throw new Error(`${text}: ${expression.errors}`)
    return expression
  })
  const bindings = { self: gardenOf(1024)['spec'] }
  const run = (): void => {
    for (const expression of compiled)
      if (expression.evaluate(bindings).value !== true) throw new Error(`${expression.text} does not hold`)
  }
  return [
    { name: `cel ${rules.length} rules 1KiB`, run },
    { name: `cel compile ${rules.length} rules`, run: () => rules.map((text) => compileExpression(text, environment)) },
  ]
}

const matches = (pattern: string, value: string): boolean => new RegExp(pattern, 'u').test(value)

function validateCase(size: string, bytes: number): EngineCase {
  const object = gardenOf(bytes)
  return { name: `validate ${size}`, run: () => requireValid(validateCustomObject(object, root, { matches })) }
}

async function rulesCase(size: string, bytes: number): Promise<EngineCase> {
  const spec = { ...root.properties?.['spec'], 'x-kubernetes-validations': rules.map((rule) => ({ rule })) }
  const ruled = { ...root, properties: { ...root.properties, spec } }
  const compiled = (await loadRuleEngine()).compile(ruled)
  const object = gardenOf(bytes)
  return {
    name: `validate with rules ${size}`,
    run: () => requireValid(validateCustomObject(object, ruled, { matches, rules: compiled })),
  }
}

function requireValid(errors: readonly unknown[]): void {
  if (errors.length > 0) throw new Error(`the object is not valid: ${JSON.stringify(errors[0])}`)
}
