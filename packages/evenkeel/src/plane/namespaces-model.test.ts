import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Kind } from '#api'
import { ConfigMap, namespaceWorld, Pod, type NamespaceWorld } from './namespaces.fixture.ts'
import { Note } from './world.fixture.ts'

const kinds: Readonly<Record<string, Kind>> = {
  'configmaps.': ConfigMap as Kind,
  'notes.test.dev': Note as unknown as Kind,
  'pods.': Pod as unknown as Kind,
}
const bodies: Readonly<Record<string, object>> = {
  'configmaps.': {},
  'notes.test.dev': { spec: { text: 'x' } },
  'pods.': { spec: { containers: [{ name: 'a', image: 'a' }] } },
}

interface Thing {
  readonly kind: string
  readonly finalizers: readonly string[]
}

const thing: fc.Arbitrary<Thing> = fc.record({
  kind: fc.constantFrom(...Object.keys(kinds)),
  finalizers: fc.subarray(['x.dev/a', 'x.dev/b']),
})

/** What the conditions must say of the things that are left: nothing but pods goes, or is named, while there are any. */
function expectedMessages(left: readonly Thing[]): { resources: string[]; finalizers: string[] } {
  const counted = left.some(({ kind }) => kind === 'pods.') ? left.filter(({ kind }) => kind === 'pods.') : left
  const count = (values: readonly string[], words: string): string[] =>
    [...new Set(values)]
      .sort()
      .map((value) => `${value}${words.replace('N', String(values.filter((one) => one === value).length))}`)
  return {
    resources: count(
      counted.map(({ kind }) => kind),
      ' has N resource instances',
    ),
    finalizers: count(
      counted.flatMap(({ finalizers }) => finalizers),
      ' in N resource instances',
    ),
  }
}

async function fill({ world }: NamespaceWorld, things: readonly Thing[]): Promise<void> {
  for (const [index, { kind, finalizers }] of things.entries()) {
    await world.client.create(
      kinds[kind] as Kind,
      { metadata: { name: `thing-${index}`, namespace: 'shop', finalizers }, ...bodies[kind] } as never,
    )
  }
}

async function isExplained(it: NamespaceWorld, left: readonly Thing[]): Promise<boolean> {
  const { resources, finalizers } = expectedMessages(left)
  const said = await Promise.all(
    ['NamespaceContentRemaining', 'NamespaceFinalizersRemaining'].map((type) => it.condition('shop', type)),
  )
  return (
    said[0]?.message === `Some resources are remaining: ${resources.join(', ')}` &&
    said[1]?.message === `Some content in the namespace has finalizers remaining: ${finalizers.join(', ')}`
  )
}

test('namespaceController: whatever is in a namespace, it goes when nothing holds it, and until then says exactly what is left', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(thing, { maxLength: 6 }), async (things) => {
      await using it = await namespaceWorld()
      await it.create('shop')
      await fill(it, things)
      await it.remove('shop')
      const held = things.flatMap((one, index) =>
        one.finalizers.length > 0 ? [{ ...one, name: `thing-${index}` }] : [],
      )
      for (let left = held; left.length > 0; left = left.slice(1)) {
        await it.world.until(() => isExplained(it, left), { stepMs: 100 })
        const { kind, name } = left[0] as (typeof held)[number]
        const { apiVersion, kind: word } = kinds[kind] as Kind
        await it.world.client.patch(
          { apiVersion, kind: word, metadata: { name, namespace: 'shop' } },
          { metadata: { finalizers: null } },
        )
      }
      await it.world.until(() => it.isGone('shop'), { stepMs: 100 })
      for (const kind of Object.values(kinds))
        expect((await it.world.client.list(kind, { namespace: 'shop' })).items).toEqual([])
    }),
    { numRuns: 12 },
  )
})
