import { expect, test } from 'vitest'
import { defineKind } from '#api'
import { withVerbs, type ControllerDeclaration, type Verb } from './declaration.ts'

const Thing = defineKind({ group: 'demo.example.com', version: 'v1', kind: 'Thing' })
const Other = defineKind({ group: 'demo.example.com', version: 'v1', kind: 'Other' })

function verb(name: string, parts: ReturnType<NonNullable<Verb['adds']>>): Verb {
  return { name, extend: () => ({ context: {} }), adds: () => parts }
}

test('withVerbs leaves a declaration without verbs as it is', () => {
  const declaration: ControllerDeclaration = { for: Thing, reconcile: () => undefined }
  expect(withVerbs(declaration)).toBe(declaration)
})

test('withVerbs adds what follows, each owned kind once', () => {
  const rule = { apiGroups: [''], resources: ['pods'], verbs: ['get'] }
  const expanded = withVerbs({
    for: Thing,
    owns: [Other],
    verbs: [verb('a', { owns: [{ kind: Other }, { kind: Thing }], rbac: [rule] })],
    reconcile: () => undefined,
  })
  expect(expanded.owns).toEqual([Other, { kind: Thing }])
  expect(expanded.rbac).toEqual([rule])
})

test('withVerbs has no cleanup where neither the author nor a verb has one, and one where one of them has', () => {
  const declaration: ControllerDeclaration = { for: Thing, reconcile: () => undefined }
  expect(withVerbs({ ...declaration, verbs: [verb('a', {})] })).not.toHaveProperty('cleanup')
  const step = { finalizer: 'x.dev/a', cleanup: () => undefined }
  expect(withVerbs({ ...declaration, verbs: [verb('a', { cleanup: [step] })] }).cleanup).toEqual([step])
  expect(
    withVerbs({ ...declaration, cleanup: [step], finalizer: 'x.dev/unused', verbs: [verb('a', {})] }),
  ).toMatchObject({ cleanup: [step] })
})

test('withVerbs keeps this of the functions of a declaration', async () => {
  const seen: unknown[] = []
  const declaration = {
    for: Thing,
    colour: 'red',
    reconcile(this: { colour: string }) {
      seen.push(`reconcile ${this.colour}`)
    },
    cleanup(this: { colour: string }) {
      seen.push(`cleanup ${this.colour}`)
    },
    verbs: [verb('a', {})],
  }
  const expanded = withVerbs(declaration as unknown as ControllerDeclaration)
  await expanded.reconcile?.({} as never, {} as never)
  const [step] = expanded.cleanup as unknown as { cleanup: (...given: unknown[]) => unknown }[]
  await step?.cleanup({}, {})
  expect(seen).toEqual(['reconcile red', 'cleanup red'])
  expect(expanded.reconcileKey).toBeUndefined()
})

test('withVerbs cleans up for the author first, then for the verbs, the last one first', () => {
  const step = (finalizer: string): { finalizer: string; cleanup: () => undefined } => ({
    finalizer,
    cleanup: () => undefined,
  })
  const expanded = withVerbs({
    for: Thing,
    cleanup: () => undefined,
    verbs: [verb('a', { cleanup: [step('x.dev/a')] }), verb('b', { cleanup: [step('x.dev/b')] })],
  })
  expect((expanded.cleanup as unknown as { finalizer: string }[]).map(({ finalizer }) => finalizer)).toEqual([
    'demo.example.com/thing',
    'x.dev/b',
    'x.dev/a',
  ])
})
