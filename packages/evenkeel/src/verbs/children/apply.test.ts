import { describe, expect, test } from 'vitest'
import { declareKind, invalid, type KubeObject } from '#api'
import { ChildServer, site } from './children.fixture.ts'
import { appliedAnnotation, ownerAnnotation } from './ownership-labels.ts'

const ConfigMap = declareKind({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false })
const key = { name: 'shop', namespace: 'a' }

const configMap = (metadata: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ...key, ...metadata },
})

describe('children.apply', () => {
  test('adopts an object without an owner, but not one that another parent elsewhere has applied', async () => {
    const server = new ChildServer({ owns: [ConfigMap] })
    server.put(configMap({ annotations: { [appliedAnnotation]: 'other/1/0123' } }))
    await server.run((children) => children.apply(ConfigMap, {}, { adopt: 'ifOrphan' }))
    expect(server.applied).toEqual(['shop'])
    server.put(
      configMap({
        annotations: { [appliedAnnotation]: 'other/1/0123', [ownerAnnotation]: 'Site.demo.example.com/b/shop' },
      }),
    )
    await expect(server.run((children) => children.apply(ConfigMap, {}, { adopt: 'ifOrphan' }))).rejects.toThrow(
      'ConfigMap shop exists and belongs to Site.demo.example.com/b/shop',
    )
    expect(server.applied).toEqual(['shop'])
  })

  test('applies again for a parent whose server counts no generations', async () => {
    const server = new ChildServer({ owns: [ConfigMap] })
    const parent = site({ generation: undefined })
    for (const text of ['1', '2', '2'])
      await server.run((children) => children.apply(ConfigMap, { data: { text } } as never), parent)
    expect(server.applied).toEqual(['shop', 'shop'])
    expect(server.find(ConfigMap, key)).toMatchObject({ data: { text: '2' } })
  })

  test('recreates exactly the object that could not be changed', async () => {
    const server = new ChildServer({ owns: [ConfigMap] })
    await server.run((children) => children.apply(ConfigMap, {}))
    const { uid, resourceVersion } = server.find(ConfigMap, key)?.metadata ?? {}
    server.before = (what) => {
      if (what.startsWith('apply')) throw immutable()
    }
    const changed = { data: { text: '2' } } as never
    await expect(
      server.run((children) => children.apply(ConfigMap, changed, { recreate: 'onImmutable' })),
    ).rejects.toThrow('has an immutable field that must change')
    expect(server.deleted).toEqual([{ name: 'shop', preconditions: { uid, resourceVersion } }])
  })
})

function immutable(): Error {
  const error = invalid({ group: '', kind: 'ConfigMap', name: 'shop' }, [])
  error.message = 'data: field is immutable'
  return error
}
