import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { packDefinitions, prefixes, shortName } from './definitions.ts'
import { packRecords } from './records.ts'
import { render } from './render.ts'
import { readPublished, type Published, type PublishedResource } from './source.ts'

const folder = mkdtempSync(join(tmpdir(), 'evenkeel-generate-'))
afterAll(() => rmSync(folder, { recursive: true }))

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']
const hashOf = (name: string) => createHash('sha256').update(name).digest().subarray(0, 8).toString('base64')
const event = (more: Partial<PublishedResource> = {}): PublishedResource => ({
  name: 'events',
  singularName: 'event',
  namespaced: true,
  kind: 'Event',
  verbs,
  ...more,
})

function published(versions: Published['versions']): Published {
  const names = ['core.v1.Event', 'events.v1.Event', 'core.v1.Binding'].map(
    (name) => [`io.k8s.api.${name}`, {}] as const,
  )
  return { versions, schemas: new Map(names) }
}

test('packRecords finds shared storage by the hash of the stored version', () => {
  const storageVersionHash = hashOf('/v1/Event')
  const [core, group] = packRecords(
    published([
      { group: '', version: 'v1', resources: [event({ storageVersionHash })] },
      { group: 'events.k8s.io', version: 'v1', resources: [event({ storageVersionHash })] },
    ]),
  )
  expect(core?.resources[0]).toEqual({ kind: 'Event', plural: 'events', singular: 'event', namespaced: true })
  expect(group?.resources[0]).toMatchObject({ storage: ['', 'v1', 'Event', 'events'] })
})

test('packRecords marks a resource without a hash as not stored and keeps fewer verbs', () => {
  const [core] = packRecords(
    published([
      {
        group: '',
        version: 'v1',
        resources: [
          event({ name: 'bindings', singularName: 'binding', kind: 'Binding', verbs: ['create'], namespaced: false }),
        ],
      },
    ]),
  )
  expect(core?.resources).toEqual([
    { kind: 'Binding', plural: 'bindings', singular: 'binding', verbs: 'create', virtual: true },
  ])
})

test('packRecords nests subresources in their resource, with their kind if it differs', () => {
  const storageVersionHash = hashOf('/v1/Event')
  const [core] = packRecords(
    published([
      {
        group: '',
        version: 'v1',
        resources: [
          event({ storageVersionHash }),
          event({ name: 'events/status', verbs: ['get'] }),
          event({ name: 'events/log', kind: 'LogOptions', verbs: ['get'] }),
          event({ name: 'events/scale', kind: 'Scale', group: 'autoscaling', version: 'v1', verbs: ['get', 'update'] }),
        ],
      },
    ]),
  )
  expect(core?.resources[0]?.subresources).toEqual([
    ['status', 'get'],
    ['log', 'get', 'LogOptions'],
    ['scale', 'get update', 'Scale', 'autoscaling', 'v1'],
  ])
})

test('packRecords rejects a kind whose schema the server would not find', () => {
  expect(() => packRecords(published([{ group: '', version: 'v1', resources: [event({ kind: 'Other' })] }]))).toThrow(
    'no definition core.v1.Other',
  )
})

test('shortName has a short form for every known prefix and no other', () => {
  expect(shortName('io.k8s.api.core.v1.Pod')).toBe('core.v1.Pod')
  for (const [word, prefix] of Object.entries(prefixes)) expect(shortName(`${prefix}.v1.A`)).toBe(`${word}.v1.A`)
  expect(() => shortName('com.example.v1.A')).toThrow(RangeError)
})

test('packDefinitions drops descriptions, shortens references and keeps properties of any name', () => {
  const [[name, text] = []] = packDefinitions(
    new Map([
      [
        'io.k8s.api.core.v1.A',
        {
          description: 'prose',
          type: 'object',
          properties: {
            description: { description: 'prose', type: 'string' },
            b: { allOf: [{ $ref: '#/components/schemas/io.k8s.api.core.v1.B' }] },
          },
        },
      ],
    ]),
  )
  expect(name).toBe('core.v1')
  expect(JSON.parse(text ?? '')).toEqual({
    A: { type: 'object', properties: { description: { type: 'string' }, b: { allOf: [{ $ref: 'core.v1.B' }] } } },
  })
})

test('packDefinitions does not assign shared kinds to versions', () => {
  const kinds = [{ group: '', version: 'v1', kind: 'DeleteOptions' }]
  const packed = packDefinitions(
    new Map([
      [
        'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions',
        { type: 'object', 'x-kubernetes-group-version-kind': kinds },
      ],
    ]),
  )
  expect(packed.get('meta.v1')).toBe('{"DeleteOptions":{"type":"object"}}')
})

test('readPublished and render use only stable versions', () => {
  const write = (path: string, content: unknown) => writeFileSync(join(folder, path), JSON.stringify(content))
  for (const name of ['discovery', 'openapi-v3']) mkdirSync(join(folder, name))
  write('discovery/apis.json', {
    groups: [{ name: 'events.k8s.io', versions: [{ version: 'v1' }, { version: 'v1beta1' }] }],
  })
  write('discovery/api__v1.json', { resources: [] })
  write('discovery/apis__events.k8s.io__v1.json', { resources: [event()] })
  write('openapi-v3/apis__events.k8s.io__v1_openapi.json', {
    components: { schemas: { 'io.k8s.api.events.v1.Event': { type: 'object', pattern: "it's \\d" } } },
  })
  write('openapi-v3/apis__events.k8s.io__v1beta1_openapi.json', {
    components: { schemas: { 'io.k8s.api.events.v1beta1.Event': {} } },
  })

  const files = render(readPublished(folder))
  expect([...files.keys()]).toEqual(['definitions.ts', 'records.ts'])
  expect(files.get('records.ts')).toContain('"group":"events.k8s.io","version":"v1"')
  expect(files.get('definitions.ts')).not.toContain('v1beta1')
  expect(files.get('definitions.ts')).toContain(String.raw`'{"Event":{"type":"object","pattern":"it\'s \\\\d"}}'`)
})
