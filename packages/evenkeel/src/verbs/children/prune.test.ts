import { describe, expect, test } from 'vitest'
import { declareKind, forbidden, notFound } from '#api'
import { ChildServer } from './children.fixture.ts'

const ConfigMap = declareKind({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false })

/** A server where an earlier run has applied two children. */
async function withTwo(): Promise<ChildServer> {
  const server = new ChildServer({ owns: [ConfigMap] })
  await server.run(async (children) => {
    for (const name of ['one', 'two']) await children.apply(ConfigMap, { metadata: { name } })
  })
  return server
}

describe('the end of a run', () => {
  test('deletes the children that it has not applied, and reports the others', async () => {
    const server = await withTwo()
    await server.run((children) => children.apply(ConfigMap, { metadata: { name: 'two' } }))
    expect(server.deleted.map(({ name }) => name)).toEqual(['one'])
    expect(server.status.children?.map(({ name }) => name)).toEqual(['two'])
  })

  test('goes on when a child is gone already, and fails when it may not be deleted', async () => {
    const server = await withTwo()
    const subject = { group: '', kind: 'ConfigMap', name: 'one' }
    server.before = (what) => {
      if (what === 'delete one') throw notFound(subject)
    }
    await server.run((children) => {
      children.none()
    })
    expect(server.deleted.map(({ name }) => name)).toEqual(['two'])
    server.before = (what) => {
      if (what === 'delete one') throw forbidden(subject, 'no')
    }
    await expect(
      server.run((children) => {
        children.none()
      }),
    ).rejects.toThrow('is forbidden')
  })
})
