import { expect, test } from 'vitest'
import { declareKind } from '#api'
import { ChildServer, site } from './children.fixture.ts'
import { revisions } from './children.ts'

const ConfigMap = declareKind({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false })

test.each([-1, 1.5, NaN])('revisions refuses keep %d', (keep) => {
  expect(() => revisions(ConfigMap, { keep })).toThrow(`keep must be a whole number of 0 or more, got ${keep}`)
})

test('revisions accepts to keep none, is named after its series, and owns its kind', () => {
  const verb = revisions(ConfigMap, { keep: 0 })
  expect([verb.name, verb.adds?.({} as never)]).toEqual(['revisions configmap', { owns: [ConfigMap] }])
  expect(revisions(ConfigMap, { name: 'pages' }).name).toBe('revisions pages')
})

test('revisions keeps the two newest old ones by default', async () => {
  const configs = revisions(ConfigMap)
  const server = new ChildServer({ owns: [ConfigMap] })
  for (const text of ['1', '2', '3', '4'])
    await server.run((_, base) =>
      configs.apply(base, { metadata: { annotations: { text } } }).then(({ metadata: { name = '' } }) => {
        const made = server.find(ConfigMap, { name, namespace: 'a' })
        if (made) Object.assign(made.metadata, { creationTimestamp: `2026-01-0${text}T00:00:00Z` })
      }),
    )
  const left = [...server.objects.values()].map(({ metadata }) => metadata.annotations?.['text'])
  expect(left.sort()).toEqual(['2', '3', '4'])
})

test('the name of a revision is cut to 253 characters before its digest', async () => {
  const configs = revisions(ConfigMap, { name: 'pages' })
  const nameFor = async (name: string): Promise<string> => {
    const server = new ChildServer({ owns: [ConfigMap] })
    await server.run((_, base) => configs.apply(base, {}), site({ name }))
    return server.applied[0] ?? ''
  }
  expect(await nameFor('shop')).toMatch(/^shop-pages-[0-9a-f]{10}$/)
  const long = await nameFor('x'.repeat(253))
  expect([long.length, long.slice(0, 243)]).toEqual([253, `${'x'.repeat(242)}-`])
})
