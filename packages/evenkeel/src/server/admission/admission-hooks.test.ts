import { afterEach, describe, expect, test } from 'vitest'
import { ApiError, fieldError, FieldPath, type KubeObject } from '#api'
import { TestServer } from '../client.fixture.ts'
import type { AdmissionHook, AdmissionHookRequest } from './admission-hooks.ts'

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

const path = '/api/v1/namespaces/default/configmaps'
const configMaps = [{ resources: ['configmaps'] }]
let tested: TestServer

async function start(...hooks: readonly AdmissionHook<ConfigMap>[]): Promise<void> {
  tested = await TestServer.start({ admission: { hooks: hooks } })
}

const create = (name: string, rest: object = {}, query = ''): ReturnType<TestServer['ask']> =>
  tested.ask('POST', path + query, { body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...rest } })

afterEach(() => tested.server.stop())

describe('a hook of the embedder', () => {
  test('is shown frozen objects, and what is asked', async () => {
    const seen: [string, AdmissionHookRequest<ConfigMap>][] = []
    await start({
      name: 'spy',
      rules: configMaps,
      mutate(object, { request }) {
        expect(Object.isFrozen(object) && Object.isFrozen(object.metadata)).toBe(true)
        seen.push(['mutate', request])
        return undefined
      },
      validate(object, { request, oldObject }) {
        expect(Object.isFrozen(object)).toBe(true)
        expect(oldObject).toBe(request.oldObject)
        seen.push(['validate', request])
        return undefined
      },
    })
    await create('a', { data: { n: '1' } }, '?fieldManager=me')
    await tested.ask('PATCH', `${path}/a?dryRun=All`, {
      body: { data: { n: '2' } },
      type: 'application/merge-patch+json',
    })
    await tested.ask('DELETE', `${path}/a`)
    await tested.ask('POST', '/api/v1/namespaces/default/secrets', { body: { metadata: { name: 's' } } })
    expect(
      seen.map(([round, { operation, object, oldObject, dryRun }]) => [
        round,
        operation,
        object?.data?.['n'],
        oldObject?.data?.['n'],
        dryRun,
      ]),
    ).toEqual([
      ['mutate', 'CREATE', '1', undefined, false],
      ['validate', 'CREATE', '1', undefined, false],
      ['mutate', 'UPDATE', '2', '1', true],
      ['validate', 'UPDATE', '2', '1', true],
      ['validate', 'DELETE', undefined, '1', false],
    ])
    expect(seen[0]?.[1]).toMatchObject({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'a',
      namespace: 'default',
      user: { username: 'evenkeel-admin', extra: {} },
      options: { kind: 'CreateOptions', fieldManager: 'me' },
    })
  })

  test('sees a binding of a pod once, as a create', async () => {
    const seen: string[] = []
    await start({
      name: 'spy',
      rules: [{ resources: ['pods/binding'] }],
      validate(_object, { request: { operation } }) {
        seen.push(operation)
        return undefined
      },
    })
    const pods = '/api/v1/namespaces/default/pods'
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    expect((await tested.ask('POST', pods, { body: { metadata: { name: 'p' }, spec } })).status).toBe(201)
    const body = { metadata: { name: 'p' }, target: { name: 'node' } }
    expect((await tested.ask('POST', `${pods}/p/binding`, { body })).status).toBe(201)
    expect(seen).toEqual(['CREATE'])
  })

  test('gives the object as it should be, or the steps that lead there; the next one sees that', async () => {
    await start(
      {
        name: 'whole',
        rules: configMaps,
        mutate: (object) => ({ ...object, data: { ...object.data, whole: 'yes' }, unknown: 1 }),
      },
      { name: 'steps', rules: configMaps, mutate: () => [{ op: 'add', path: '/data/steps', value: 'yes' }] },
      { name: 'nothing', rules: configMaps, mutate: (object) => object },
    )
    const { json } = await create('a')
    expect(json['data']).toEqual({ whole: 'yes', steps: 'yes' })
    expect(json).not.toHaveProperty('unknown')
  })

  test('refuses with its own error, or with what is wrong with a field; anything else is a mistake of its own', async () => {
    await start({
      name: 'judge',
      rules: [
        {
          operations: ['CREATE'],
          apiGroups: [''],
          apiVersions: ['v1'],
          resources: ['configmaps'],
          scope: 'Namespaced',
        },
      ],
      validate({ metadata: { name } }, { warn }) {
        warn('be careful')
        if (name === 'forbidden') throw new ApiError('Forbidden', 'not that one')
        if (name === 'broken') throw new TypeError('oops')
        return name === 'invalid' ? [fieldError.required(FieldPath.of('data', 'x'))] : []
      },
    })
    expect((await create('fine')).headers['warning']).toBe('299 - "be careful"')
    expect((await create('forbidden')).json).toMatchObject({ code: 403, message: 'not that one' })
    expect((await create('invalid')).json).toMatchObject({
      code: 422,
      message: 'ConfigMap "invalid" is invalid: data.x: Required value',
    })
    expect((await create('broken')).json).toMatchObject({
      code: 500,
      message: 'Internal error occurred: admission hook "judge" failed: oops',
    })
    expect((await tested.ask('GET', `${path}/broken`)).status).toBe(404)
  })

  test('that changes an object into none has failed', async () => {
    await start({
      name: 'spoiler',
      rules: configMaps,
      mutate: (object) => ({ ...object, data: 'text' }) as unknown as ConfigMap,
    })
    expect((await create('a')).status).toBe(500)
  })

  test('row 12: sees the object that is truly replaced, also after a lost race', async () => {
    const seen: unknown[] = []
    let isFirst = true
    await start({
      name: 'slow',
      rules: [{ operations: ['UPDATE'], resources: ['configmaps'] }],
      async validate(object, { oldObject }) {
        seen.push([oldObject?.data?.['n'], object.data?.['n']])
        if (!isFirst) return []
        isFirst = false
        // Somebody else is faster.
        await tested.ask('PATCH', `${path}/a`, {
          body: { data: { n: '2', other: 'x' } },
          type: 'application/merge-patch+json',
        })
        return []
      },
    })
    await create('a', { data: { n: '1' } })
    const { json } = await tested.ask('PATCH', `${path}/a`, {
      body: { data: { n: '3' } },
      type: 'application/merge-patch+json',
    })
    expect(json['data']).toEqual({ n: '3', other: 'x' })
    expect(seen).toEqual([
      ['1', '3'],
      ['1', '2'],
      ['2', '3'],
    ])
  })

  test('is asked about everything but what the server itself writes', async () => {
    const seen: string[] = []
    await start({
      name: 'all',
      validate(_, { request: { kind, subresource } }) {
        seen.push(subresource === undefined ? kind : `${kind}/${subresource}`)
        return undefined
      },
    })
    expect(seen).toEqual([])
    await tested.ask('POST', '/api/v1/namespaces', { body: { metadata: { name: 'n' } } })
    await tested.ask('POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
      body: { metadata: { name: 'w' } },
    })
    await tested.ask('PATCH', '/api/v1/namespaces/n/status', {
      body: { status: {} },
      type: 'application/merge-patch+json',
    })
    expect(seen).toEqual(['Namespace', 'ValidatingWebhookConfiguration', 'Namespace/status'])
  })

  test('has selectors', async () => {
    const seen: (string | undefined)[] = []
    await start({
      name: 'some',
      rules: configMaps,
      objectSelector: { matchLabels: { a: 'b' } },
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } },
      validate: ({ metadata: { name } }) => {
        seen.push(name)
        return []
      },
    })
    await create('a')
    await create('b', { metadata: { name: 'b', labels: { a: 'b' } } })
    await tested.ask('POST', '/api/v1/namespaces/kube-system/configmaps', {
      body: { metadata: { name: 'c', labels: { a: 'b' } } },
    })
    expect(seen).toEqual(['b'])
  })
})
