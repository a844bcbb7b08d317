import { describe, expect, test } from 'vitest'
import { declareKind, staleVersion } from '#api'
import { ChildServer, site } from './children.fixture.ts'

const ConfigMap = declareKind({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false })
const Secret = declareKind({ group: '', version: 'v1', kind: 'Secret', statusSubresource: false })

describe('a run with children', () => {
  test('does not delete a child whose apply failed, and is not ready', async () => {
    const server = new ChildServer({ owns: [ConfigMap] })
    await server.run((children) => children.apply(ConfigMap, {}))
    server.before = () => {
      throw staleVersion({ group: '', kind: 'ConfigMap', name: 'shop' })
    }
    const ready: boolean[] = []
    await server.run(async (children) => {
      await children.apply(ConfigMap, { data: { text: '2' } } as never).catch(() => undefined)
      ready.push(children.ready())
    })
    expect([ready, server.deleted]).toEqual([[false], []])
  })

  test('is refused a child elsewhere by owns without elsewhere', async () => {
    for (const owned of [ConfigMap, { kind: ConfigMap }, { kind: ConfigMap, elsewhere: false }]) {
      const server = new ChildServer({ owns: [owned as never] })
      await expect(
        server.run((children) => children.apply(ConfigMap, { metadata: { namespace: 'b' } })),
      ).rejects.toThrow('declare it with owns: [{ kind: ConfigMap, elsewhere: true }]')
    }
  })

  test('says what an apply needs when it gets the name of a kind', async () => {
    const server = new ChildServer()
    await expect(server.run((children) => children.apply('ConfigMap' as never))).rejects.toThrow(
      'a child of Site shop needs apiVersion and kind',
    )
  })

  test('keeps the row of an earlier child until the cache can say that it is gone', async () => {
    const row = { apiVersion: 'v1', group: '', kind: 'Secret', namespace: 'a', name: 'old', state: 'Ready' }
    const server = new ChildServer()
    const none = (): Promise<void> =>
      server.run(
        (children) => {
          children.none()
        },
        site({}, { children: [row] }),
      )
    server.unsynced.add('Secret')
    await none()
    expect(server.status.children).toMatchObject([row])
    expect([...server.sources.keys()]).toEqual(['children Secret'])
    server.unsynced.clear()
    await none()
    expect(server.status.children).toEqual([])
    expect([...server.sources.keys()]).toEqual([])
  })

  test('watches each undeclared kind of its children until the parent is gone', async () => {
    const server = new ChildServer()
    await server.run(async (children) => {
      await children.apply(ConfigMap, {})
      await children.apply(Secret, {})
    })
    expect([...server.sources.keys()]).toEqual(['children ConfigMap', 'children Secret'])
    await server.runAbsent(site({ name: 'other' }))
    expect(server.sources.size).toBe(2)
    await server.runAbsent()
    expect(server.sources.size).toBe(0)
  })
})
