/** Applications as modules, and parts of an application. */
import { describe, expect, expectTypeOf, test } from 'vitest'
import { defineApp, type ProcessInput, type WorkloadReference } from './define-app.ts'
import { providersAmong, selectWorkloads } from './selection.ts'

const shop = defineApp(({ process, task, service, container, object }) => {
  const cache = container('cache', { image: 'redis', ports: [{ name: 'redis', containerPort: 6379 }] })
  const db = process('db', { command: ['postgres'], ports: [{ name: 'sql', env: 'PGPORT' }] })
  const database = service('database', { target: db, targetPort: 'sql', port: 5432 })
  const migrate = task('migrate', { command: ['migrate'], dependsOn: [db], retries: 2 })
  task('nightly', { command: ['clean'], schedule: '0 2 * * *' })
  process('api', {
    command: ['node', 'api.js'],
    dependsOn: [database, migrate, cache.started],
    env: { DATABASE_URL: database.url, DEBUG: true, WORKERS: 2 },
    labels: { tier: 'back' },
    replicas: 2,
  })
  object({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' } })
})

const named = (name: string) => shop.objects.find(({ metadata }) => metadata.name === name)

describe('defineApp', () => {
  test('makes the objects that a file could describe', () => {
    expect(shop.objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'Container cache',
      'Process db',
      'Service database',
      'Task migrate',
      'Schedule nightly',
      'ProcessSet api',
      'ConfigMap settings',
    ])
    expect(named('migrate')?.spec).toEqual({
      retries: 2,
      template: { spec: { command: ['migrate'], dependsOn: [{ kind: 'Process', name: 'db', until: 'Ready' }] } },
    })
    expect(named('api')).toMatchObject({
      metadata: { labels: { tier: 'back' } },
      spec: {
        replicas: 2,
        template: {
          spec: {
            env: [
              { name: 'DATABASE_URL', valueFrom: { service: { name: 'database', field: 'url' } } },
              { name: 'DEBUG', value: 'true' },
              { name: 'WORKERS', value: '2' },
            ],
            dependsOn: [
              { kind: 'Service', name: 'database', until: 'Ready' },
              { kind: 'Task', name: 'migrate', until: 'Completed' },
              { kind: 'Container', name: 'cache', until: 'Started' },
            ],
          },
        },
      },
    })
  })

  test('a service finds its process by a label', () => {
    expect(named('database')?.spec).toEqual({
      selector: { matchLabels: { 'app.kubernetes.io/name': 'db' } },
      targetPort: 'sql',
      port: 5432,
    })
    expect(named('db')?.metadata.labels).toEqual({ 'app.kubernetes.io/name': 'db' })
  })

  test('the address of a service of a port named http has that scheme, unless it is given', () => {
    const { objects } = defineApp(({ process, service }) => {
      const web = process('web', { command: ['web'], ports: [{ name: 'http' }, { name: 'rpc' }] })
      service('web', { target: web, targetPort: 'http' })
      service('grpc', { target: web, targetPort: 'http', appProtocol: 'grpc' })
      service('rpc', { target: web, targetPort: 'rpc' })
    })
    const schemes = objects.flatMap(({ kind, spec }) => (kind === 'Service' ? [spec?.['appProtocol']] : []))
    expect(schemes).toEqual(['http', 'grpc', undefined])
  })

  test('a name that is there twice is a mistake', () => {
    expect(() =>
      defineApp(({ process }) => {
        process('web', { command: ['a'] })
        process('web', { command: ['b'] })
      }),
    ).toThrow('Process web is there twice: rename one')
  })

  test('a mistake in a field is one for the compiler', () => {
    expectTypeOf<{ command: string[]; restart: { policy: 'Sometimes' } }>().not.toExtend<ProcessInput>()
    expectTypeOf<{ command: string[]; dependsOn: string[] }>().not.toExtend<ProcessInput>()
    expectTypeOf<{ command: string[]; dependsOn: WorkloadReference[] }>().toExtend<ProcessInput>()
  })
})

describe('a part of an application', () => {
  const objects = shop.objects.map((object) => ({ object }))
  const select = (...names: string[]) => {
    const { objects: chosen, unknown } = selectWorkloads(objects, names)
    return [chosen.map(({ object }) => object.metadata.name), unknown]
  }

  test('is the named workloads and what they depend on, also behind a service, and objects of other kinds', () => {
    expect(select('migrate')).toEqual([['db', 'migrate', 'settings'], []])
    expect(select('api')).toEqual([['cache', 'db', 'database', 'migrate', 'api', 'settings'], []])
    const { objects: variables } = defineApp(({ process, service }) => {
      const db = process('db', { command: ['a'], ports: [{ name: 'sql' }] })
      const env = { URL: service('database', { target: db, targetPort: 'sql' }).url }
      process('api', { command: ['b'], env })
      process('apis', { command: ['b'], env, replicas: 2 })
    })
    const wired = variables.map((object) => ({ object }))
    for (const name of ['api', 'apis'])
      expect(selectWorkloads(wired, [name]).objects.map(({ object }) => object.metadata.name)).toEqual([
        'db',
        'database',
        name,
      ])
    expect(select('nightly', 'web')).toEqual([['nightly', 'settings'], ['web']])
  })

  const apiVersion = 'workloads.evenkeel.dev/v1'
  const part = (kind: string, name: string, spec: object) => ({
    object: { apiVersion, kind, metadata: { name, labels: { app: name } }, spec: { ...spec } },
  })
  const env = [{ name: 'URL', valueFrom: { service: { name: 'data' } } }]
  const wired = [
    part('Process', 'other', { command: ['a'] }),
    part('Process', 'db', { command: ['a'], dependsOn: [{ name: 'disk' }] }),
    part('Process', 'disk', { command: ['a'] }),
    part('Service', 'data', { selector: { matchLabels: { app: 'db' } } }),
    part('Endpoint', 'elsewhere', { service: 'data', address: '10.0.0.7', port: 5432 }),
    part('Endpoint', 'another', { service: 'other', port: 80 }),
    part('Container', 'box', { image: 'a', env }),
    part('Task', 'job', { template: { spec: { command: ['a'], env } } }),
    part('Schedule', 'nightly', { template: { spec: { template: { spec: { command: ['a'], env } } } } }),
  ]
  const namesOf = (chosen: readonly { readonly object: { readonly metadata: { readonly name: string } } }[]) =>
    chosen.map(({ object }) => object.metadata.name)

  test.each(['box', 'job', 'nightly'])(
    'has the Service whose address is in a variable of %s, and all that is behind it, also Endpoints',
    (name) => {
      expect(namesOf(selectWorkloads(wired, [name]).objects)).toEqual(['db', 'disk', 'data', 'elsewhere', name])
    },
  )

  test('providers of an object are what it refers to and what is behind a Service; a Service has none', () => {
    const providers = (name: string) =>
      wired.flatMap(({ object }) => (object.metadata.name === name ? namesOf(providersAmong(object, wired)) : []))
    expect(providers('job')).toEqual(['data', 'db', 'elsewhere'])
    expect(providers('db')).toEqual(['disk'])
    expect(providers('data')).toEqual([])
  })
})
