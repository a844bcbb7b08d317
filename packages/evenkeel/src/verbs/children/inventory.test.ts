import { describe, expect, test } from 'vitest'
import { declareKind, type Owner } from '#api'
import type { ControllerDeclaration } from '#controller'
import { ChildServer, Site, site } from './children.fixture.ts'
import { inventoryOf, inventoryStep } from './inventory.ts'

const ConfigMap = declareKind({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false })
const key = { name: 'shop', namespace: 'a' }

/** The inventory of the parent after a run with a child in each of these namespaces. */
async function listedAfter(server: ChildServer, namespaces: readonly string[]): Promise<readonly string[]> {
  const parent = (server.find(Site, key) ?? server.put(site())) as Owner
  await server.run(async (children) => {
    for (const namespace of namespaces) await children.apply(ConfigMap, { metadata: { namespace } })
  }, parent)
  const after = server.find(Site, key) as Owner
  expect(after.metadata.finalizers).toEqual(['children.evenkeel.dev/site'])
  return inventoryOf(after, 'site').map(({ namespace }) => namespace)
}

describe('the inventory', () => {
  test('lists every child elsewhere before it is created, in order', async () => {
    const server = new ChildServer({ owns: [{ kind: ConfigMap, elsewhere: true } as never] })
    expect(await listedAfter(server, ['c'])).toEqual(['c'])
    expect(await listedAfter(server, ['d', 'c', 'b'])).toEqual(['b', 'c', 'd'])
  })

  test('is not written when it lists all children already', async () => {
    const server = new ChildServer({ owns: [{ kind: ConfigMap, elsewhere: true } as never] })
    await listedAfter(server, ['b'])
    const before = server.find(Site, key)
    await listedAfter(server, ['b'])
    expect(server.find(Site, key)).toBe(before)
  })

  test('needs a cleanup only in controllers with children elsewhere', () => {
    const stepsOf = (...owns: readonly object[]): readonly string[] =>
      inventoryStep({ for: Site, owns } as unknown as ControllerDeclaration, 'site').map(({ finalizer }) => finalizer)
    expect(stepsOf({ kind: ConfigMap, elsewhere: true })).toEqual(['children.evenkeel.dev/site'])
    expect(stepsOf(ConfigMap, { kind: ConfigMap }, { kind: ConfigMap, elsewhere: false })).toEqual([])
  })
})
